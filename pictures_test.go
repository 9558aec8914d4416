//go:build pictures

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"vksmedic/testdata/labtest"
)

// TestPictures takes the README's pictures from the running program on the lab: make pictures.
func TestPictures(t *testing.T) {
	lab := labtest.Start(t)
	x := start(t, 100, 30, t.TempDir(), "--kubeconfig", lab.Kubeconfig("administrator"))
	// A drain is flagged two minutes after it began.
	x.WaitFor("✖ team-a/web", "agent blocks drain", "budget db")
	picture(t, x, "fleet")
	toWizardFrom(x, "team-a/web", func(name string) { picture(t, x, name) })
	x.Press("enter")
	x.WaitFor("Which clusters shall the rule reach?")
	x.Press("enter")
	x.WaitFor("behavior: Skip", "read to the end")
	picture(t, x, "preview")
	readOn(x)
	x.Press("a")
	onward(x, "▸ 4 Wait", "✔ 4 Wait")
	x.WaitFor("✔ Drain the node")
	picture(t, x, "wait")
}

// toWizardFrom is toWizard with a stop at each screen.
func toWizardFrom(x *screen, cluster string, stop func(string)) {
	x.Press("/", cluster, "enter", "enter")
	x.WaitFor(cluster, "MACHINE", "kube-cert-agent")
	stop("cluster")
	x.Press("enter")
	x.WaitFor("the Machine is being deleted", "410900")
	stop("evidence")
	x.Press("enter")
	x.WaitFor(agentTitle, "goes on")
}

// picture turns the screen, with its colours, into testdata/pictures/NAME.svg.
func picture(t *testing.T, x *screen, name string) {
	t.Helper()
	out := filepath.Join("testdata", "pictures", name+".svg")
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "github.com/charmbracelet/freeze@v0.2.2", "--language", "ansi", "--output", out,
		"--background", "#171717", "--padding", "20", "--border.radius", "8", "--font.family", "monospace")
	cmd.Stdin = bytes.NewBufferString(x.Colours())
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("freeze: %v\n%s", err, b)
	}
}
