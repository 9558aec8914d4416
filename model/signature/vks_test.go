package signature

import (
	"testing"

	"vksmedic/model"
)

func TestVKSVersion(t *testing.T) {
	for _, c := range []struct {
		vks, atLeast string
		want         model.Verdict
	}{
		{"3.6.1+v1.35", "", model.Yes}, {"3.3.0", "", model.Yes}, {"v3.2.0", "", model.No}, {"4.0.0", "", model.Yes},
		{"", "3.4.0", model.Yes}, {"", "3.1.0", model.Unknown}, {"", "", model.Unknown}, {"odd", "", model.Unknown},
	} {
		w := newDraining(t)
		w.says(named).agent()
		w.sn.Supervisor.VKS, w.sn.Supervisor.VKSAtLeast = c.vks, c.atLeast
		f := w.judge()[KubeCertAgentBlocksDrain]
		if f == nil {
			t.Fatal("not found: the version only supports")
		}
		if got := evidence(f, "vks-version"); got.Verdict != c.want || got.Detail == "" {
			t.Errorf("%q, at least %q: %s (%s), want %s", c.vks, c.atLeast, got.Verdict, got.Detail, c.want)
		}
	}
}
