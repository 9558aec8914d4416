package capture

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"vksmedic/probes/bounds"
)

// The bounds of a dump, beside those of single objects (package bounds).
const (
	// filesLimit is how many files and members of archives are read.
	filesLimit = 100_000
	// objectsLimit is how many objects are kept: a fleet of 500 clusters has 40,000 with its pods.
	objectsLimit = 150_000
	// notesLimit is how many files that were not understood are listed one by one.
	notesLimit = 500
	// yamlBytes and yamlMarks bound a document of YAML, whose parser needs a hundred times as much
	// memory: its length, and the lines and marks in it that may each begin a value.
	yamlBytes = 16 << 20
	yamlMarks = 500_000
)

// errAliases is a document whose aliases stand for more than it may hold.
var errAliases = errors.New("its aliases stand for more than an object may hold")

// boundYAML says whether a document may be given to the parser, and whether what it stands for may be
// decoded.
func boundYAML(b []byte) error {
	if len(b) > yamlBytes {
		return &bounds.TooLargeError{What: "a document", Limit: bounds.Size(yamlBytes)}
	}
	marks := 0
	for _, m := range []string{"\n", ",", "[", "{", "- ", "? "} {
		marks += bytes.Count(b, []byte(m))
	}
	if marks > yamlMarks {
		return &bounds.TooLargeError{What: "a document", Limit: fmt.Sprintf("%d lines and values", yamlMarks)}
	}
	if deep(b) > bounds.Object().Depth {
		return &bounds.TooLargeError{What: "a document", Limit: fmt.Sprintf("%d levels", bounds.Object().Depth)}
	}
	if bytes.IndexByte(b, '&') < 0 || bytes.IndexByte(b, '*') < 0 {
		return nil
	}
	var n yaml.Node
	if err := yaml.Unmarshal(b, &n); err != nil {
		return nil //nolint:nilerr // the other parser says what is wrong with it.
	}
	return expands(&n)
}

// deep is how many brackets may stand within each other.
func deep(b []byte) int {
	depth, deepest := 0, 0
	for _, c := range b {
		switch c {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth = max(depth-1, 0)
		}
	}
	return deepest
}

// expands says whether a document stays within the bounds of an object when each alias is what it stands for.
func expands(n *yaml.Node) error {
	x := expansion{values: map[*yaml.Node]int{}, limit: bounds.Object().Values, bytes: map[*yaml.Node]int{}}
	values, size := x.of(n)
	if values > x.limit || size > bounds.Object().Bytes {
		return errAliases
	}
	return nil
}

// expansion counts what nodes stand for, each once. A node that is within itself stands for too much.
type expansion struct {
	values, bytes map[*yaml.Node]int
	limit         int
}

func (x *expansion) of(n *yaml.Node) (values, size int) {
	if v, ok := x.values[n]; ok {
		return v, x.bytes[n]
	}
	x.values[n] = x.limit + 1 // while it is being counted.
	values, size = 1, len(n.Value)
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		v, b := x.of(n.Alias)
		values, size = values+v, b
	}
	for _, c := range n.Content {
		v, b := x.of(c)
		// A sum that cannot overflow.
		values, size = min(values+v, x.limit+1), min(size+b, bounds.Object().Bytes+1)
	}
	x.values[n], x.bytes[n] = values, size
	return values, size
}
