package kb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"vksmedic/model/text"
)

// maxSize is how large the file of an article may be, in bytes.
const maxSize = 64 << 10

// lineProblem is a problem in a file whose name the caller knows.
type lineProblem struct {
	line int
	text string
}

// readYAML reads the one document of a file as nodes. What is wrong with the bytes, or makes
// nodes useless (anchors, tags), is a problem; then the node is nil.
func readYAML(data []byte) (*yaml.Node, []lineProblem) {
	if p := checkBytes(data); p != nil {
		return nil, p
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF) || (err == nil && isNothing(&doc)):
		return nil, []lineProblem{{1, "the file is empty; expected the fields of an article"}}
	case err != nil:
		return nil, []lineProblem{yamlProblem(data, err)}
	}
	var next yaml.Node
	switch err := dec.Decode(&next); {
	case err == nil:
		return nil, []lineProblem{{secondDocument(data, &next), "a second document; expected one article in a file"}}
	case !errors.Is(err, io.EOF):
		return nil, []lineProblem{yamlProblem(data, err)}
	}
	if p := checkNode(&doc); len(p) > 0 {
		return nil, p
	}
	return doc.Content[0], nil
}

func isNothing(doc *yaml.Node) bool {
	return len(doc.Content) == 0 || (doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null")
}

func checkBytes(data []byte) []lineProblem {
	if len(data) > maxSize {
		return []lineProblem{{1, fmt.Sprintf("the file has %d bytes; expected at most %d", len(data), maxSize)}}
	}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSuffix(line, "\r")
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		plain := strings.ReplaceAll(line, "\t", " ")
		if i == 0 {
			plain = strings.TrimPrefix(plain, "\ufeff")
		}
		switch {
		case !utf8.ValidString(line):
			return []lineProblem{{i + 1, "bytes that are no text; expected UTF-8"}}
		case strings.Contains(indent, "\t"):
			return []lineProblem{{i + 1, "a tab at the beginning of the line; expected spaces"}}
		case text.Clean(plain) != plain:
			return []lineProblem{{i + 1, "invisible or control characters; expected text that is shown as it is"}}
		}
	}
	return nil
}

// checkNode refuses what an article has no need of and a reader could miss: a value that
// stands elsewhere, and types that are given by hand.
func checkNode(n *yaml.Node) []lineProblem {
	switch {
	case n.Kind == yaml.AliasNode:
		return []lineProblem{{n.Line, fmt.Sprintf("alias *%s; expected the value itself", n.Value)}}
	case n.Anchor != "":
		return []lineProblem{{n.Line, fmt.Sprintf("anchor &%s; expected the value without it", n.Anchor)}}
	case n.Style&yaml.TaggedStyle != 0:
		return []lineProblem{{n.Line, fmt.Sprintf("tag %s; expected the value without it", n.Tag)}}
	}
	var out []lineProblem
	for _, c := range n.Content {
		out = append(out, checkNode(c)...)
	}
	return out
}

// secondDocument is the line on which a second document begins.
func secondDocument(data []byte, next *yaml.Node) int {
	seen := false
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimRight(line, " \r")
		if seen && (line == "---" || strings.HasPrefix(line, "--- ")) {
			return i + 1
		}
		if line != "" && line[0] != '#' && line != "---" {
			seen = true
		}
	}
	return max(next.Line, 1)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// yamlProblem says where the library could not read on. For what its parser refuses (in
// contrast to its scanner) it names the beginning of the block, or no line at all; the line
// on which it stumbled is then the first after which nothing helps.
func yamlProblem(data []byte, err error) lineProblem {
	full := err.Error()
	line, what := 0, full
	if m := yamlLine.FindStringSubmatch(full); m != nil {
		what = m[2]
		line, _ = strconv.Atoi(m[1])
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	if n := openQuote(lines); n > 0 {
		return lineProblem{n, "a quote that does not end in this line; expected its other at the end of the text"}
	}
	switch {
	case strings.Contains(what, "',' or") && line > 0 && line < len(lines) && bytes.ContainsAny(lines[line], "[{"):
		line++ // the library counts this one from 0.
	case line == 0 || strings.HasPrefix(what, "did not find expected"):
		line = 1 + sort.Search(len(lines)-1, func(n int) bool {
			var doc yaml.Node
			err := yaml.Unmarshal(bytes.Join(lines[:n+1], nil), &doc)
			return err != nil && yamlWords(err) == what
		})
	}
	return lineProblem{line, "cannot be read as YAML: " + what + "; expected keys and values, indented with spaces"}
}

var quoted = regexp.MustCompile(`^\s*(?:- +)*(?:[^\s"'#][^\s"']*: +)?(["'])(.*)$`)

// openQuote is the first line with a text in quotes that does not end there, or 0. A text may
// go on in the next line; where a file cannot be read it is the likely cause, and the library
// only stumbles where the next quote comes.
func openQuote(lines [][]byte) int {
	for i, line := range lines {
		m := quoted.FindSubmatch(bytes.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		rest := bytes.ReplaceAll(m[2], []byte(`\\`), nil)
		if m[1][0] == '"' {
			rest = bytes.ReplaceAll(rest, []byte(`\"`), nil)
		}
		if bytes.Count(rest, m[1])%2 == 0 {
			return i + 1
		}
	}
	return 0
}

func yamlWords(err error) string {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		return m[2]
	}
	return err.Error()
}
