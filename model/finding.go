package model

import (
	"slices"
	"time"
)

// Verdict is the answer of one check: yes, no, or unknown and why.
type Verdict string

// The three answers.
const (
	Yes     Verdict = "yes"
	No      Verdict = "no"
	Unknown Verdict = "unknown"
)

// Not is the opposite answer; what is unknown stays so.
func (v Verdict) Not() Verdict {
	switch v {
	case Yes:
		return No
	case No:
		return Yes
	case Unknown:
	}
	return Unknown
}

// Weight says what a check decides.
type Weight int

// Weights of checks. A required check that is not yes means that there is no
// finding; when all deciding ones are yes the finding is confirmed, when none
// is no but some are unknown it is suspected, when one is no there is none;
// supporting ones are shown and decide nothing.
const (
	Required Weight = iota
	Deciding
	Supporting
)

// Confidence of a finding.
type Confidence string

// The two confidences.
const (
	Confirmed Confidence = "confirmed"
	Suspected Confidence = "suspected"
)

// Severity of a finding.
type Severity string

// Severities, the worst first.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
	Info     Severity = "info"
)

// Rank orders severities: 0 is the worst.
func (s Severity) Rank() int {
	switch s {
	case Critical:
		return 0
	case Warning:
		return 1
	case Info:
		return 2
	}
	return 3
}

// Check is one line of the "do I have it?" list of a signature.
type Check struct {
	// Name is a stable id such as machine-deleting; Title is what the screen says.
	Name, Title string
	Weight      Weight
	Verdict     Verdict
	// Detail is what was read; for unknown, why it is unknown.
	Detail string
	// Source is where it was read, such as "Machine team-a/web-cp-x7k2p, condition Deleting".
	Source string
	// Seen is when that was read; zero where there is no such time (a dump).
	Seen time.Time
	// Settle says what would settle an unknown: a right to ask for, a command to run.
	Settle string
}

// Decide applies the weights: found is false where the checks rule the signature out.
func Decide(checks []Check) (c Confidence, found bool) {
	c = Confirmed
	for _, k := range checks {
		switch k.Weight {
		case Required:
			if k.Verdict != Yes {
				return "", false
			}
		case Deciding:
			switch k.Verdict {
			case No:
				return "", false
			case Unknown:
				c = Suspected
			case Yes:
			}
		case Supporting:
		}
	}
	return c, true
}

// Finding is a failure signature that a cluster shows.
type Finding struct {
	Signature  string // id, as the README lists them; other programs read it.
	Confidence Confidence
	Severity   Severity
	// Place is what it is about: a workload cluster, named by Cluster too, or the Supervisor as a
	// whole. Where its subjects live stands in each of them.
	Place    Place
	Cluster  ClusterRef
	Subjects []ObjectRef
	Summary  string // one line.
	// Short is what fits in the fleet's table, such as "agent blocks drain".
	Short string
	// KB is the number of the public article about it, empty where there is none.
	KB string
	// Since is when what is found began, zero where unknown.
	Since    time.Time
	Evidence []Check
	// Advice is what to do, or not to do, where there is no wizard for it. May be empty.
	Advice []string
	// Causes are the findings of the same cluster that this one brings about, CausedBy those
	// that bring it about: one story, told from its beginning.
	Causes, CausedBy []Link
	// Facts is what the signature found out, for the article to work with:
	// *signature.AgentFacts and so on. Nil where there is nothing more to say.
	Facts any
}

// Link names another finding of the same cluster: by its signature and first subject.
type Link struct {
	Signature string    `json:"signature"`
	Subject   ObjectRef `json:"subject"`
}

// About says whether an object is among its subjects.
func (f *Finding) About(ref ObjectRef) bool { return slices.ContainsFunc(f.Subjects, ref.Same) }

// Link is how other findings name this one.
func (f *Finding) Link() Link {
	l := Link{Signature: f.Signature}
	if len(f.Subjects) > 0 {
		l.Subject = f.Subjects[0]
	}
	return l
}

// Key identifies the finding among those of one moment: signature, cluster and first subject.
func (f *Finding) Key() string {
	k := f.Signature + "|" + f.Cluster.String()
	if len(f.Subjects) > 0 {
		k += "|" + f.Subjects[0].String()
	}
	return k
}
