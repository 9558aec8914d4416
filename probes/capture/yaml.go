package capture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"vksmedic/model/text"
	"vksmedic/probes/bounds"
)

// yaml reads YAML documents. The items of a List are taken apart by their lines and decoded one by
// one, so that a long List costs no more memory than its longest item, and one that
// breaks off still gives the items before.
func (f *filed) yaml(in *bufio.Reader) {
	s := &splitter{in: in, emit: f.chunk}
	if err := s.run(); err != nil {
		// Whatever else is wrong with it, this is what a person has to know.
		f.trouble("")
		f.first = "it breaks off: " + reason(err)
	}
}

// chunk decodes one document, or one item of a List.
func (f *filed) chunk(c chunk) {
	f.documents++
	switch {
	case c.tooLong:
		f.trouble("a document is larger than " + bounds.Size(documentLimit))
		return
	case !looksLikeObject(c.data):
		f.strange++
		if !c.item {
			f.pending = nil // Its kind, if it had one, would have been here.
		}
		return
	}
	if err := boundYAML(c.data); err != nil {
		f.trouble(err.Error())
		return
	}
	if !c.item {
		raw, err := yaml.YAMLToJSON(c.data)
		if err != nil {
			f.trouble(yamlError(err))
			return
		}
		var u map[string]any
		if err := json.Unmarshal(raw, &u); err != nil {
			f.trouble(yamlError(err))
			return
		}
		f.raw = raw
		f.document(u, c.hasItems)
		f.raw = nil
		return
	}
	var items []map[string]any
	if err := yaml.Unmarshal(c.data, &items); err != nil {
		f.trouble(yamlError(err))
		return
	}
	for _, u := range items {
		f.item(u)
	}
}

// yamlError is the parser's word in one short line.
func yamlError(err error) string {
	s := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	s = strings.TrimPrefix(s, "error unmarshaling JSON: ")
	return text.Limit(text.Clean(s), 200)
}

// looksLikeObject says whether a text may be an object at all. It keeps logs and prose away
// from the YAML parser, which is slow.
func looksLikeObject(b []byte) bool {
	if t := bytes.TrimLeft(b, " \t\r\n-"); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		return true
	}
	for len(b) > 0 {
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		line = bytes.TrimLeft(line, " -")
		for _, key := range []string{"kind:", "apiVersion:", "items:", "metadata:", `"kind":`, `"apiVersion":`} {
			if bytes.HasPrefix(line, []byte(key)) {
				return true
			}
		}
	}
	return false
}

// chunk is a document, or an item of a List (as a sequence of one).
type chunk struct {
	data []byte
	item bool
	// hasItems says that items of this document were emitted before it.
	hasItems bool
	tooLong  bool
}

// splitter cuts a stream of YAML into documents and the items of Lists.
type splitter struct {
	in   *bufio.Reader
	emit func(chunk)

	doc, item []byte
	docLong   bool
	itemLong  bool
	began     bool   // the document has a line that is not empty.
	inItems   bool   // within the top-level items.
	dash      string // what an item begins with: its indentation and "- "; empty before the first.
	hasItems  bool
}

func (s *splitter) run() error {
	for {
		line, long, err := s.line()
		if len(line) > 0 || long {
			s.add(line, long)
		}
		if err != nil {
			s.endDocument()
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// line reads a line with its end; of one that is too long only the beginning.
func (s *splitter) line() (line []byte, long bool, err error) {
	for {
		part, err := s.in.ReadSlice('\n')
		if len(line)+len(part) > documentLimit {
			long = true
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err //nolint:wrapcheck // io.EOF has to stay what it is.
		}
	}
}

func (s *splitter) add(line []byte, long bool) {
	if bytes.HasPrefix(line, []byte("---")) && (len(line) == 3 || strings.IndexByte(" \t\r\n", line[3]) >= 0) {
		s.endDocument()
		if rest := bytes.TrimLeft(line[3:], " \t"); len(bytes.TrimSpace(rest)) > 0 {
			s.add(rest, long)
		}
		return
	}
	if trimmed := bytes.TrimRight(line, " \t\r\n"); string(trimmed) == "..." {
		s.endDocument()
		return
	}
	if s.inItems && s.itemLine(line, long) {
		return
	}
	if s.began || len(bytes.TrimSpace(line)) > 0 {
		s.began = true
	}
	if bytes.HasPrefix(line, []byte("items:")) && len(bytes.TrimSpace(line[len("items:"):])) == 0 && !long {
		s.inItems, s.dash = true, ""
		return
	}
	if long || len(s.doc)+len(line) > documentLimit {
		s.docLong, s.doc = true, nil
	}
	if !s.docLong {
		s.doc = append(s.doc, line...)
	}
}

// itemLine takes a line that belongs to the items; false ends them.
func (s *splitter) itemLine(line []byte, long bool) bool {
	body := bytes.TrimLeft(line, " ")
	indent := len(line) - len(body)
	blank := len(bytes.TrimSpace(body)) == 0 || body[0] == '#'
	isDash := len(body) > 0 && body[0] == '-' && (len(body) == 1 || strings.IndexByte(" \t\r\n", body[1]) >= 0)
	switch {
	case s.dash == "" && blank:
		return true
	case s.dash == "" && isDash:
		s.dash = strings.Repeat(" ", indent) + "-"
	case s.dash == "":
		// Not a sequence by lines: leave it to the parser.
		s.inItems = false
		s.doc = append(s.doc, "items:\n"...)
		return false
	case blank:
	case isDash && indent == len(s.dash)-1:
		s.endItem()
	case indent < len(s.dash):
		s.endItem()
		s.inItems = false
		return false
	}
	if long || len(s.item)+len(line) > documentLimit {
		s.itemLong, s.item = true, nil
	}
	if !s.itemLong {
		s.item = append(s.item, line...)
	}
	return true
}

func (s *splitter) endItem() {
	if len(s.item) > 0 || s.itemLong {
		s.hasItems = true
		s.emit(chunk{data: s.item, item: true, tooLong: s.itemLong})
	}
	s.item, s.itemLong = s.item[:0], false
}

func (s *splitter) endDocument() {
	if s.inItems {
		s.endItem()
		if !s.hasItems {
			s.doc = append(s.doc, "items: []\n"...)
		}
	}
	if s.began && (s.docLong || s.hasItems || !onlyComments(s.doc)) {
		s.emit(chunk{data: s.doc, hasItems: s.hasItems, tooLong: s.docLong})
	}
	s.doc, s.docLong, s.began, s.inItems, s.dash, s.hasItems = s.doc[:0], false, false, false, "", false
}

func onlyComments(b []byte) bool {
	for line := range bytes.Lines(b) {
		if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' {
			return false
		}
	}
	return true
}
