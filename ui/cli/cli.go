package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/charmbracelet/x/term"

	"vksmedic/model/text"
	"vksmedic/ui/print"
)

// Options are what the program is started with besides its arguments.
type Options struct {
	In       io.Reader
	Out, Err io.Writer
	// Version is what the linker was told; where it is empty, the version in the build's own
	// records is used.
	Version string
}

// program is one run of a command.
type program struct {
	Options
	flags
}

// Run does what the arguments say, those after the program's name, until it is done or ctx
// ends, and returns the exit status. What went wrong has been written to Err.
func Run(ctx context.Context, args []string, o Options) int {
	c := (&program{Options: o}).rootCommand()
	c.SetArgs(args)
	c.SetIn(o.In)
	c.SetOut(o.Out)
	c.SetErr(o.Err)
	err := c.ExecuteContext(ctx)
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	_, _ = fmt.Fprintln(o.Err, "vksmedic:", text.Clean(err.Error())) // names in it are a file's or a server's.
	return failure
}

// exitCode ends the program with a status that is no failure.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// failure is the status for what could not be done, the same as scan's for what could not
// be read.
const failure = print.Blind

// tool is the program's name and version.
func (o Options) tool() string {
	v := o.Version
	if info, ok := debug.ReadBuildInfo(); ok && v == "" {
		v = info.Main.Version
	}
	return strings.TrimSpace("vksmedic " + v)
}

func isTerminal(x any) bool {
	f, ok := x.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}
