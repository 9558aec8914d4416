package print

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"vksmedic/model"
	"vksmedic/model/signature"
	"vksmedic/model/text"
	"vksmedic/ui/widget"
)

// narrowest is the width that the table is made for at least.
const narrowest = 80

func table(w io.Writer, sn *model.Snapshot, o Options) error {
	p := &printer{w: w, color: o.Color}
	found := sn.Findings()
	if len(found) == 0 {
		p.line("%s", calm(sn))
	} else {
		p.findings(found, sn, o.Width)
		p.line("")
		p.line("%s", headline(sn))
	}
	p.sources(sn)
	return p.err
}

// printer keeps the first error.
type printer struct {
	w     io.Writer
	err   error
	color bool
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// calm is what is said when nothing was found.
func calm(sn *model.Snapshot) string {
	s := "Nothing is flagged in " + counted(sn) + asOf(sn) + "."
	if len(sn.Clusters) == 0 {
		s = "Nothing is flagged: there is no cluster to look at" + asOf(sn) + "."
	}
	switch {
	case len(lost(sn)) > 0 && len(sn.Clusters) == 0:
		s = "Nothing can be said: " + whatWasLost(sn) + "."
	case len(lost(sn)) > 0:
		s = "Nothing is flagged in " + counted(sn) + asOf(sn) + ", but something was lost: " + whatWasLost(sn) + "."
	case sn.Dump || len(blind(sn)) == 0:
	case len(sn.Clusters) == 0:
		s = "Nothing can be said: not all that is needed could be read, and no cluster was seen."
	default:
		s = "Nothing is flagged in " + counted(sn) + asOf(sn) + ", but not all that is needed could be read."
	}
	return s
}

// whatWasLost names the first thing that was lost, and how many more there are.
func whatWasLost(sn *model.Snapshot) string {
	all := lost(sn)
	s := strings.TrimPrefix(string(all[0].Name), "file/") + ": " + strings.TrimSuffix(all[0].Detail, ".")
	if more := len(all) - 1; more > 0 {
		s += ", and " + strconv.Itoa(more) + " more"
	}
	return text.Clean(s)
}

func headline(sn *model.Snapshot) string {
	n, all := flagged(sn), len(sn.Findings())
	s := fmt.Sprintf("%s flagged", text.Plural(n, "finding"))
	if n == 0 {
		s = "nothing that needs anyone yet"
	}
	if more := all - n; more > 0 {
		s += fmt.Sprintf(", %d to watch", more)
	}
	return s + " in " + counted(sn) + asOf(sn) + "; -o json or -o markdown has the evidence"
}

func counted(sn *model.Snapshot) string {
	machines := 0
	for _, c := range sn.Clusters {
		machines += len(c.Machines)
	}
	return text.Plural(len(sn.Clusters), "cluster") + " with " + text.Plural(machines, "Machine")
}

func asOf(sn *model.Snapshot) string {
	switch {
	case !sn.Dump:
		return ""
	case sn.At.IsZero():
		return ", at an unknown time"
	default:
		return ", as of " + stamp(sn.At)
	}
}

// sign says the severity once more, for the eye.
func sign(s model.Severity) string {
	switch s {
	case model.Critical:
		return "✖"
	case model.Warning:
		return "▲"
	case model.Info:
		return "·"
	}
	return " "
}

func (p *printer) paint(s model.Severity, word string) string {
	if !p.color {
		return word
	}
	code := ""
	switch s {
	case model.Critical:
		code = "31"
	case model.Warning:
		code = "33"
	case model.Info:
		code = "2"
	}
	return "\x1b[" + code + "m" + word + "\x1b[0m"
}

type row struct {
	severity model.Severity
	cells    [4]string // severity, cluster, confidence, since.
	summary  string
}

func (p *printer) findings(found []*model.Finding, sn *model.Snapshot, width int) {
	rows := make([]row, 0, len(found))
	heads := [4]string{"SEVERITY", "CLUSTER", "CONFIDENCE", "SINCE"}
	widths := [4]int{}
	for i, h := range heads {
		widths[i] = ansi.StringWidth(h)
	}
	for _, f := range found {
		r := row{severity: f.Severity, summary: text.Clean(f.Summary)}
		r.cells = [4]string{sign(f.Severity) + " " + string(f.Severity), widget.CutMiddle(text.Clean(where(f)), 28), string(f.Confidence), text.Since(sn.At, f.Since)}
		for i, c := range r.cells {
			widths[i] = max(widths[i], ansi.StringWidth(c))
		}
		rows = append(rows, r)
	}
	used := 0
	for _, w := range widths {
		used += w + 2
	}
	width = limit(width)
	p.line("%s", strings.TrimRight(cells(heads, widths)+"FINDING", " "))
	for _, r := range rows {
		line := cells(r.cells, widths)
		summary := r.summary
		if width > 0 && used+ansi.StringWidth(summary) > width {
			summary = ansi.Truncate(summary, max(width-used, 8), "…")
		}
		if p.color {
			first := pad(r.cells[0], widths[0])
			line = p.paint(r.severity, first) + strings.TrimPrefix(line, first)
		}
		p.line("%s", strings.TrimRight(line+summary, " "))
	}
}

// limit is the width to write for: none for a file, and never less than the narrowest.
func limit(width int) int {
	if width <= 0 {
		return 0
	}
	return max(width, narrowest)
}

func cells(c [4]string, widths [4]int) string {
	var b strings.Builder
	for i, s := range c {
		b.WriteString(pad(s, widths[i]))
		b.WriteString("  ")
	}
	return b.String()
}

func pad(s string, w int) string {
	if n := w - ansi.StringWidth(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// where says what a finding is about.
func where(f *model.Finding) string {
	if signature.General(f.Signature) {
		return "Supervisor"
	}
	return clusterName(f.Cluster)
}

func clusterName(r model.ClusterRef) string {
	switch {
	case r.Name != "":
		return r.String()
	case r.Namespace != "":
		return r.Namespace + "/(unnamed)"
	}
	return "(no named cluster)"
}

// fewNames is how many sources are named before the reason; of more the reason comes first.
const fewNames = 3

// sources lists what could not be read, and nothing else: what is well needs no line.
func (p *printer) sources(sn *model.Snapshot) {
	for i, t := range troubles(sn) {
		if i == 0 {
			p.line("")
		}
		switch {
		case t.detail == "":
			p.line("%s  %s", t.state, t.list())
		case len(t.names) <= fewNames:
			p.line("%s  %s: %s", t.state, t.list(), t.detail)
		default:
			p.line("%s  %s: %s", t.state, text.Plural(len(t.names), "source"), t.detail)
			p.line("%s  %s", strings.Repeat(" ", len(t.state)), t.list())
		}
	}
}
