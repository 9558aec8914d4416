package ui

import (
	"context"
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
	stale := func(name model.SourceName) model.Source {
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

// TestListsCanBeFiltered: what is looked for stays, with the heading above it.
func TestListsCanBeFiltered(t *testing.T) {
	s := newDesk(t, 80, 24, Options{})
	s.send(snapshotMsg{picture()})
	s.keys("enter", "/", "x", "7", "k", "2", "p", "enter")
	got := s.screen()
	for _, want := range []string{"MACHINE", "web-cp-x7k2p", "filter x7k2p: 2 lines", "esc shows all"} {
		if !strings.Contains(got, want) {
			t.Errorf("not there: %s\n%s", want, got)
		}
	}
	if strings.Contains(got, "web-cp-9wq4m") {
		t.Errorf("not filtered\n%s", got)
	}
	s.keys("j", "enter")
	if got := s.screen(); !strings.Contains(got, "Machine web-cp-x7k2p   Deleting") {
		t.Errorf("the row that is left does not open\n%s", got)
	}
	s.keys("esc", "esc")
	if got := s.screen(); !strings.Contains(got, "web-cp-9wq4m") || strings.Contains(got, "filter x7k2p") {
		t.Errorf("esc does not show all again\n%s", got)
	}
	s.keys(":", "s", "o", "u", "r", "enter", "/", "v", "k", "s", "enter")
	if got := s.screen(); !strings.Contains(got, "supervisor/vks") || strings.Contains(got, "supervisor/clusters") {
		t.Errorf("sources\n%s", got)
	}
}

// TestTitle says where one is, and whether one can write.
func TestTitle(t *testing.T) {
	for readOnly, want := range map[string]string{"": "read-write", "started with --read-only": "read-only"} {
		w := where()
		w.ReadOnly = readOnly
		s := newDesk(t, 80, 24, Options{Where: w})
		s.send(snapshotMsg{picture()})
		for _, part := range []string{"prod-sv01", "ana@vsphere.local", "10.0.0.2:6443", want, "1 critical"} {
			if got := s.m.title(); !strings.Contains(got, part) {
				t.Errorf("title %q lacks %s", got, part)
			}
		}
	}
}

// TestBudgetsCanBeOpened where they were read, and say whether they hold.
func TestBudgetsCanBeOpened(t *testing.T) {
	sn := picture()
	c := sn.Cluster(model.ClusterRef{Namespace: "team-a", Name: "web"})
	c.Workload.Budgets = []model.Budget{
		{Meta: model.Meta{Kind: "PodDisruptionBudget", Namespace: "shop", Name: "db"}, DesiredHealthy: 1, ExpectedPods: 1, CurrentHealthy: 1},
		{Meta: model.Meta{Namespace: "shop", Name: "cart"}, DisruptionsAllowed: 1, DesiredHealthy: 1, ExpectedPods: 2, CurrentHealthy: 2},
	}
	s := newDesk(t, 120, 40, Options{Reader: answering(func(context.Context, Target, bool) (string, error) { return "", nil })})
	s.send(snapshotMsg{sn})
	s.keys("enter", "/", "b", "u", "d", "g", "enter")
	got := s.screen()
	for _, want := range []string{"shop/db   lets no pod go: needs 1 of 1, has 1", "shop/cart   lets 1 pod go: needs 1 of 2, has 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("not there: %s\n%s", want, got)
		}
	}
	s.keys("j", "y")
	if got := s.screen(); !strings.Contains(got, "YAML PodDisruptionBudget shop/cart in team-a/web") {
		t.Error(got)
	}
}

// TestLogInAgain: a login that is not taken any more is said on every screen, with what renews it.
func TestLogInAgain(t *testing.T) {
	sn := picture()
	const command = "kubectl vsphere login --server=10.0.0.2 --vsphere-username ana@vsphere.local"
	sn.Sources = append(sn.Sources, model.Source{Name: "supervisor/login", State: model.SourceStale,
		Detail: "the login of ana@vsphere.local expired at 02:00 (10.0.0.2 says 401 Unauthorized); log in again in another terminal: " + command})
	s := newDesk(t, 80, 24, Options{})
	s.send(snapshotMsg{sn})
	for range 2 {
		if got := s.screen(); !strings.Contains(got, command) || !strings.Contains(got, "log in again") {
			t.Error(got)
		}
		s.keys("enter")
	}
	s.send(snapshotMsg{picture()})
	if got := s.screen(); strings.Contains(got, "log in again") {
		t.Error(got)
	}
}

// TestAgesGrow: a column is as wide as what stands in it now, not when the snapshot came.
func TestAgesGrow(t *testing.T) {
	at := clock()
	s := newDesk(t, 80, 24, Options{Now: func() time.Time { return at }})
	sn := &model.Snapshot{At: at, Clusters: []*model.Cluster{stuck()}}
	c := sn.Clusters[0]
	for _, m := range c.Machines {
		if !m.Deleting.IsZero() {
			m.Deleting, m.DrainStarted = at.Add(-9*time.Second), at.Add(-9*time.Second)
			for i := range m.Conditions.New {
				m.Conditions.New[i].Since = at.Add(-9 * time.Second)
			}
		}
	}
	s.send(snapshotMsg{sn})
	if got := s.screen(); !strings.Contains(got, "drain 9s") {
		t.Fatal(got)
	}
	at = at.Add(2 * time.Second)
	s.send(tickMsg(at))
	if got := s.screen(); !strings.Contains(got, "drain 11s") {
		t.Error(got)
	}
}

// TestSupervisorAsAWhole: what is found about all of it stands above the clusters, opens its
// evidence, and leaves the object that it is about to be read.
func TestSupervisorAsAWhole(t *testing.T) {
	sn := picture()
	sn.General = []model.Finding{{Signature: "endpoints-privilege-missing", Confidence: model.Confirmed, Severity: model.Critical,
		Summary: "VM Operator may not patch Endpoints", Subjects: []model.ObjectRef{{Kind: "ClusterRole", Name: "vmoperator"}},
		Evidence: []model.Check{{Name: "patch-missing", Title: "the verb patch is missing", Verdict: model.Yes, Source: "ClusterRole vmoperator"}}}}
	s := newDesk(t, 80, 24, Options{Reader: answering(func(context.Context, Target, bool) (string, error) { return "", nil })})
	s.send(snapshotMsg{sn})
	got := s.screen()
	general, web := strings.Index(got, "Supervisor  VM Operator may not patch Endpoints"), strings.Index(got, "team-a/web")
	if general < 0 || general > web || !strings.Contains(got, "more in good health") {
		t.Fatal(got)
	}
	s.keys("y")
	if got := s.screen(); !strings.Contains(got, "YAML ClusterRole vmoperator") {
		t.Error(got)
	}
	s.keys("esc", "enter")
	if got := s.screen(); !strings.Contains(got, "the verb patch is missing") {
		t.Error(got)
	}
	sn = picture()
	s.send(snapshotMsg{sn})
	if got := s.screen(); !strings.Contains(got, "this is not found any more, and nothing else is flagged here") {
		t.Error(got)
	}
	// Also where no cluster can be seen.
	sn.Clusters, sn.General = nil, []model.Finding{{Signature: "endpoints-privilege-missing", Severity: model.Critical, Summary: "VM Operator may not patch Endpoints"}}
	s.keys("esc")
	s.send(snapshotMsg{sn})
	if got := s.screen(); !strings.Contains(got, "Supervisor  VM Operator may not") || !strings.Contains(got, "no clusters here") || !strings.Contains(got, "enter open") {
		t.Error(got)
	}
}

// TestNothingSeenIsNotNothingThere: where Clusters cannot be read, nobody says that there are none.
func TestNothingSeenIsNotNothingThere(t *testing.T) {
	for _, c := range []struct {
		name    string
		sources []model.Source
		want    []string
		not     string
	}{
		{"nobody answers", []model.Source{
			{Name: "supervisor/clusters", State: model.SourceUnreachable, Detail: "10.0.0.2:6443 does not answer in time; check the network or VPN"},
			{Name: "supervisor/machines", State: model.SourceUnreachable, Detail: "10.0.0.2:6443 does not answer in time; check the network or VPN"},
			{Name: "supervisor/vks", State: model.SourceNotServed, Detail: "no PackageInstalls"},
		}, []string{"no clusters can be seen here", "✖ unreachable  clusters and 1 more", "check the network or VPN", "· not served  vks"}, "no clusters here"},
		{"there are none", []model.Source{
			{Name: "supervisor/clusters@team-a", State: model.SourceOK, Live: true},
			{Name: "supervisor/vks", State: model.SourceForbidden, Detail: "ask for get on it"},
		}, []string{"no clusters here", "? forbidden  vks"}, "can be seen"},
		{"not asked yet", []model.Source{{Name: "supervisor/clusters", State: model.SourceWaiting}}, []string{"waiting for the first answer: 1 source asked"}, "no clusters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newDesk(t, 80, 24, Options{})
			s.send(snapshotMsg{&model.Snapshot{At: clock(), Sources: c.sources}})
			got := s.screen()
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("not there: %s\n%s", w, got)
				}
			}
			if strings.Contains(got, c.not) {
				t.Errorf("says %s\n%s", c.not, got)
			}
		})
	}
}
