package signature

import (
	"time"

	"vksmedic/model"
	"vksmedic/model/text"
)

// Youth is how long a thing may last before it is an alarm: a drain takes a while
// even where nothing is wrong. Younger ones are info.
const Youth = 2 * time.Minute

// RetryGrace is how long after a MachineDrainRule was made the drain is given to take
// notice. Cluster API drains again every 20 s
// (drainRetryInterval in core/reconcilers/machine/machine_controller.go).
const RetryGrace = time.Minute

// Options of judging.
type Options struct {
	// StalledAfter is how long the deletion of a Machine may take; zero is the constant
	// StalledAfter.
	StalledAfter time.Duration
}

// Judge is a model.Judge: it finds every signature of All in a cluster, or, where there is none,
// those of the Supervisor as a whole. A now that is zero means that durations are unknown.
func Judge(c *model.Cluster, sn *model.Snapshot, now time.Time) (findings []model.Finding, review time.Time) {
	return judge(c, sn, now, Options{})
}

// NewJudge is [Judge] with options.
func NewJudge(o Options) model.Judge {
	return func(c *model.Cluster, sn *model.Snapshot, now time.Time) ([]model.Finding, time.Time) {
		return judge(c, sn, now, o)
	}
}

func judge(c *model.Cluster, sn *model.Snapshot, now time.Time, o Options) (findings []model.Finding, review time.Time) {
	if o.StalledAfter <= 0 {
		o.StalledAfter = StalledAfter
	}
	general := c == nil
	if general {
		c = &model.Cluster{Workload: &model.Workload{}}
	}
	v := &view{c: c, sn: sn, now: now, opts: o, explained: map[*nodeView]bool{}}
	r := known()
	for i := range r.list {
		if s := &r.list[i]; s.General == general {
			findings = append(findings, v.judge(s)...)
		}
	}
	r.link(findings)
	return findings, v.review
}

var _ model.Judge = Judge

// judge finds one signature, fills in what its declaration says, and makes every text of its
// findings fit to be shown, whatever came from the cluster.
func (v *view) judge(s *Signature) []model.Finding {
	out := s.find(v)
	for i := range out {
		f := &out[i]
		f.Signature, f.KB, f.Cluster, f.Place = s.ID, s.KB, v.c.Ref, v.sn.Supervisor.Workload(v.c.Ref)
		if s.General {
			f.Place = v.sn.Supervisor.Place()
		}
		cleanTexts(f)
		if s.ExplainsNode == nil || !s.ExplainsNode(f) {
			continue
		}
		for _, x := range f.Subjects {
			if n := v.nodesBy[x.Name]; x.Kind == "Node" && n != nil {
				v.explained[n] = true
			}
		}
	}
	return out
}

// cleanTexts takes out of a finding's texts what a terminal would take for more than text. Its
// Facts stay as they were read.
func cleanTexts(f *model.Finding) {
	f.Summary, f.Short = text.Clean(f.Summary), text.Clean(f.Short)
	for i := range f.Advice {
		f.Advice[i] = text.Clean(f.Advice[i])
	}
	for i := range f.Evidence {
		c := &f.Evidence[i]
		c.Name, c.Title, c.Detail, c.Source, c.Settle = text.Clean(c.Name), text.Clean(c.Title), text.Clean(c.Detail), text.Clean(c.Source), text.Clean(c.Settle)
	}
}

// view is a cluster as the signatures look at it.
type view struct {
	c   *model.Cluster
	sn  *model.Snapshot
	now time.Time // zero: durations are unknown.
	// review is the earliest moment at which time alone changes a judgement.
	review time.Time

	sources    map[string]*model.Source // of the Supervisor, by resource, as they were asked for.
	drains     []*draining
	drainsRead bool

	opts      Options
	nodeViews []*nodeView
	nodesBy   map[string]*nodeView // by name.
	nodesRead bool
	// explained are the nodes of which a finding tells why they are NotReady (Signature.ExplainsNode).
	explained map[*nodeView]bool
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
