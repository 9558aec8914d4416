// Command vksmedic is a troubleshooter for workload clusters of VMware's vSphere
// Kubernetes Service: a live dashboard that flags known failures with their
// evidence, and a wizard that walks through the knowledge base's fix, showing
// each change before it is made.
//
//	vksmedic                       the dashboard, on the current kubeconfig context
//	vksmedic --from ticket.tar.gz  the same on a dump, read-only
//	vksmedic scan -o json          the findings, for scripts
//	vksmedic capture               all that was looked at in one file, to hand on
//
// This file is flags and wiring; CONTRIBUTING.md says what is where.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"vksmedic/model"
	"vksmedic/model/signature"
	"vksmedic/model/text"
	"vksmedic/probes"
	"vksmedic/probes/capture"
	"vksmedic/probes/supervisor"
	"vksmedic/remedies"
	"vksmedic/ui"
	"vksmedic/ui/print"
)

// version is set by the linker; see the Makefile.
var version = ""

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// exitCode ends the program with a status that is no failure.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// failure is the status for what could not be done, the same as scan's for what could not
// be read.
const failure = print.Blind

func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	c := root(in, out)
	c.SetArgs(args)
	c.SetIn(in)
	c.SetOut(out)
	c.SetErr(errOut)
	err := c.ExecuteContext(ctx)
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	_, _ = fmt.Fprintln(errOut, "vksmedic:", text.Clean(err.Error())) // names in it are a file's or a server's.
	return failure
}

// settings are the flags.
type settings struct {
	kubeconfig, context string
	namespaces          []string
	workloads           []string
	readOnly            bool
	from, asOf          string
	output              string
	timeout             time.Duration
	// deadline is when the screen says that a source has not answered yet; zero for the
	// default. What looks once goes by its timeout, which has to come first.
	deadline     time.Duration
	stalledAfter time.Duration
	taking       probes.Taking
}

func root(in io.Reader, out io.Writer) *cobra.Command {
	s := &settings{}
	c := &cobra.Command{
		Use:   "vksmedic",
		Short: "Find and mend stuck workload clusters of the vSphere Kubernetes Service",
		Long: `vksmedic watches the workload clusters of a Supervisor, flags known failures with the
evidence for each, and walks you through the knowledge base's fix. Nothing is changed that was
not shown first.

Start it against the Supervisor's kubeconfig (kubectl vsphere login writes one).`,
		Args:          noWords,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			return dashboard(c.Context(), s, in, out)
		},
	}
	f := c.PersistentFlags()
	f.StringVar(&s.kubeconfig, "kubeconfig", "", "kubeconfig of the Supervisor (default: $KUBECONFIG, then ~/.kube/config)")
	f.StringVar(&s.context, "context", "", "context in it (default: the current one)")
	f.StringSliceVarP(&s.namespaces, "namespace", "n", nil, "look at these vSphere Namespaces only, of a dump too; may be repeated")
	f.StringArrayVar(&s.workloads, "workload-kubeconfig", nil, "NAMESPACE/CLUSTER=FILE: a kubeconfig for a workload cluster, where its Secret may not be read; may be repeated")
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return fmt.Errorf("%w; see %s --help", err, c.CommandPath()) })
	f.StringVar(&s.from, "from", "", "read a dump instead: a file, a folder, a .tar.gz or - for standard input; read-only")
	f.StringVar(&s.asOf, "as-of", "", "with --from: judge as of this time, RFC 3339 (default: the newest time in the dump)")
	f.DurationVar(&s.stalledAfter, "stalled-after", signature.StalledAfter, "how long a Machine may be Deleting before that is flagged")
	c.Flags().BoolVar(&s.readOnly, "read-only", false, "change nothing, whatever is pressed")
	c.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return s.check(c) }
	c.AddCommand(scanCommand(s, in, out), captureCommand(s, in, out), versionCommand(out))
	c.InitDefaultCompletionCmd()
	for _, sub := range c.Commands() {
		if sub.Name() == "completion" {
			// By itself it prints help and succeeds, also for a shell that it does not know.
			sub.Args = noWords
			sub.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
	return c
}

// noWords refuses what is neither a flag nor a command.
func noWords(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("there is no %q in %s; see %s --help", args[0], c.CommandPath(), c.CommandPath())
	}
	return nil
}

// judge finds the signatures, with what the flags say of them.
func (s *settings) judge() model.Judge {
	return signature.NewJudge(signature.Options{StalledAfter: s.stalledAfter})
}

// check refuses flags that contradict each other or say nothing: what is meant to be a
// look at a dump must never become one at a live Supervisor, nor the other way round.
func (s *settings) check(c *cobra.Command) error {
	f := c.Flags()
	if !f.Changed("from") {
		return nil
	}
	if s.from == "" {
		return errors.New("--from names nothing; give it a file, a folder, a .tar.gz or -")
	}
	for _, live := range []string{"kubeconfig", "context", "workload-kubeconfig"} {
		if f.Changed(live) {
			return fmt.Errorf("--%s goes with a live Supervisor, and --from %s is a dump, which is read whole; leave one of them out", live, s.from)
		}
	}
	return nil
}

func scanCommand(s *settings, in io.Reader, out io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use:   "scan",
		Short: "Print the findings, without a screen",
		Long: `scan looks once and prints what it found, for pagers, scripts and tickets.

Exit status: 1 when something is flagged (info does not count); else 0 when all that is needed
could be read, and 2 when not, or when it could not be done.`,
		Args: noWords,
		RunE: func(c *cobra.Command, _ []string) error {
			return scan(c.Context(), s, in, out)
		},
	}
	c.Flags().StringVarP(&s.output, "output", "o", string(print.Table), "table, json or markdown")
	c.Flags().DurationVar(&s.timeout, "timeout", 30*time.Second, "how long to wait for answers")
	return c
}

func captureCommand(s *settings, in io.Reader, out io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use:   "capture",
		Short: "Write all that is looked at into one file, to hand on",
		Long: `capture looks once and writes what it saw into a .tar.gz: the objects as YAML, the ends of the logs
of system pods that fail, and what could not be read and why. vksmedic --from FILE and
vksmedic scan --from FILE judge it as the Supervisor was judged at that moment.

No Secret is in it, no token, and no environment or command line of a pod. --redact replaces addresses
and the names of hosts and users too; namespaces, clusters, Machines, nodes and pods keep their names.

Exit status: 0 when the file is written, also where parts could not be read; 2 when nothing could.`,
		Args: noWords,
		RunE: func(c *cobra.Command, _ []string) error {
			return take(c.Context(), s, in, out, c.ErrOrStderr())
		},
	}
	c.Flags().StringVarP(&s.taking.File, "output", "o", "", "the file to write (default: vksmedic-CONTEXT-TIME.tar.gz in this folder)")
	c.Flags().StringVar(&s.taking.Cluster, "cluster", "", "only this cluster, NAME or NAMESPACE/NAME")
	c.Flags().BoolVar(&s.taking.Redact, "redact", false, "replace addresses and the names of hosts and users by stand-ins")
	c.Flags().DurationVar(&s.taking.Timeout, "timeout", time.Minute, "how long to wait for answers")
	return c
}

func versionCommand(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noWords,
		RunE: func(*cobra.Command, []string) error {
			if _, err := fmt.Fprintln(out, tool()); err != nil {
				return fmt.Errorf("print the version: %w", err)
			}
			return nil
		},
	}
}

// tool is the program's name and version.
func tool() string {
	v := version
	if info, ok := debug.ReadBuildInfo(); ok && v == "" {
		v = info.Main.Version
	}
	return strings.TrimSpace("vksmedic " + v)
}

// scan looks once and prints.
func scan(ctx context.Context, s *settings, in io.Reader, out io.Writer) error {
	format := print.Format(s.output)
	if !slices.Contains(print.Formats(), format) {
		return fmt.Errorf("-o %s: choose table, json or markdown", s.output)
	}
	if s.timeout <= 0 {
		return fmt.Errorf("--timeout %s: give it some time, such as 30s", s.timeout)
	}
	s.deadline = 2 * s.timeout
	sn, err := look(ctx, s, in)
	if err != nil {
		return err
	}
	if err := print.Print(out, format, sn, printOptions(out)); err != nil {
		return err
	}
	if code := print.ExitCode(sn); code != print.Clear {
		return exitCode(code)
	}
	return nil
}

// printOptions fits a table to the terminal; into a file or pipe lines are whole.
func printOptions(out io.Writer) print.Options {
	f, ok := out.(*os.File)
	if !ok || !isTerminal(out) {
		return print.Options{}
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil {
		return print.Options{}
	}
	return print.Options{Width: width, Color: os.Getenv("NO_COLOR") == ""}
}

func isTerminal(x any) bool {
	f, ok := x.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// look takes one picture, of a dump or of a Supervisor.
func look(ctx context.Context, s *settings, in io.Reader) (*model.Snapshot, error) {
	if s.from != "" {
		_, sn, err := readDump(ctx, s, in)
		return sn, err
	}
	logs := ui.NewLog(logFile())
	defer logs.Close()
	conn, config, err := connect(ctx, s, in, logs)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return probes.Once(ctx, conn, config, s.judge())
}

// logIn lets a person take all the time to type a password, and a script the time it gives.
func logIn(ctx context.Context, s *settings, conn *supervisor.Connection, in io.Reader) error {
	if !isTerminal(in) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	return conn.LogIn(ctx)
}

// take writes a capture, and tells on errOut how far it is.
func take(ctx context.Context, s *settings, in io.Reader, out, errOut io.Writer) error {
	if s.from != "" {
		return fmt.Errorf("--from %s is a dump already: capture looks at a live Supervisor", s.from)
	}
	if s.timeout = s.taking.Timeout; s.timeout <= 0 {
		return fmt.Errorf("--timeout %s: give it some time, such as 1m", s.timeout)
	}
	s.deadline = 2 * s.timeout
	logs := ui.NewLog(logFile())
	defer logs.Close()
	conn, config, err := connect(ctx, s, in, logs)
	if err != nil {
		return err
	}
	line := print.NewLine(errOut, isTerminal(errOut))
	t := s.taking
	t.Tool, t.Report = tool(), line.Say
	taken, err := probes.Take(ctx, conn, config, s.judge(), t)
	line.End()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, "wrote", taken); err != nil {
		return fmt.Errorf("the capture is written, but where cannot be said: %w", err)
	}
	return nil
}

func readDump(ctx context.Context, s *settings, in io.Reader) (*capture.Dump, *model.Snapshot, error) {
	asOf, err := parseAsOf(s)
	if err != nil {
		return nil, nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(capture.ReadingGC))
	d, err := capture.Read(ctx, s.from, in)
	if err != nil {
		return nil, nil, err
	}
	return d, d.Snapshot(s.judge(), asOf).In(s.namespaces), nil
}

func parseAsOf(s *settings) (time.Time, error) {
	if s.asOf == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s.asOf)
	if err != nil {
		return t, fmt.Errorf("--as-of %s: not a time like 2026-11-30T03:00:00Z", s.asOf)
	}
	return t, nil
}

// connect reads the kubeconfig and logs in; it does no network of its own.
func connect(ctx context.Context, s *settings, in io.Reader, logs *ui.Log) (*supervisor.Connection, probes.Config, error) {
	config := probes.Config{Log: logs.Logger()}
	if s.asOf != "" {
		return nil, config, errors.New("--as-of goes with --from: a live Supervisor is judged as of now")
	}
	files, err := workloadFiles(s.workloads)
	if err != nil {
		return nil, config, err
	}
	config.Kubeconfigs = files
	supervisor.TameLibraries(logs.Logger())
	conn, err := supervisor.Connect(ctx, supervisor.Options{
		Kubeconfig: s.kubeconfig, Context: s.context, Namespaces: s.namespaces, Restrict: len(s.namespaces) > 0, Log: logs.Logger(),
		Deadline: s.deadline,
	})
	if err != nil {
		return nil, config, err
	}
	return conn, config, logIn(ctx, s, conn, in)
}

// workloadFiles reads --workload-kubeconfig.
func workloadFiles(flags []string) (map[model.ClusterRef]string, error) {
	out := map[model.ClusterRef]string{}
	for _, f := range flags {
		cluster, file, ok := strings.Cut(f, "=")
		ns, name, named := strings.Cut(cluster, "/")
		if !ok || !named || ns == "" || name == "" || file == "" {
			return nil, fmt.Errorf("--workload-kubeconfig %s: write NAMESPACE/CLUSTER=FILE", f)
		}
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("--workload-kubeconfig %s: %w", f, err)
		}
		out[model.ClusterRef{Namespace: ns, Name: name}] = file
	}
	return out, nil
}

// dashboard shows the screen, on a dump or on a Supervisor.
func dashboard(ctx context.Context, s *settings, in io.Reader, out io.Writer) error {
	if s.from != "" {
		return dashboardOfDump(ctx, s, in, out)
	}
	if !isTerminal(in) || !isTerminal(out) {
		return ui.ErrNoTerminal
	}
	logs := ui.NewLog(logFile())
	defer logs.Close()
	conn, config, err := connect(ctx, s, in, logs)
	if err != nil {
		return err
	}
	restore, err := conn.DetachTerminal() // before anything runs that could write to it.
	if err != nil {
		return err
	}
	defer restore()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	live := probes.Run(ctx, conn, config, s.judge())
	commands := make(chan remedies.Command, 64)
	where := ui.Where{Context: conn.Context, Server: conn.Server, User: conn.User, Insecure: conn.Insecure}
	if s.readOnly {
		where.ReadOnly = "started with --read-only"
	}
	runner, err := remedies.NewRunner(remedies.Config{
		Supervisor: conn, Context: conn.Context, Server: conn.Server, Workload: live.Workload, Snapshot: live.Latest,
		JournalDir: remedies.DefaultJournalDir(os.Getenv), ReadOnly: where.ReadOnly, Who: conn.User,
		Log: func(c remedies.Command) {
			select {
			case commands <- c:
			default: // The journal has it; the screen shows the newest.
			}
		},
	})
	if err != nil {
		return err
	}
	captures := captures{conn: conn, config: config, live: live, judge: s.judge()}
	err = ui.Run(ctx, ui.Options{
		In: in, Out: out, Where: where, Capture: captures.take, Snapshots: live.Snapshots(), Refresh: live.Refresh, Attend: attend(live),
		Reader: liveReader{live}, Wizard: wizard{runner}, Address: addresses(runner), Commands: commands, Log: logs.Lines(), Now: time.Now,
	})
	cancel()
	captures.wait()
	<-live.Ended()
	return err
}

func dashboardOfDump(ctx context.Context, s *settings, in io.Reader, out io.Writer) error {
	keys, name := in, s.from
	if s.from == capture.Stdin {
		name = "standard input"
		if isTerminal(in) {
			return errors.New("--from -: standard input is the terminal; pipe a dump into it, or name a file")
		}
		tty, err := ui.Keyboard()
		if err != nil {
			return err
		}
		defer func() { _ = tty.Close() }()
		keys = tty
	}
	if !isTerminal(keys) || !isTerminal(out) {
		return ui.ErrNoTerminal
	}
	d, sn, err := readDump(ctx, s, in)
	if err != nil {
		return err
	}
	snapshots := make(chan *model.Snapshot, 1)
	snapshots <- sn
	now := func() time.Time { return sn.At }
	runner, err := remedies.NewRunner(remedies.Config{ReadOnly: "a dump"})
	if err != nil {
		return err
	}
	return ui.Run(ctx, ui.Options{
		In: keys, Out: out, Where: ui.Where{Dump: name, ReadOnly: "this is a dump"}, Snapshots: snapshots,
		Refresh: func() {}, Attend: func(model.Place) {}, Reader: dumpReader{d}, Address: addresses(runner), Now: now,
	})
}

// logFile is where the libraries' logs go, beside the journal.
func logFile() string {
	dir := remedies.DefaultJournalDir(os.Getenv)
	if dir == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(dir), "vksmedic.log")
}

// The rooms meet here: what one has, in the form that the other asks for.

// wizard is the runner as the screen sees it.
type wizard struct{ *remedies.Runner }

// Offers is the article of the finding's signature.
func (w wizard) Offers(f *model.Finding) []remedies.Offer {
	for _, a := range w.Articles() {
		if a.ID == f.Article {
			return []remedies.Offer{{ID: a.ID, Title: a.Title, KB: a.KB, Address: a.Address}}
		}
	}
	return nil
}

func (w wizard) Begin(ctx context.Context, f *model.Finding, _ string) (ui.Walk, error) {
	return walk(w.Runner.Begin(ctx, f))
}

func (w wizard) Resume(ctx context.Context, id string) (ui.Walk, error) {
	return walk(w.Runner.Resume(ctx, id))
}

// walk keeps a nil walk from becoming an interface that is not nil.
func walk(w *remedies.Walk, err error) (ui.Walk, error) {
	if err != nil {
		return nil, err
	}
	return patient{w}, nil
}

// patient is a walk that neither looks for others while a preview is open nor asks anything.
type patient struct{ *remedies.Walk }

func (patient) Watch(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return nil
}

func (patient) Answer(context.Context, string, string) error {
	return errors.New("this walk asks nothing")
}

// addresses finds where the article of a finding can be read.
func addresses(r *remedies.Runner) func(*model.Finding) string {
	byID := map[string]string{}
	for _, a := range r.Articles() {
		byID[a.ID] = a.Address
	}
	return func(f *model.Finding) string {
		if a := byID[f.Article]; a != "" {
			return a
		}
		return remedies.Address(f.KB)
	}
}

// liveReader reads objects of the Supervisor and of workload clusters.
type liveReader struct{ live *probes.Live }

func (r liveReader) YAML(ctx context.Context, t ui.Target) (string, error) {
	return r.live.YAML(ctx, inside(t), t.Ref)
}

func (r liveReader) Describe(ctx context.Context, t ui.Target) (string, error) {
	return r.live.Describe(ctx, inside(t), t.Ref)
}

// inside is the workload cluster that an object is read from, zero for the Supervisor.
func inside(t ui.Target) model.ClusterRef { return t.In.Cluster }

// attend has the cluster that is open looked at closely.
func attend(live *probes.Live) func(model.Place) {
	return func(p model.Place) { live.Attend(p.Cluster) }
}

// dumpReader reads objects of a dump.
type dumpReader struct{ dump *capture.Dump }

func (r dumpReader) YAML(ctx context.Context, t ui.Target) (string, error) {
	return r.dump.YAML(ctx, inside(t), t.Ref)
}

func (r dumpReader) Describe(ctx context.Context, t ui.Target) (string, error) {
	return r.dump.Describe(ctx, inside(t), t.Ref)
}

// captures are those that are taken while the dashboard runs.
type captures struct {
	judge   model.Judge
	conn    *supervisor.Connection
	config  probes.Config
	live    *probes.Live
	running sync.WaitGroup
}

// take writes a capture into the current folder. What the dashboard saw come and go is in it.
func (c *captures) take(ctx context.Context, report func(string)) (string, error) {
	c.running.Add(1)
	defer c.running.Done()
	config := c.config
	config.Before = c.live.Latest()
	taken, err := probes.Take(ctx, c.conn, config, c.judge, probes.Taking{Tool: tool(), Timeout: time.Minute, Report: report})
	if err != nil {
		return "", err
	}
	return taken.String(), nil
}

// wait waits until none is left that has to clean up.
func (c *captures) wait() { c.running.Wait() }
