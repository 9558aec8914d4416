package print

import (
	"io"
	"strings"

	"vksmedic/model"
	"vksmedic/model/text"
)

func markdown(w io.Writer, sn *model.Snapshot) error {
	p := &printer{w: w}
	found := sn.Findings()
	p.line("# vksmedic scan")
	p.line("")
	if len(found) == 0 {
		p.line("%s", escape(calm(sn)))
	} else {
		p.line("%s in %s%s.", escape(text.Plural(len(found), "finding")), counted(sn), asOf(sn))
	}
	for _, f := range found {
		p.finding(f)
	}
	p.unread(sn)
	return p.err
}

func (p *printer) finding(f *model.Finding) {
	p.line("")
	p.line("## %s: %s", escape(where(f)), escape(f.Summary))
	p.line("")
	p.line("- signature: `%s`, %s, %s", f.Signature, f.Confidence, f.Severity)
	if !f.Since.IsZero() {
		p.line("- since: %s", stamp(f.Since))
	}
	if f.KB != "" {
		p.line("- Broadcom KB %s", f.KB)
	}
	if len(f.Subjects) > 0 {
		names := make([]string, 0, len(f.Subjects))
		for _, s := range f.Subjects {
			names = append(names, code(s.String()))
		}
		p.line("- about: %s", strings.Join(names, ", "))
	}
	p.line("")
	p.line("| | check | what was read | where |")
	p.line("|---|---|---|---|")
	for _, c := range f.Evidence {
		detail := c.Detail
		if c.Verdict == model.Unknown && c.Settle != "" {
			detail += ". To settle it: " + c.Settle
		}
		p.line("| %s | %s | %s | %s |", c.Verdict, escape(c.Title), escape(detail), escape(c.Source))
	}
	if len(f.Advice) > 0 {
		p.line("")
		for _, a := range f.Advice {
			p.line("- %s", escape(a))
		}
	}
}

// unread lists the sources that are not well.
func (p *printer) unread(sn *model.Snapshot) {
	for i, t := range troubles(sn) {
		if i == 0 {
			p.line("")
			p.line("## Not read, or only in part")
			p.line("")
		}
		p.line("- %s: %s", code(t.list()), escape(strings.TrimSpace(string(t.state)+" "+t.detail)))
	}
}

// escape keeps text of a cluster from becoming Markdown or HTML.
func escape(s string) string {
	var b strings.Builder
	for _, r := range text.Clean(s) {
		if strings.ContainsRune("\\`*_{}[]<>#|~!&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// code writes a name as code; backticks cannot be escaped in it.
func code(s string) string {
	return "`" + strings.ReplaceAll(text.Clean(s), "`", "'") + "`"
}
