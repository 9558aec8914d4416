package action

import (
	"fmt"
	"io"

	"vksmedic/model/text"
	"vksmedic/remedies/kb"
)

// Articles are the articles of the program and, where dir is not empty, the engineer's own in that
// folder. The error is [kb.Problems], a line for each thing that is wrong, or says why the
// folder is not read.
func Articles(dir string) (*kb.Catalogue, error) {
	c, err := kb.Load(kb.Builtin(), Registry())
	if err != nil || dir == "" {
		return c, err
	}
	own, err := kb.LoadDir(dir, Registry())
	if err != nil {
		return nil, err
	}
	return c.With(own)
}

// Check writes all that is wrong with articles that are being written, a line for each with
// file, line and what was expected, and says how many problems there are. They are held to the
// rules for an engineer's own articles. A folder stands for the articles in it. The error is that
// of writing.
func Check(out io.Writer, files []string) (problems int, err error) {
	found := kb.Check(files, Registry())
	for _, p := range found {
		if _, err := fmt.Fprintln(out, text.Clean(p.String())); err != nil {
			return len(found), fmt.Errorf("cannot write what is wrong: %w", err)
		}
	}
	return len(found), nil
}
