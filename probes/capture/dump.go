package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/probes/describe"
)

// Dump is what was read.
type Dump struct {
	// Path is what was read, as it was given.
	Path string
	// Objects are the rows, in the order in which they were read; of an object that is there
	// twice the later one.
	Objects []model.Object
	// Sources are the dump itself, and each file that was not understood, with the reason.
	Sources []model.Source
	// NewestTime is the newest time that any object tells of: the dump is taken to be of
	// then. Zero where there is none, and then durations are unknown.
	NewestTime time.Time

	files, understood int
	// unlisted are files that were not understood beside those in Sources; left are objects that were
	// left out since there are too many.
	unlisted, left int
	// anyLost says that something which may be an object could not be read, listed or not.
	anyLost bool
	taken   taken
	places  []model.Place // alongside Objects: the cluster that an object is in, where the path says so; else no place.
	index   map[key]int
	whole   []place // alongside Objects, on the shelf, for a person who opens one.
	shelf   shelf
}

// key tells objects apart. Pods of different clusters may have the same name, so the UID
// and the node count where there are any.
type key struct {
	kind, namespace, name, uid, node string
	place                            model.Place
}

func newDump(path string) *Dump {
	return &Dump{Path: path, index: map[key]int{}}
}

// lost says of a file that something which may be an object could not be read.
func (d *Dump) lost(file, why string) {
	d.anyLost = true
	n := len(d.Sources)
	d.notUnderstood(file, why)
	if n < len(d.Sources) {
		d.Sources[n].Lost = true
	}
}

func (d *Dump) notUnderstood(file, why string) {
	if len(d.Sources) >= notesLimit {
		d.unlisted++ // How many there are is said at the end.
		return
	}
	d.Sources = append(d.Sources, model.Source{
		Name: model.FileSource(text.Clean(file)), State: model.SourceNotUnderstood, Detail: text.Limit(text.Clean(why), 400),
	})
}

// add takes an object; raw is its JSON where that is at hand.
func (d *Dump) add(file string, u map[string]any, raw []byte, o model.Object) {
	d.time(u)
	m := o.GetMeta()
	k := key{kind: m.Kind, namespace: m.Namespace, name: m.Name}
	switch v := o.(type) {
	case *model.Pod:
		k.uid, k.node = m.UID, v.Node
	case *model.Node, *model.Budget, *model.VolumeAttachment, *model.Namespace, *model.Event:
		k.uid = m.UID
	}
	if loose(o) {
		k.place = placeOfPath(file)
	}
	if i, ok := d.index[k]; ok {
		d.Objects[i], d.whole[i] = o, d.keep(u, raw)
		return
	}
	if len(d.Objects) >= objectsLimit {
		d.left++
		return
	}
	d.index[k] = len(d.Objects)
	d.Objects = append(d.Objects, o)
	d.places = append(d.places, k.place)
	d.whole = append(d.whole, d.keep(u, raw))
}

func (d *Dump) time(u map[string]any) {
	if t := newest(u); t.After(d.NewestTime) {
		d.NewestTime = t
	}
}

// done finishes the dump: the source that stands for all of it comes first.
func (d *Dump) done(ctx context.Context) (*Dump, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("reading the dump was given up: %w", err)
	}
	if d.taken.index != nil && !d.taken.index.At.IsZero() {
		d.NewestTime = d.taken.index.At
	}
	d.more()
	s := model.Source{Name: model.SourceDump, State: model.SourceOK, Seen: d.NewestTime}
	if len(d.Objects) == 0 {
		s.Detail = "no object in it is one that is looked at"
		s.Lost = d.understood == 0 && d.taken.index == nil
	}
	d.shelf.done()
	d.index = nil
	d.Sources = append([]model.Source{s}, d.Sources...)
	return d, nil
}

// more says what is not in the list of what was lost.
func (d *Dump) more() {
	if d.left > 0 {
		d.Sources = append(d.Sources, model.Source{
			Name: model.FileSource(text.Clean(d.Path)), State: model.SourceNotUnderstood, Lost: true, Detail: fmt.Sprintf("has more than %d objects; %d were left out", objectsLimit, d.left),
		})
	}
	if d.unlisted > 0 {
		d.Sources = append(d.Sources, model.Source{
			Name: model.FileSource("…"), State: model.SourceNotUnderstood, Lost: d.anyLost, Detail: text.Plural(d.unlisted, "further file") + " that were not understood",
		})
	}
}

// Store puts the dump's objects into a store.
func (d *Dump) Store(judge model.Judge) *model.Store {
	if d.taken.index != nil {
		return d.captured(judge)
	}
	s := model.NewDumpStore(judge)
	s.SetSupervisor(model.Supervisor{Context: text.Clean(d.Path), VKSDetail: "a dump does not say"})
	for _, src := range d.Sources {
		s.SetSource(src)
	}
	for _, o := range d.Objects {
		if loose(o) {
			s.AddLoose(o)
		} else {
			s.Put(o)
		}
	}
	return s
}

// Snapshot is the picture that the dump gives, judged as of a time; zero means the newest time
// in the dump.
func (d *Dump) Snapshot(judge model.Judge, asOf time.Time) *model.Snapshot {
	if asOf.IsZero() {
		asOf = d.NewestTime
	}
	sn := d.Store(judge).Snapshot(asOf)
	if d.taken.index != nil {
		d.chosen(sn)
	}
	return sn
}

// ErrNotInDump says that the dump does not hold an object.
var ErrNotInDump = errors.New("the dump does not hold it")

// object returns a whole object.
func (d *Dump) object(ref model.ObjectRef) (map[string]any, error) {
	for i, o := range d.Objects {
		if o.GetMeta().Ref().In(ref.Place) != ref || d.places[i].Kind == model.PlaceCluster && !ref.Place.Is(d.places[i].Cluster) {
			continue
		}
		u, err := d.shelf.get(d.whole[i])
		if err != nil {
			return nil, fmt.Errorf("cannot show %s: %w", ref, err)
		}
		return u, nil
	}
	return nil, fmt.Errorf("cannot show %s: %w", ref, ErrNotInDump)
}

// YAML is an object of the dump as YAML, without managedFields. The place of the reference counts
// only in a capture, which tells workload clusters apart.
func (d *Dump) YAML(ctx context.Context, ref model.ObjectRef) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("cannot show %s: %w", ref, err)
	}
	u, err := d.object(ref)
	if err != nil {
		return "", err
	}
	out, err := describe.YAML(u)
	if err != nil {
		return "", fmt.Errorf("cannot show %s: %w", ref, err)
	}
	return out, nil
}

// Describe is an object of the dump in words, with the events about it that the dump holds; the
// place counts as for YAML.
func (d *Dump) Describe(ctx context.Context, ref model.ObjectRef) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("cannot show %s: %w", ref, err)
	}
	u, err := d.object(ref)
	if err != nil {
		return "", err
	}
	var events []*model.Event
	for _, o := range d.Objects {
		if e, ok := o.(*model.Event); ok && e.About.Kind == ref.Kind && e.About.Name == ref.Name && e.About.Namespace == ref.Namespace {
			events = append(events, e)
		}
	}
	missing := ""
	if len(events) == 0 {
		missing = "the dump holds none"
	}
	return describe.Text(u, events, missing, d.NewestTime), nil
}

// keep puts the whole object away; nowhere where that fails: then it is only not shown whole.
func (d *Dump) keep(u map[string]any, raw []byte) place {
	if raw == nil {
		var err error
		if raw, err = json.Marshal(u); err != nil {
			return place{}
		}
	}
	return d.shelf.put(raw)
}
