package cli

import (
	"context"
	"os"

	"vksmedic/model"
	"vksmedic/probes"
	"vksmedic/probes/supervisor"
	"vksmedic/remedies"
	"vksmedic/remedies/action"
	"vksmedic/remedies/kb"
	"vksmedic/remedies/walk"
	"vksmedic/ui"
)

// newRunner makes the runner for a live Supervisor, and the commands that it reports.
func newRunner(conn *supervisor.Connection, live *probes.Live, articles *kb.Catalogue, readOnly string) (*walk.Runner, <-chan remedies.Command) {
	commands := make(chan remedies.Command, 64)
	var kubectl []string
	for _, w := range conn.Kubectl() {
		kubectl = append(kubectl, remedies.Quote(w))
	}
	runner := walk.NewRunner(walk.Config{
		Sites:    &remedies.Sites{Supervisor: conn, Workload: live.Workload, Discovery: live.Discovery, Kubectl: kubectl},
		Articles: articles, Registry: action.Registry(), Actions: action.All(), Guards: action.Guards(),
		Context: conn.Context, Server: conn.Server, Snapshot: live.Latest,
		JournalDir: walk.DefaultJournalDir(os.Getenv), ReadOnly: readOnly, Who: conn.User,
		Log: func(c remedies.Command) {
			select {
			case commands <- c:
			default: // The journal has it; the screen shows the newest.
			}
		},
	})
	return runner, commands
}

// wizard is the runner as the screen sees it.
type wizard struct{ *walk.Runner }

func (w wizard) Begin(ctx context.Context, f *model.Finding, article string) (ui.Walk, error) {
	return opened(w.Runner.Begin(ctx, f, article))
}

func (w wizard) Resume(ctx context.Context, id string) (ui.Walk, error) {
	return opened(w.Runner.Resume(ctx, id))
}

// opened keeps a nil walk from becoming an interface that is not nil.
func opened(w *walk.Walk, err error) (ui.Walk, error) {
	if err != nil {
		return nil, err
	}
	return w, nil
}

// addresses finds where the article of a finding can be read.
func addresses(articles *kb.Catalogue) func(*model.Finding) string {
	return func(f *model.Finding) string {
		for _, a := range articles.For(f.Signature) {
			if a.Address != "" {
				return a.Address
			}
		}
		return kb.Address(f.KB)
	}
}
