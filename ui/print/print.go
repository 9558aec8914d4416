package print

import (
	"fmt"
	"io"

	"vksmedic/model"
)

// Format is a form of output.
type Format string

// The formats.
const (
	Table    Format = "table"
	JSON     Format = "json"
	Markdown Format = "markdown"
)

// Formats are all formats, the default first.
func Formats() []Format { return []Format{Table, JSON, Markdown} }

// Options say how a table is written.
type Options struct {
	// Width is the terminal's, in columns; zero writes whole lines, as for a file.
	Width int
	// Color says that the reader is a terminal that shows colours.
	Color bool
	// Article is the id of the article that mends a finding, empty where none does. Nil: none does.
	Article func(*model.Finding) string
}

// Print writes the findings and sources of a snapshot. The error is that of the writer,
// or that the format is not known.
func Print(w io.Writer, f Format, sn *model.Snapshot, o Options) error {
	var err error
	switch f {
	case Table:
		err = table(w, sn, o)
	case JSON:
		err = printJSON(w, sn, o)
	case Markdown:
		err = markdown(w, sn)
	default:
		return fmt.Errorf("cannot write the format %q: choose table, json or markdown", f)
	}
	if err != nil {
		return fmt.Errorf("cannot write the findings: %w", err)
	}
	return nil
}
