package walk

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
)

// oldWalk is a walk in a journal of format 1. It cannot be continued: too little was written
// down in it to recognise its own writes. It is shown with what it wrote, until it is put away.
type oldWalk struct {
	began, last time.Time
	who         string
	begin       oldBeginning
	wrote       []oldChange
	over        bool
}

type oldBeginning struct {
	ID      string           `json:"id"`
	Article string           `json:"article"`
	Server  string           `json:"server"`
	Context string           `json:"context"`
	Cluster model.ClusterRef `json:"cluster"`
	Target  remedies.Target  `json:"target"`
}

type oldChange struct {
	at      time.Time
	unclear bool

	Verb            effect.Verb    `json:"verb"`
	Group           string         `json:"group"`
	Version         string         `json:"version"`
	Resource        string         `json:"resource"`
	Kind            string         `json:"kind"`
	Namespace       string         `json:"namespace"`
	Name            string         `json:"name"`
	UID             string         `json:"uid"`
	ResourceVersion string         `json:"resourceVersion"`
	Was             map[string]any `json:"was"`
}

// add takes one line of format 1.
func (o *oldWalk) add(line []byte) {
	var e struct {
		At      time.Time     `json:"at"`
		Kind    string        `json:"kind"`
		Who     string        `json:"who"`
		Begin   *oldBeginning `json:"begin"`
		Change  *oldChange    `json:"change"`
		Outcome string        `json:"outcome"`
	}
	if utiljson.Unmarshal(line, &e) != nil {
		return
	}
	o.last = e.At
	if o.began.IsZero() {
		o.began, o.who = e.At, e.Who
	}
	switch {
	case e.Begin != nil:
		o.begin = *e.Begin
	case e.Kind == "end":
		o.over = true
	case e.Kind == "before" && e.Change != nil:
		e.Change.at, e.Change.unclear = e.At, true
		o.wrote = append(o.wrote, *e.Change)
	case e.Kind == "after" && len(o.wrote) > 0 && e.Outcome == "not-applied":
		o.wrote = o.wrote[:len(o.wrote)-1]
	case e.Kind == "after" && len(o.wrote) > 0 && e.Outcome == "applied":
		o.wrote[len(o.wrote)-1].unclear = false
	}
}

// words are what it wrote, with the command that takes each back by hand.
func (o *oldWalk) words(s *remedies.Sites) []remedies.Wrote {
	var out []remedies.Wrote
	for _, c := range o.wrote {
		how := string(c.Verb)
		if c.unclear {
			how += ", perhaps: its end was not written down"
		}
		out = append(out, remedies.Wrote{Object: model.ObjectRef{Kind: c.Kind, Namespace: c.Namespace, Name: c.Name}.String(), How: how,
			At: c.at, TakeBack: takeBackByHand(c.object(), s)})
	}
	return out
}

func (c *oldChange) object() *effect.Object {
	x := effect.NewObject(model.OnSupervisor(""), c.Verb, schema.GroupVersionResource{Group: c.Group, Version: c.Version, Resource: c.Resource},
		c.Kind, c.Namespace, c.Name)
	x.UID, x.ResourceVersion, x.Was = c.UID, c.ResourceVersion, c.Was
	return x
}

// takeBackByHand is the command that takes a write back without this program; empty where none does.
func takeBackByHand(x *effect.Object, s *remedies.Sites) string {
	back := *x
	switch x.Verb {
	case effect.Create:
		back.Verb = effect.Delete
		return back.Command(s).Text
	case effect.Update:
		// An update is taken back by hand with a look at what others changed since.
		back.Verb = effect.Update
		back.Want, back.UID, back.ResourceVersion = x.Was, "", ""
		return "# as it was before; what others changed since goes with it: compare first\n" + back.Command(s).Text
	case effect.Delete:
		if x.Was != nil {
			back.Verb, back.Want = effect.Create, x.Was
			return back.Command(s).Text
		}
	}
	return ""
}

// endEntry is the line that puts a walk away.
func endEntry(who string, now time.Time) *entry {
	return &entry{V: journalVersion, At: now.UTC(), Kind: entryEnd, Who: who, Note: "put away"}
}
