package capture

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"time"

	"vksmedic/model"
)

// WriteOptions say what a capture holds.
type WriteOptions struct {
	// Tool is the program's name and version.
	Tool string
	// Only picks clusters; nil takes all.
	Only func(model.ClusterRef) bool
	// Redactor replaces addresses, hosts' and users' names; nil leaves them.
	Redactor *Redactor
	// Progress is told how many objects of how many are written; nil for nobody.
	Progress func(done, of int)
}

// Summary is what a capture holds.
type Summary struct {
	Clusters, Objects int
	// Missing is what could not be read, each with the reason.
	Missing []string
}

// Write writes a capture of a snapshot as a .tar.gz: an index, the objects that the snapshot was made
// of, which rec has kept, and what is known besides. Objects are written one by one. The error is
// that of the writer or of ctx; what could not be read is in the index and in the summary.
func Write(ctx context.Context, out io.Writer, sn *model.Snapshot, rec *Recorder, o WriteOptions) (Summary, error) {
	if err := rec.ready(); err != nil {
		return Summary{}, err
	}
	if o.Only == nil {
		o.Only = func(model.ClusterRef) bool { return true }
	}
	w := &writer{sn: sn, rec: rec, o: o, paths: map[string]bool{}}
	w.choose()
	if err := w.leaveOutUnwritable(ctx); err != nil {
		return Summary{}, err
	}
	if err := w.learn(ctx); err != nil {
		return Summary{}, err
	}
	z := gzip.NewWriter(out)
	w.tar = tar.NewWriter(z)
	if err := w.all(ctx); err != nil {
		return Summary{}, err
	}
	if err := w.tar.Close(); err != nil {
		return Summary{}, fmt.Errorf("cannot write the capture: %w", err)
	}
	if err := z.Close(); err != nil {
		return Summary{}, fmt.Errorf("cannot write the capture: %w", err)
	}
	s := Summary{Clusters: len(w.clusters), Objects: len(w.objects)}
	for _, m := range w.missing {
		s.Missing = append(s.Missing, m.What+": "+m.Why)
	}
	return s, nil
}

type writer struct {
	sn  *model.Snapshot
	rec *Recorder
	o   WriteOptions
	tar *tar.Writer

	clusters []*model.Cluster
	objects  []recorded
	missing  []missingDoc
	paths    map[string]bool // taken ones.
}

// choose makes the list of what is written.
func (w *writer) choose() {
	seen := map[recorded]bool{}
	add := func(in model.Place, m *model.Meta) {
		k := keyOf(in, m)
		switch {
		case seen[k]:
		case !w.rec.has(k):
			w.missing = append(w.missing, missingDoc{What: m.Ref().String(), Why: "it was not kept whole"})
		default:
			w.objects = append(w.objects, k)
		}
		seen[k] = true
	}
	supervisor := func(o model.Object) { add(w.sn.Supervisor.Place(), o.GetMeta()) }
	near := map[string]bool{} // namespaces of the chosen clusters.
	for _, c := range w.sn.Clusters {
		if w.o.Only(c.Ref) {
			w.clusters = append(w.clusters, c)
			near[c.Ref.Namespace] = true
		}
	}
	for _, c := range w.clusters {
		c.Parts(supervisor)
		c.Workload.Parts(func(o model.Object) { add(w.sn.Supervisor.Workload(c.Ref), o.GetMeta()) })
	}
	for _, c := range w.sn.Clusters {
		if !w.o.Only(c.Ref) && near[c.Ref.Namespace] {
			neighbour(c, supervisor)
		}
	}
	w.sn.GeneralObjects(supervisor)
}

// neighbour visits as little of a cluster as shows that it is there: a drain rule reaches it too.
func neighbour(c *model.Cluster, visit func(model.Object)) {
	switch {
	case c.Object != nil:
		visit(c.Object)
	case len(c.Machines) > 0:
		visit(c.Machines[0])
	case c.ControlPlane != nil:
		visit(c.ControlPlane)
	}
}

// learn reads everything once, for the names that are to be replaced.
func (w *writer) learn(ctx context.Context) error {
	r := w.o.Redactor
	if r == nil {
		return nil
	}
	for _, k := range w.objects {
		r.object(k.kind, k.name)
	}
	for _, k := range w.objects {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("the capture was given up: %w", err)
		}
		p, err := w.rec.get(k)
		if err != nil {
			return err
		}
		u, err := p.unpack()
		if err != nil {
			return fmt.Errorf("cannot read what was kept of %s %s/%s: %w", k.kind, k.namespace, k.name, err)
		}
		r.learn(u)
	}
	r.supervisor(w.sn.Supervisor)
	for _, doc := range w.documents() {
		t, err := generic(doc.content)
		if err != nil {
			return err
		}
		r.learn(t)
	}
	r.settle()
	return nil
}

// document is one of ours.
type document struct {
	path    string
	content any
}

// documents are the index and the looks.
func (w *writer) documents() []document {
	out := []document{{topFolder + "/" + indexFile, w.index()}}
	for _, c := range w.clusters {
		if !reflect.DeepEqual(*c.Workload, model.Workload{}) {
			out = append(out, document{lookPath(w.redactRef(c.Ref)), lookOut(c.Ref, c.Workload)})
		}
	}
	return out
}

func (w *writer) index() indexDoc {
	d := indexDoc{
		APIVersion: ownVersion, Kind: indexKind, At: w.sn.At.UTC(), Tool: w.o.Tool, Redacted: w.o.Redactor != nil,
		Supervisor: supervisorOut(w.sn.Supervisor), Clusters: []model.ClusterRef{}, Objects: len(w.objects), Sources: []sourceDoc{},
	}
	for _, c := range w.clusters {
		d.Clusters = append(d.Clusters, c.Ref)
	}
	d.Missing = append(d.Missing, w.missing...)
	for _, s := range w.sn.Sources {
		if ref, _, inside := s.Name.Workload(); inside && !w.o.Only(ref) {
			continue
		}
		d.Sources = append(d.Sources, sourceOut(s))
		if s.State != model.SourceOK && s.State != model.SourceNotServed {
			d.Missing = append(d.Missing, missingDoc{What: string(s.Name), Why: string(s.State) + ", " + s.Detail})
		}
	}
	return d
}

// all writes everything.
func (w *writer) all(ctx context.Context) error {
	docs := w.documents()
	if index, ok := docs[0].content.(indexDoc); ok {
		w.missing = index.Missing
	}
	for _, d := range docs {
		t, err := generic(d.content)
		if err != nil {
			return err
		}
		if err := w.tree(d.path, w.rec.hide.clean(t)); err != nil {
			return err
		}
	}
	const step = 100
	for i, k := range w.objects {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("the capture was given up: %w", err)
		}
		if err := w.object(k); err != nil {
			return err
		}
		if w.o.Progress != nil && ((i+1)%step == 0 || i+1 == len(w.objects)) {
			w.o.Progress(i+1, len(w.objects))
		}
	}
	return nil
}

func (w *writer) object(k recorded) error {
	p, err := w.rec.get(k)
	if err != nil {
		return err
	}
	path := w.free(pathOf(w.redactPlace(k.in), k.kind, w.redact(k.namespace), w.redact(k.name)))
	if w.o.Redactor != nil {
		u, err := p.unpack()
		if err != nil {
			return fmt.Errorf("cannot read what was kept of %s %s/%s: %w", k.kind, k.namespace, k.name, err)
		}
		return w.tree(path, u)
	}
	raw, err := p.json()
	if err != nil {
		return fmt.Errorf("cannot read what was kept of %s %s/%s: %w", k.kind, k.namespace, k.name, err)
	}
	return w.json(path, raw)
}

// free is a path that is not taken: two pods may have had one name, one after the other.
func (w *writer) free(path string) string {
	p := path + ".yaml"
	for n := 2; w.paths[p]; n++ {
		p = fmt.Sprintf("%s-%d.yaml", path, n)
	}
	w.paths[p] = true
	return p
}

// tree writes a value, redacted where that is asked for.
func (w *writer) tree(path string, v any) error {
	if w.o.Redactor != nil {
		v = w.o.Redactor.tree("", v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return w.json(path, raw)
}

// json writes what is JSON as YAML.
func (w *writer) json(path string, raw []byte) error {
	b, err := written(raw)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o600, Size: int64(len(b)), ModTime: w.sn.At.Truncate(time.Second)}
	if err := w.tar.WriteHeader(h); err != nil {
		return fmt.Errorf("cannot write the capture: %w", err)
	}
	if _, err := w.tar.Write(b); err != nil {
		return fmt.Errorf("cannot write the capture: %w", err)
	}
	return nil
}

func (w *writer) redact(s string) string {
	if w.o.Redactor == nil {
		return s
	}
	return w.o.Redactor.String(s)
}

func (w *writer) redactPlace(p model.Place) model.Place {
	p.Cluster = w.redactRef(p.Cluster)
	return p
}

func (w *writer) redactRef(r model.ClusterRef) model.ClusterRef {
	return model.ClusterRef{Namespace: w.redact(r.Namespace), Name: w.redact(r.Name)}
}

// generic turns a document into maps and lists.
func generic(doc any) (any, error) {
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("cannot write the index: %w", err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("cannot write the index: %w", err)
	}
	return v, nil
}
