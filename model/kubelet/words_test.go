package kubelet

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const both = "[container runtime is down, PLEG is not healthy: pleg was last seen active 7m29s ago; threshold is 3m0s]"

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		in     string
		down   bool
		both   bool
		just   bool
		silent time.Duration
	}{
		"brackets":                    {both, true, true, false, 7*time.Minute + 29*time.Second},
		"no brackets":                 {strings.Trim(both, "[]"), true, true, false, 7*time.Minute + 29*time.Second},
		"the closing bracket damaged": {strings.Replace(both, "]", "[", 1), true, true, false, 7*time.Minute + 29*time.Second},
		"wrapped inside a word":       {strings.Replace(both, "last", "la\n  st", 1), true, true, false, 7*time.Minute + 29*time.Second},
		"wrapped with a return":       {strings.ReplaceAll(both, " ", "\r\n\t"), true, true, false, 7*time.Minute + 29*time.Second},
		"comma without a space":       {"container runtime is down,PLEG is not healthy: pleg was last seen active 3m1.5s ago; threshold is 3m0s", true, true, false, 3*time.Minute + 1500*time.Millisecond},
		"incident report":             {"KubeletNotReady: container runtime is down, PLEG is not healthy:\n  pleg was last seen active 7m18.7s ago", true, true, false, 7*time.Minute + 18700*time.Millisecond},
		"the log's form":              {`E kubelet.go:2646 "Skipping pod synchronization" err="` + both + `"`, true, true, false, 7*time.Minute + 29*time.Second},
		"with the network":            {strings.TrimSuffix(both, "]") + ", container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized]", true, true, false, 7*time.Minute + 29*time.Second},
		"on the Machine":              {"* Node.Ready: " + both, true, true, false, 7*time.Minute + 29*time.Second},
		"in the Machine's summary":    {"* NodeHealthy:\n  * Node.Ready: " + both, true, true, false, 7*time.Minute + 29*time.Second},
		"runtime alone":               {"container runtime is down", true, false, false, 0},
		"PLEG alone, hours":           {"PLEG is not healthy: pleg was last seen active 16h17m50.791825508s ago; threshold is 3m0s", true, false, false, 16*time.Hour + 17*time.Minute + 50791825508*time.Nanosecond},
		"evented PLEG":                {"EventedPLEG is not healthy: EventedPLEG: pleg event channel capacity is full with 1001 events", true, false, false, 0},
		"runtime and a PLEG that never listed": {
			"[container runtime is down, PLEG is not healthy: pleg has yet to be successful]", true, false, false, 0},
		"just started":            {"[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]", true, false, true, 0},
		"just started, no comma":  {"[container runtime status check may not have completed yet PLEG is not healthy: pleg has yet to be successful]", true, false, true, 0},
		"just started, old, stop": {"container runtime status check may not have completed yet.", false, false, true, 0},
		"started long ago": {
			"[container runtime status check may not have completed yet, PLEG is not healthy: pleg was last seen active 16m6.559177445s ago; threshold is 3m0s]", true, false, false, 16*time.Minute + 6559177445*time.Nanosecond},
		"release 1.2":            {"container runtime is down,network not configured correctly", true, false, false, 0},
		"network only":           {"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized", false, false, false, 0},
		"runtime says not ready": {"container runtime not ready: RuntimeReady=false reason:ContainerdNotReady message:x", false, false, false, 0},
		"silent":                 {"Kubelet stopped posting node status.", false, false, false, 0},
		"ready":                  {"kubelet is posting ready status", false, false, false, 0},
		"empty":                  {"", false, false, false, 0},
		"the older Machine text": {"Node condition Ready is False. ", false, false, false, 0},
		"a duration that is none": {
			"container runtime is down, PLEG is not healthy: pleg was last seen active soon ago", true, true, false, 0},
	} {
		w := Parse(c.in)
		if w.Down() != c.down || w.Both() != c.both || w.JustStarted() != c.just || w.PLEGSilent != c.silent {
			t.Errorf("%s: down %v, both %v, just started %v, silent %v; want %v %v %v %v", name, w.Down(), w.Both(), w.JustStarted(), w.PLEGSilent, c.down, c.both, c.just, c.silent)
		}
	}
}

func TestParseTheRest(t *testing.T) {
	w := Parse("* Node.AllConditions: Kubelet stopped posting node status.")
	if !w.Stopped || w.NeverPosted || w.Text != "Kubelet stopped posting node status." {
		t.Errorf("stopped: %+v", w)
	}
	if w := Parse("Kubelet never posted node status."); !w.NeverPosted {
		t.Errorf("never: %+v", w)
	}
	if w := Parse("[container runtime not ready: RuntimeReady=false reason:X message:y, container runtime network not ready: NetworkReady=false reason:Z message:a]"); !w.RuntimeNotReady || !w.NetworkNotReady || w.RuntimeDown {
		t.Errorf("not ready: %+v", w)
	}
	if w := Parse("* Node.Ready: a\x1b[31mb\n* Node.MemoryPressure: c"); w.Text != "ab" {
		t.Errorf("text: %q", w.Text)
	}
}

func TestParseIsBounded(t *testing.T) {
	w := Parse(strings.Repeat("container runtime is down, ", 1<<18))
	if !w.RuntimeDown || len(w.Text) > maxText+len("…") {
		t.Errorf("%d bytes of text", len(w.Text))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{both, "* NodeHealthy:\n  * Node.Ready: " + both, "pleg was last seen active 99999999999h ago", "Kubelet stopped posting node status.", "", "* Node.Ready: ", "pleg was last seen active -1s ago"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		w := Parse(s)
		if len(w.Text) > maxText+len("…") || !utf8.ValidString(w.Text) {
			t.Errorf("text %q", w.Text)
		}
		if w.PLEGSilent < 0 || w.Both() && (!w.RuntimeDown || !w.PLEG) || w.JustStarted() && w.RuntimeDown {
			t.Errorf("%+v", w)
		}
		if strings.ContainsFunc(w.Text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("control characters in %q", w.Text)
		}
	})
}
