package cli

import (
	"context"
	"errors"
	"os"

	"vksmedic/model"
	"vksmedic/probes"
	"vksmedic/probes/supervisor"
	"vksmedic/remedies"
	"vksmedic/ui"
)

// newRunner makes the runner for a live Supervisor, and the commands that it reports.
func newRunner(conn *supervisor.Connection, live *probes.Live, readOnly string) (*remedies.Runner, <-chan remedies.Command, error) {
	commands := make(chan remedies.Command, 64)
	runner, err := remedies.NewRunner(remedies.Config{
		Supervisor: conn, Context: conn.Context, Server: conn.Server, Workload: live.Workload, Snapshot: live.Latest,
		JournalDir: remedies.DefaultJournalDir(os.Getenv), ReadOnly: readOnly, Who: conn.User,
		Log: func(c remedies.Command) {
			select {
			case commands <- c:
			default: // The journal has it; the screen shows the newest.
			}
		},
	})
	return runner, commands, err
}

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
