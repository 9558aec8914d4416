package signature

import (
	"time"

	"vksmedic/model"
)

// Ids of the signatures. They are an interface: scan prints them.
const (
	KubeCertAgentBlocksDrain = "kube-cert-agent-blocks-drain"
	DrainBlocked             = "drain-blocked"
)

// Youth is how long a thing may last before it is an alarm: a drain takes a while
// even where nothing is wrong. Younger ones are info.
const Youth = 2 * time.Minute

// RetryGrace is how long after a MachineDrainRule was made the drain is given to take
// notice. Cluster API drains again every 20 s
// (drainRetryInterval in core/reconcilers/machine/machine_controller.go).
const RetryGrace = time.Minute

// Signature is one known failure.
type Signature struct {
	// ID is its name in findings; Title says what it is.
	ID, Title string
	find      func(*view) []model.Finding
}

// All are the signatures that are known, in the order in which they are judged.
func All() []Signature {
	return []Signature{
		{KubeCertAgentBlocksDrain, "a pinniped kube-cert-agent keeps coming back and blocks the drain of a Machine", findAgentDrains},
		{DrainBlocked, "a drain waits for pods that do not go", findBlockedDrains},
	}
}

// Requires are the Supervisor's resources without which nothing can be said about the
// signatures: where one cannot be read, that nothing was found means nothing. What else
// is missing makes a check unknown.
func Requires() []string { return []string{"machines", "machinedrainrules"} }

// Judge is a model.Judge: it finds every signature of All in a cluster. A now that is
// zero means that durations are unknown.
func Judge(c *model.Cluster, sn *model.Snapshot, now time.Time) (findings []model.Finding, review time.Time) {
	v := &view{c: c, sn: sn, now: now}
	for _, s := range All() {
		findings = append(findings, s.find(v)...)
	}
	return findings, v.review
}

var _ model.Judge = Judge

// view is a cluster as the signatures look at it.
type view struct {
	c   *model.Cluster
	sn  *model.Snapshot
	now time.Time // zero: durations are unknown.
	// review is the earliest moment at which time alone changes a judgement.
	review time.Time

	drains     []*draining
	drainsRead bool
}

// at asks to be judged again at a moment, if that is still to come.
func (v *view) at(t time.Time) {
	if t.IsZero() || v.now.IsZero() || v.sn.Dump || !t.After(v.now) {
		return
	}
	if v.review.IsZero() || t.Before(v.review) {
		v.review = t
	}
}

// young says whether something that began at a time is too young to be an alarm, and
// asks to be judged again when it no longer is. Where the beginning or the time is not known
// nothing is young.
func (v *view) young(began time.Time) bool {
	if began.IsZero() || v.now.IsZero() {
		return false
	}
	end := began.Add(Youth)
	v.at(end)
	return v.now.Before(end)
}

// source finds how a Supervisor resource was read for this cluster's namespace.
func (v *view) source(resource string) *model.Source {
	if s := v.sn.Source("supervisor/" + resource + "@" + v.c.Ref.Namespace); s != nil {
		return s
	}
	return v.sn.Source("supervisor/" + resource)
}

// seen is when a Supervisor resource was last known to be up to date.
func (v *view) seen(resource string) time.Time {
	if s := v.source(resource); s != nil {
		return s.Seen
	}
	return time.Time{}
}

// paused says what keeps Cluster API from doing anything about a Machine; empty when nothing does.
func (v *view) paused(m *model.Machine) string {
	if v.c.Object != nil && v.c.Object.Paused {
		return "Cluster " + v.c.Ref.String() + " is paused"
	}
	if m.Paused {
		return "Machine " + m.Namespace + "/" + m.Name + " is paused"
	}
	return ""
}

// stamp writes a point in time.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
