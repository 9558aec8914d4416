package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vksmedic/model"
	"vksmedic/remedies"
)

func elsewhere() remedies.Pending {
	return remedies.Pending{ID: "w9", Title: "Let the drain skip the agent", Cluster: model.ClusterRef{Namespace: "team-x", Name: "far"}, Step: "Wait for the Machine to go",
		Last: ago(50 * time.Hour), Elsewhere: true, Server: "https://10.9.9.2:6443", Context: "lab-sv02", Refused: "it belongs to another Supervisor"}
}

func older() remedies.Pending {
	return remedies.Pending{ID: "w3", Title: "Let the drain skip the agent", Cluster: model.ClusterRef{Namespace: "team-a", Name: "batch"}, Last: ago(30 * 24 * time.Hour),
		Refused: "it was begun by an older vksmedic and cannot be gone on with", Wrote: []remedies.Wrote{
			{Object: "MachineDrainRule team-a/first", How: "create", At: ago(30 * 24 * time.Hour), TakeBack: "kubectl --context prod-sv01 delete -n team-a machinedrainrule first"},
			{Object: "MachineDrainRule team-a/second", How: "update", At: ago(29 * 24 * time.Hour), TakeBack: "kubectl --context prod-sv01 replace -f - <<'EOF'\nkind: MachineDrainRule\nEOF"},
			{Object: "Machine team-a/gone", How: "delete", At: ago(29 * 24 * time.Hour)},
		}}
}

// TestWalksOfAnotherSupervisor do not come up at the start, and are told in the list.
func TestWalksOfAnotherSupervisor(t *testing.T) {
	s := rescue()
	s.pending = []remedies.Pending{elsewhere()}
	d := newDesk(t, 120, 40, Options{Wizard: s})
	d.send(snapshotMsg{picture()})
	d.run(d.m.askPending(true))
	if strings.Contains(d.screen(), "left before their end") {
		t.Fatalf("a walk of another Supervisor comes up at the start\n%s", d.screen())
	}
	d.keys(":", "w", "a", "enter")
	wants(t, d, "left before their end", "of another Supervisor: https://10.9.9.2:6443, context lab-sv02")
	d.keys("enter")
	wants(t, d, "it belongs to another Supervisor", "left before their end")
	d.keys("esc")

	s.pending = append(s.pending, older())
	d.run(d.m.askPending(true))
	wants(t, d, "left before their end", "team-a/batch")
	if strings.Contains(d.screen(), "team-x/far") {
		t.Error(d.screen())
	}
}

// TestOwnOpenWalk is called open in this window, and enter leads back to it.
func TestOwnOpenWalk(t *testing.T) {
	s := rescue()
	d := walked(t, s)
	s.pending = []remedies.Pending{{ID: "w1", Title: "Let the drain skip the agent", Cluster: model.ClusterRef{Namespace: "team-a", Name: "web"}, Open: true,
		Refused: "another vksmedic on this machine walks this already"}}
	d.keys(":", "w", "a", "enter")
	wants(t, d, "open in this window")
	if strings.Contains(d.screen(), "another vksmedic") {
		t.Error(d.screen())
	}
	d.keys("X")
	wants(t, d, "leave it first")
	d.keys("enter")
	wants(t, d, "2 agents in pinniped-concierge")
	if len(d.m.stack) != 4 || s.left != 0 {
		t.Errorf("%d screens, left %d times", len(d.m.stack), s.left)
	}
}

// TestWhatAWalkWrote is shown where it cannot be gone on with, with what takes it back.
func TestWhatAWalkWrote(t *testing.T) {
	s := rescue()
	s.pending = []remedies.Pending{older()}
	d := newDesk(t, 120, 40, Options{Wizard: s})
	d.send(snapshotMsg{picture()})
	d.run(d.m.askPending(true))
	wants(t, d, "begun by an older vksmedic", "wrote: create MachineDrainRule team-a/first", "2026-02-12 03:26:00Z",
		"$ kubectl --context prod-sv01 delete -n team-a machinedrainrule first", "nothing takes this back")
	for _, c := range []struct{ key, want string }{
		{"", "kubectl --context prod-sv01 replace -f - <<'EOF'\nkind: MachineDrainRule\nEOF\nkubectl --context prod-sv01 delete -n team-a machinedrainrule first"},
		{"j", "kubectl --context prod-sv01 delete -n team-a machinedrainrule first"},
		{"j", "kubectl --context prod-sv01 replace -f - <<'EOF'\nkind: MachineDrainRule\nEOF"},
		{"j", ""},
	} {
		if c.key != "" {
			d.keys(c.key)
		}
		v := d.m.top().(*walks)
		if got := takeBack(v.chosen()); got != c.want {
			t.Errorf("copies %q, want %q", got, c.want)
		}
	}
	d.keys("c")
	wants(t, d, "there is no command to copy")
}

// TestPutAway needs a key of its own and a word typed; enter alone does nothing of the kind.
func TestPutAway(t *testing.T) {
	s := rescue()
	s.pending = []remedies.Pending{older(), elsewhere()}
	d := newDesk(t, 120, 40, Options{Wizard: s})
	d.send(snapshotMsg{picture()})
	d.keys(":", "w", "a", "enter")
	for _, keys := range [][]string{{"enter"}, {"X", "enter"}, {"X", "n", "o", "enter"}, {"X", "y", "e", "s", "esc"}, {"X", "esc"}} {
		d.keys(keys...)
		if len(s.forgot) > 0 {
			t.Fatalf("%v put %v away", keys, s.forgot)
		}
	}
	d.keys("X", "y", "e", "s", "enter")
	if !slices.Equal(s.forgot, []string{"w3"}) {
		t.Fatalf("put away: %v", s.forgot)
	}
	wants(t, d, "team-x/far", "left before their end")
	if strings.Contains(d.screen(), "team-a/batch") {
		t.Error(d.screen())
	}
	d.keys("X", "y", "e", "s", "enter")
	wants(t, d, "no fix was left before its end")
}

// TestOffers asks which article where there are several, and says whose each is.
func TestOffers(t *testing.T) {
	s := rescue()
	s.offers = []remedies.Offer{
		{ID: "kube-cert-agent-blocks-drain", Title: "Let the drain skip the agent", KB: "410900", Address: "https://knowledge.broadcom.com/external/article/410900"},
		{ID: "our-way", Title: "Call the agent's owners first", From: "/etc/vksmedic/articles"},
	}
	d := newDesk(t, 120, 40, Options{Wizard: s})
	d.send(snapshotMsg{picture()})
	d.keys("enter", "enter", "enter")
	wants(t, d, "Several articles are for this", "built in · KB 410900", "Call the agent's owners first", "from /etc/vksmedic/articles")
	if len(s.began) > 0 {
		t.Fatalf("began %v", s.began)
	}
	d.keys("j", "enter")
	wants(t, d, "2 agents in pinniped-concierge")
	if !slices.Equal(s.began, []string{"our-way"}) {
		t.Errorf("began %v", s.began)
	}
	d.keys("esc")
	wants(t, d, "no MachineDrainRule lets it pass")
	s.offers = []remedies.Offer{}
	d.keys("enter")
	wants(t, d, "there is no article to walk for this")
	if len(s.began) != 1 {
		t.Errorf("began %v", s.began)
	}
}

// TestForgetFails says so, and keeps the list.
func TestForgetFails(t *testing.T) {
	s := failingForget{rescue()}
	s.pending = []remedies.Pending{older()}
	d := newDesk(t, 120, 40, Options{Wizard: s})
	d.send(snapshotMsg{picture()})
	d.keys(":", "w", "a", "enter", "X", "y", "e", "s", "enter")
	wants(t, d, "the disk is full", "team-a/batch")
}

type failingForget struct{ *script }

func (failingForget) Forget(string) error { return errors.New("the disk is full") }
