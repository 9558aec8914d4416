package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"vksmedic/model"
)

// TestAgeOfWhatIsKnown is that of the Supervisor's objects where these are older than the
// look into the cluster.
func TestAgeOfWhatIsKnown(t *testing.T) {
	inside := model.Source{Name: "workload/team-a/web/nodes", State: model.SourceOK, Seen: ago(3 * time.Second)}
	c := &model.Cluster{Ref: model.ClusterRef{Namespace: "team-a", Name: "web"}, Workload: &model.Workload{NodesSource: inside}}
	stale := func(name string) model.Source {
		return model.Source{Name: name, State: model.SourceStale, Seen: ago(4 * time.Minute)}
	}
	for _, x := range []struct {
		source model.Source
		want   string
	}{
		{model.Source{Name: "supervisor/machines", State: model.SourceOK, Live: true, Seen: ago(time.Hour)}, "3s"},
		{stale("supervisor/events"), "3s"},
		{stale("supervisor/machines"), "4m"},
		{stale("supervisor/machines@team-a"), "4m"},
		{stale("supervisor/machines@team-b"), "3s"},
		{model.Source{Name: "supervisor/clusters", State: model.SourceForbidden}, "3s"},
	} {
		if got := knownAge(&model.Snapshot{Sources: []model.Source{x.source}}, c, clock()); got != x.want {
			t.Errorf("%s %s: %s, want %s", x.source.Name, x.source.State, got, x.want)
		}
	}
}

// TestLightBackground is known from the environment where the terminal does not answer.
func TestLightBackground(t *testing.T) {
	for _, c := range []struct {
		env   string
		light bool
	}{{"", false}, {"0;15", true}, {"0;default;15", true}, {"0;7", true}, {"15;0", false}, {"15", true}, {"junk;", false}} {
		s := newDesk(t, 80, 24, Options{})
		s.send(tea.EnvMsg{"COLORFGBG=" + c.env})
		if s.m.dark == c.light {
			t.Errorf("%q: dark %v", c.env, s.m.dark)
		}
		s.send(tea.BackgroundColorMsg{Color: ansi.Black})
		s.send(tea.EnvMsg{"COLORFGBG=0;15"})
		if !s.m.dark {
			t.Errorf("%q: the environment counts more than the terminal's own answer", c.env)
		}
	}
}

// TestWhatNarrowsIsSaid, however full the screen is.
func TestWhatNarrowsIsSaid(t *testing.T) {
	s := newDesk(t, 80, 24, Options{})
	s.send(snapshotMsg{picture()})
	s.keys("/", "a", "enter", "G")
	if got := s.screen(); !strings.Contains(got, "filter a: ") || !strings.Contains(got, "›✔ team-e/app-37") {
		t.Error(got)
	}
}
