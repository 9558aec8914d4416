package widget

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

func TestArm(t *testing.T) {
	written := int64(5)
	now := func(_ time.Duration, then func(time.Time) tea.Msg) tea.Cmd {
		return func() tea.Msg { return then(time.Time{}) }
	}
	run := func(a *Arm, cmd tea.Cmd) tea.Cmd {
		t.Helper()
		if cmd == nil {
			t.Fatal("nothing to wait for")
		}
		return a.Step(cmd().(ArmMsg), written, now)
	}
	a := &Arm{}
	cmd := a.Lay("t1", 0, 10, 20, written)
	cmd = run(a, cmd)
	written++
	run(a, cmd)
	if a.Armed("t1") {
		t.Error("armed although half of it was never on the screen")
	}
	stale := ArmMsg{a.turn}
	if a.Lay("t1", 15, 20, 20, written) != nil || a.Unread() == 0 {
		t.Error("a jump to the end reads what lies between")
	}
	// Two pages turned before a frame was written: the one between was never seen.
	run(a, a.Lay("t1", 8, 15, 20, written))
	run(a, a.Lay("t1", 13, 20, 20, written))
	written++
	if a.Step(ArmMsg{a.turn}, written, now); a.Armed("t1") || a.Unread() != 10 {
		t.Errorf("a page that no frame held counts as read: %+v", a)
	}
	cmd = a.Lay("t1", 10, 20, 20, written)
	if a.Step(stale, written+1, now); a.state != armLaid {
		t.Error("a message of before moved it on")
	}
	cmd = run(a, cmd)
	if a.Armed("t1") {
		t.Error("armed before it was written")
	}
	cmd = run(a, cmd) // Nothing was written meanwhile: it waits on.
	if a.Armed("t1") || a.Mark() == " …" {
		t.Error("armed although nothing was written, or nothing to write")
	}
	written++
	run(a, cmd)
	if !a.Armed("t1") || a.Armed("t2") {
		t.Errorf("%+v", a)
	}
	if a.Lay("t1", 10, 20, 20, written) != nil || !a.Armed("t1") {
		t.Error("drawing it again disarms it")
	}
	if a.Cover(); !a.Armed("t1") {
		t.Error("another screen over it disarms it")
	}
	// What waits while another screen is over it begins anew; that screen's frames are not its.
	cmd = a.Lay("t3", 0, 20, 20, written)
	cmd = run(a, cmd)
	a.Cover()
	written++
	if run(a, cmd); a.Armed("t3") || a.OnScreen(written) {
		t.Error("armed by the frame of another screen")
	}
	cmd = run(a, a.Lay("t3", 0, 20, 20, written))
	written++
	if run(a, cmd); !a.Armed("t3") {
		t.Errorf("it never arms again: %+v", a)
	}
	if a.Lay("t2", 0, 20, 20, written); a.Armed("t1") || a.Armed("t2") {
		t.Error("another preview is armed at once")
	}
	if a.Lay("", 0, 0, 0, written); a.Armed("") {
		t.Error("nothing is armed")
	}
}

func TestCutting(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want string
	}{
		{"web-cp-x7k2p", 20, "web-cp-x7k2p"},
		{"web-md-0-6d8f9-x7k2p", 16, "web-md-0-…-x7k2p"},
		{"averyveryverylongname", 11, "avery…gname"},
		{"abc", 2, "a…"},
		{"日本語クラスター名前", 9, "日本…名前"},
	} {
		got := CutMiddle(c.in, c.w)
		if got != c.want || Width(got) > c.w {
			t.Errorf("CutMiddle(%q, %d) = %q (%d cells), want %q", c.in, c.w, got, Width(got), c.want)
		}
	}
	if got := strings.Join(Wrap("ask for get on packageinstalls in vmware-system-vkg, or look", 30), "|"); got != "ask for get on packageinstalls|in vmware-system-vkg, or look" {
		t.Errorf("Wrap: %q", got)
	}
	for _, l := range WrapHard("          kubernetes.io/metadata.name: pinniped-concierge-with-a-long-name", 40) {
		if Width(l) > 40 {
			t.Errorf("WrapHard: %q", l)
		}
	}
}

func TestColumns(t *testing.T) {
	cols := []Column{{Sign: true}, {Least: 5}, {Right: true}, {Extra: 2}, {Extra: 1}}
	for _, c := range []struct {
		w    int
		want string
	}{{60, "[1 10 3 8 6]"}, {30, "[1 10 3 0 6]"}, {20, "[1 10 3 0 0]"}, {14, "[1 7 3 0 0]"}} {
		if got := fmt.Sprint(fit(cols, []int{1, 10, 3, 8, 6}, c.w)); got != c.want {
			t.Errorf("in %d cells: %s, want %s", c.w, got, c.want)
		}
	}
	// A text without end in a column that does not give way leaves room for the others.
	if got := fmt.Sprint(fit(cols, []int{1, 10, 1000, 8, 6}, 80)); got != "[1 10 24 8 6]" {
		t.Errorf("an endless text: %s", got)
	}
}
