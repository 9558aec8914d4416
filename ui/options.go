package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/ui/widget"
)

// ErrNoTerminal says that there is no terminal to draw on.
var ErrNoTerminal = errors.New("not a terminal: the dashboard needs one; vksmedic scan does the same for pipes and scripts")

// ErrDumb says that the terminal cannot show a screen.
var ErrDumb = errors.New("a terminal that cannot move its cursor (TERM=dumb): the dashboard needs one that can; vksmedic scan does the same in plain text")

// Where says what is being looked at; it stands on every screen and in the
// terminal's title.
type Where struct {
	Context, Server, User string
	// Dump is the file or folder that is looked at in place of a Supervisor.
	Dump string
	// ReadOnly is why nothing can be changed, in words; empty where it can.
	ReadOnly string
	// Insecure says that the kubeconfig switches the checking of certificates off.
	Insecure bool
}

// Target is an object that can be opened, and the place whose API it is read from: the
// Supervisor or a workload cluster.
type Target struct {
	Ref model.ObjectRef
	In  model.Place
}

// Reader reads an object live and whole. Both return text for people; they are
// called in the background and end when the context does.
type Reader interface {
	YAML(ctx context.Context, t Target) (string, error)
	Describe(ctx context.Context, t Target) (string, error)
}

// Wizard walks findings through their articles: package remedies' Runner.
type Wizard interface {
	// Pending are the walks that were left before their end, those that
	// cannot be picked up here included.
	Pending(ctx context.Context) ([]remedies.Pending, error)
	// Offers are the articles that can be walked for a finding, the one to take first; empty
	// where there is none. It does no I/O.
	Offers(f *model.Finding) []remedies.Offer
	// Begin begins a walk for a finding through the article with this id, one of its offers.
	Begin(ctx context.Context, f *model.Finding, article string) (Walk, error)
	Resume(ctx context.Context, id string) (Walk, error)
	// Forget ends a walk without doing anything: it is not pending any more, and what it
	// changed stays as it is.
	Forget(id string) error
}

// Walk is one finding on its way through an article.
type Walk interface {
	// View is the picture of this moment; it does no I/O.
	View() remedies.View
	// Enter does the read-only part of the current step.
	Enter(ctx context.Context) error
	Choose(id string)
	Next(ctx context.Context) error
	// Back goes to the step before, Undo to the one that takes back what was changed last:
	// neither writes anything, both may have to wait for what is under way.
	Back()
	Undo(ctx context.Context) error
	// Watch looks who else is at work while a preview is open, and calls changed when View is
	// another. It writes nothing and blocks until ctx ends.
	Watch(ctx context.Context, changed func()) error
	// Answer answers the question with this id, the one of View: with the id of an option,
	// or with what was typed. Then it does the reading of the step again, as Enter does. A
	// method that cannot go on before a question is answered fails and leaves it in View; so
	// does Answer when another question comes up.
	Answer(ctx context.Context, id, text string) error
	// Apply changes something: exactly what the preview with this token showed.
	Apply(ctx context.Context, token, typed string) error
	// ByHand verifies what the engineer did elsewhere.
	ByHand(ctx context.Context) error
	// Follow reports how the change or the wait goes, until it is over.
	Follow(ctx context.Context, report func(remedies.Progress)) error
	// Leave gives back what the walk holds; it can be resumed.
	Leave()
}

// LogLine is a message of a library or of the API: client-go's log, a deprecation
// warning.
type LogLine struct {
	At    time.Time
	Level string // error, warning or info.
	Text  string
}

// Options are what the screen works with. Channels may be nil.
type Options struct {
	In  io.Reader
	Out io.Writer
	Env []string

	Where Where
	// Snapshots are drawn as they come, at most ten a second; the newest counts.
	Snapshots <-chan *model.Snapshot
	// Refresh looks again now; Attend says where one looks: at a cluster, at the
	// Supervisor, or at no place in particular. Both return at once.
	Refresh func()
	Attend  func(model.Place)
	Reader  Reader
	Wizard  Wizard
	// Capture writes all that is looked at into a file, which takes a while, tells report in a few words
	// how far it is, and says where the file is and what it lacks. Nil where there is nothing to
	// capture. It changes nothing anywhere else.
	Capture func(ctx context.Context, report func(string)) (string, error)
	// Address is where the article of a finding can be read, empty where there is none.
	Address  func(*model.Finding) string
	Commands <-chan remedies.Command
	Log      <-chan LogLine
	Now      func() time.Time

	// Emulated says that In and Out are a terminal although the operating system does
	// not think so: an emulator in a test.
	Emulated bool
	// Tea are further options for Bubble Tea.
	Tea []tea.ProgramOption
}

// Run shows the screen until the engineer quits or ctx ends; ending by ctx is no
// error. It returns [ErrNoTerminal] before anything was touched where In or Out is
// no terminal. The terminal is given back as it was, also after a panic. Signals are the
// caller's, who ends ctx.
func Run(ctx context.Context, o Options) error {
	if !o.Emulated && (!isTerminal(o.In) || !isTerminal(o.Out)) {
		return ErrNoTerminal
	}
	if err := Drawable(o.Env); err != nil {
		return err
	}
	asked := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var p *tea.Program
	out, written := widget.Count(o.Out) // what is written, not what waits to be.
	out = unstalled(ctx, out, func() { p.Send(tea.ClearScreen()) })
	m := newModel(ctx, o, written)
	opts := []tea.ProgramOption{
		tea.WithInput(noticed(o.In, cancel)), tea.WithOutput(out), tea.WithoutSignalHandler(),
	}
	if o.Env != nil {
		opts = append(opts, tea.WithEnvironment(o.Env))
	}
	p = newProgram(m, append(opts, o.Tea...)...)
	ended := make(chan struct{})
	go quitWith(ctx, p, ended)
	_, err := p.Run()
	close(ended)
	cancel() // What is in the background ends, so that the walks can be let go.
	m.leave()
	if err != nil && (asked.Err() == nil || errors.Is(err, tea.ErrProgramPanic)) {
		return fmt.Errorf("the screen stopped: %w", err)
	}
	return nil
}

// Drawable returns ErrDumb where the environment (nil for the process's own) is that of a terminal without
// a cursor: of an editor's shell, a build server or a script.
func Drawable(env []string) error {
	if env == nil {
		env = os.Environ()
	}
	if slices.Contains(env, "TERM=dumb") {
		return ErrDumb
	}
	return nil
}

// noticed tells when a terminal has gone. Not everybody is sent a signal then: not who runs
// without a controlling terminal.
func noticed(in io.Reader, gone func()) io.Reader {
	if f, ok := in.(*os.File); ok {
		return keyboard{f, gone}
	}
	return in
}

// keyboard stays a file, so that Bubble Tea sees a terminal in it.
type keyboard struct {
	*os.File
	gone func()
}

func (k keyboard) Read(p []byte) (int, error) {
	n, err := k.File.Read(p)
	if err != nil {
		k.gone()
	}
	return n, err //nolint:wrapcheck // The terminal's own error, for Bubble Tea.
}

// quitGrace is how long the program gets to put its terminal in order.
const quitGrace = 2 * time.Second

// quitWith ends the program with ctx as a key would. (Bubble Tea's own way, tea.WithContext,
// counts as a kill: it closes the keyboard while it is still being read.) A program that
// cannot, because its terminal has gone, is killed.
func quitWith(ctx context.Context, p *tea.Program, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	go p.Quit() // it waits until the program takes it.
	t := time.NewTimer(quitGrace)
	defer t.Stop()
	select {
	case <-ended:
	case <-t.C:
		p.Kill()
	}
}

func isTerminal(x any) bool {
	f, ok := x.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd())) //nolint:gosec // A file descriptor is a small number.
}

// Keyboard opens the terminal that the program was started from, for keys, where standard
// input is something else.
func Keyboard() (*os.File, error) {
	in, _, err := tea.OpenTTY()
	if err != nil {
		return nil, fmt.Errorf("%w (there is none to take keys from: %w)", ErrNoTerminal, err)
	}
	return in, nil
}
