package print

import (
	"encoding/json"
	"io"
	"time"

	"vksmedic/model"
	"vksmedic/model/text"
)

// APIVersion and Kind stand at the top of the JSON.
const (
	APIVersion = "vksmedic/v1"
	Kind       = "FindingList"
)

// list is the JSON that scan prints. The order of the fields is that of the output.
type list struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	AsOf       string        `json:"asOf"` // empty where a dump holds no time.
	Findings   []findingJSON `json:"findings"`
	Sources    []sourceJSON  `json:"sources"`
}

type findingJSON struct {
	Signature  string            `json:"signature"`
	Confidence model.Confidence  `json:"confidence"`
	Severity   model.Severity    `json:"severity"`
	Cluster    model.ClusterRef  `json:"cluster"`
	Subjects   []model.ObjectRef `json:"subjects"`
	Summary    string            `json:"summary"`
	KB         string            `json:"kb"`
	Article    string            `json:"article"`
	Evidence   []evidenceJSON    `json:"evidence"`
	// Causes are the findings of the same cluster that this one brings about, CausedBy those that
	// bring it about.
	Causes   []model.Link `json:"causes,omitempty"`
	CausedBy []model.Link `json:"causedBy,omitempty"`
}

type evidenceJSON struct {
	Check   string        `json:"check"`
	Verdict model.Verdict `json:"verdict"`
	Detail  string        `json:"detail"`
	Source  string        `json:"source"`
}

type sourceJSON struct {
	Name   string            `json:"name"`
	State  model.SourceState `json:"state"`
	Age    string            `json:"age"` // empty where it was never seen.
	Detail string            `json:"detail"`
}

func printJSON(w io.Writer, sn *model.Snapshot, o Options) error {
	out := list{APIVersion: APIVersion, Kind: Kind, AsOf: stamp(sn.At), Findings: []findingJSON{}, Sources: []sourceJSON{}}
	for _, f := range sn.Findings() {
		out.Findings = append(out.Findings, toJSON(f, o))
	}
	for _, s := range sn.Sources {
		out.Sources = append(out.Sources, sourceJSON{
			Name: text.Clean(string(s.Name)), State: state(s.State), Age: age(s, sn.At), Detail: text.Clean(s.Detail),
		})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out) //nolint:wrapcheck // Print says what failed.
}

func toJSON(f *model.Finding, o Options) findingJSON {
	j := findingJSON{
		Signature: f.Signature, Confidence: f.Confidence, Severity: f.Severity,
		Cluster:  model.ClusterRef{Namespace: text.Clean(f.Cluster.Namespace), Name: text.Clean(f.Cluster.Name)},
		Subjects: []model.ObjectRef{}, Summary: text.Clean(f.Summary), KB: f.KB, Evidence: []evidenceJSON{},
	}
	if o.Article != nil {
		j.Article = o.Article(f)
	}
	for _, s := range f.Subjects {
		j.Subjects = append(j.Subjects, cleanRef(s))
	}
	j.Causes, j.CausedBy = cleanLinks(f.Causes), cleanLinks(f.CausedBy)
	for _, c := range f.Evidence {
		j.Evidence = append(j.Evidence, evidenceJSON{Check: c.Name, Verdict: c.Verdict, Detail: text.Clean(c.Detail), Source: text.Clean(c.Source)})
	}
	return j
}

func cleanRef(r model.ObjectRef) model.ObjectRef {
	return model.ObjectRef{Kind: text.Clean(r.Kind), Namespace: text.Clean(r.Namespace), Name: text.Clean(r.Name)}
}

func cleanLinks(links []model.Link) []model.Link {
	var out []model.Link
	for _, l := range links {
		out = append(out, model.Link{Signature: l.Signature, Subject: cleanRef(l.Subject)})
	}
	return out
}

// state is the state as scan prints it: scan waits, so that what still has not answered is
// out of reach.
func state(s model.SourceState) model.SourceState {
	if s == model.SourceWaiting {
		return model.SourceUnreachable
	}
	return s
}

func age(s model.Source, now time.Time) string {
	d := s.Age(now)
	if d < 0 && s.Seen.IsZero() {
		return ""
	}
	return text.Age(d)
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
