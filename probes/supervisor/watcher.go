package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model"
	"vksmedic/probes/object"
	"vksmedic/probes/wire"
)

const (
	pageSize = 500
	// pageLimit ends a page that never comes, so that the connection is tried anew.
	pageLimit = time.Minute
	// openLimit ends a watch that the server does not open.
	openLimit = 30 * time.Second
	// watchLife is how long the server is asked to keep a watch open, plus up to as much
	// again, so that the watches of many programs do not end together. One that it does not end
	// is ended here, lifeGrace later.
	watchLife = 5 * time.Minute
	lifeGrace = 10 * time.Second
	// shortLife is what a watch has to live for its end to count as normal.
	shortLife = 5 * time.Second
	// quietLimit is for how long a watch that says nothing is taken for live: an API server sends a
	// bookmark every minute.
	quietLimit = 3 * time.Minute
	// failLimit is how often a watch may fail at one place before the list is read again: what it
	// fails at may be at that place.
	failLimit = 3
)

// watcher follows one kind, everywhere or in one namespace: one LIST in pages, then one
// WATCH after the other from where the last one ended. It lists again only when the
// server has forgotten that place (410 Gone), when the watch fails there again and again, and when it
// said nothing at all for its whole life. Objects are cut down to rows as they come, one by one.
// (A client-go reflector would hold the whole list first and lists anew after every interruption.)
type watcher struct {
	c         *Connection
	b         *board
	r         resolved
	namespace string // empty: everywhere.
	source    model.SourceName

	version string // resourceVersion to go on from; empty: list first.
	wait    backoff
	// fails are the failures of the watch at version.
	fails int
	// proof is when the server last said something that only a working watch or list says.
	proof  time.Time
	unread unread
	// names are the objects that are there, to bound how many are kept.
	names map[objectName]struct{}
}

func (c *Connection) watcher(b *board, r resolved, namespace string) *watcher {
	w := &watcher{c: c, b: b, r: r, namespace: namespace, source: r.source(namespace), wait: backoff{random: c.opts.Random}}
	return w
}

func (w *watcher) what() wire.What {
	return wire.What{GroupVersionResource: w.r.gvr, Namespace: w.namespace, Kind: w.r.Name, Fields: w.r.Fields}
}

// run watches until ctx ends; it returns early with an error that trying again will not
// change: forbidden, or not found (the kind is not served).
func (w *watcher) run(ctx context.Context) error {
	for {
		bell := w.c.again.listen()
		err := w.once(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the end was asked for.
		case err == nil:
			continue
		case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
			return err
		case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
			w.c.opts.Log.Info("listing again: the server has forgotten where the watch was", "source", w.source)
			w.forget()
		default:
			state, why := w.c.Explain(err, "read "+w.r.what())
			w.b.trouble(w.source, state, why)
			if w.fails++; w.fails >= failLimit && w.version != "" {
				w.c.opts.Log.Info("listing again: the watch fails at one place", "source", w.source)
				w.forget()
			}
		}
		if !w.c.rest(ctx, &w.wait, err, bell) {
			return nil
		}
	}
}

// forget has the list read again.
func (w *watcher) forget() { w.version, w.fails = "", 0 }

// once lists if need be and watches until the watch ends; nil means that it ended as usual.
func (w *watcher) once(ctx context.Context) error {
	if w.version == "" {
		if err := w.list(ctx); err != nil {
			return err
		}
	}
	return w.watch(ctx)
}

func (w *watcher) list(ctx context.Context) error {
	ctx, status := withStatusNote(ctx)
	overdue := time.AfterFunc(w.c.opts.Deadline, func() {
		why := fmt.Sprintf("%s has not answered within %v; check the network or VPN, the dashboard goes on trying", w.c.Server, w.c.opts.Deadline)
		if code := status.code.Load(); code >= 400 {
			why += fmt.Sprintf(" (its last answer was %d)", code)
		}
		w.b.overdue(w.source, why)
	})
	defer overdue.Stop()

	l, err := w.pages(ctx, pageSize)
	if apierrors.IsResourceExpired(err) {
		// The list changed too much while its pages were read.
		l, err = w.pages(ctx, 0)
	}
	if err != nil {
		return err
	}
	w.version, w.fails, w.names, w.unread, w.proof = l.version, 0, l.names, l.unread, time.Now()
	w.b.replace(w.r.Name, w.namespace, l.rows, w.unread.refs(w.r.Name)...)
	w.answered(false)
	return nil
}

// answered tells that the source said something.
func (w *watcher) answered(live bool) {
	if why := w.unread.words(w.r.Name, len(w.names)); why != "" {
		w.b.partly(w.source, why, live)
		return
	}
	w.b.fresh(w.source, live)
}

// row projects an object; nil for what is not kept. Where an object is not as its kind has to be there are
// both, a row and an error.
func (w *watcher) row(u map[string]any) (model.Object, error) {
	row, err := object.StrictRow(u)
	if err != nil {
		w.c.opts.Log.Warn("an object is not understood", "source", w.source, "error", err.Error())
		return row, err //nolint:wrapcheck // the sentence is complete.
	}
	if w.r.Keep != nil && !w.r.Keep(row) {
		return nil, nil
	}
	if c, ok := row.(*model.ClusterObject); ok {
		noteClass(w.b, c.Class)
	}
	if w.b.keep != nil {
		w.b.keep(u)
	}
	return row, nil
}

// watch follows the changes from where the list or the last watch ended.
func (w *watcher) watch(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	life := watchLife + time.Duration(w.c.opts.Random()*float64(watchLife))
	slow := time.AfterFunc(openLimit, cancel)
	changes, err := w.c.lists.Watch(ctx, w.what(), wire.Watching{ResourceVersion: w.version, Life: life})
	if !slow.Stop() {
		if err == nil {
			changes.Close()
		}
		err = context.DeadlineExceeded // and not that it was cancelled, which we did ourselves.
	}
	if err != nil {
		return fmt.Errorf("cannot watch %s: %w", w.r.what(), err)
	}
	defer changes.Close()
	defer context.AfterFunc(ctx, changes.Close)()
	if time.Since(w.proof) < quietLimit {
		w.answered(true)
	}
	return w.follow(ctx, changes, life, cancel)
}

// follow takes the events of an open watch. end ends it.
func (w *watcher) follow(ctx context.Context, changes *wire.Stream, life time.Duration, end func()) error {
	began := time.Now()
	over := time.AfterFunc(life+lifeGrace, end)
	defer over.Stop()
	quiet := time.AfterFunc(max(quietLimit-time.Since(w.proof), 0), func() { w.b.quiet(w.source) })
	defer quiet.Stop()
	for silent := true; ; silent = false {
		e, err := changes.Next()
		switch {
		case ctx.Err() != nil || errors.Is(err, io.EOF):
			return w.ended(time.Since(began), silent)
		case err != nil:
			return w.broke(began, err)
		case e.Type == "ERROR":
			return w.broke(began, refusal(e))
		}
		quiet.Stop()
		if err := w.take(e); err != nil {
			return w.broke(began, err)
		}
		quiet.Reset(quietLimit)
	}
}

// refusal is what an ERROR event says. Only that the place is forgotten means anything in a watch that
// is open; whatever else it claims (that the kind is not there, that it is forbidden) is asked anew.
func refusal(e wire.Event) error {
	if e.Err != nil || e.Object == nil {
		return errOddEvent
	}
	err := apierrors.FromObject(&unstructured.Unstructured{Object: e.Object})
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return err //nolint:wrapcheck // the caller says what it was about.
	}
	return errors.New(said(err.Error()))
}

// errOddEvent is an event that says nothing.
var errOddEvent = errors.New("an event is not understood: it holds no object")

// broke ends a watch with an error. One that had worked for a while is tried again soon.
func (w *watcher) broke(began time.Time, err error) error {
	if time.Since(began) >= shortLife {
		w.wait.reset()
	}
	return fmt.Errorf("the watch of %s broke: %w", w.r.what(), err)
}

// ended says whether a watch that was closed lived long enough to go on at once. Where nothing at all
// was said in it, not even a bookmark, it may be that nothing gets through, and the list is read again.
func (w *watcher) ended(life time.Duration, silent bool) error {
	if life >= shortLife {
		w.wait.reset()
		if silent && life >= quietLimit {
			w.forget()
		}
		return nil
	}
	return fmt.Errorf("%s closes the watch of %s at once", w.c.Server, w.r.what())
}

// take takes an event in. An error means that nothing could be made of it.
func (w *watcher) take(e wire.Event) error {
	u := unstructured.Unstructured{Object: e.Object}
	switch e.Type {
	case "ADDED", "MODIFIED", "DELETED", "BOOKMARK":
	default:
		return errOddEvent
	}
	name := nameOf(e.Object)
	switch {
	case e.Err != nil && name.name == "":
		return fmt.Errorf("an event is not understood: %w", e.Err)
	case e.Type == "BOOKMARK":
	case name.name == "":
		return errOddEvent
	case e.Err != nil && e.Type != "DELETED":
		w.unread.add(name, e.Err)
	default:
		if err := w.change(e.Type, name, e.Object); err != nil {
			return err
		}
	}
	if v := u.GetResourceVersion(); v != "" && v != w.version {
		w.version, w.fails = v, 0
	}
	w.proof = time.Now()
	w.answered(true)
	return nil
}

// change puts an object's new state into the store. What is known of one that cannot be read stays.
func (w *watcher) change(event string, name objectName, u map[string]any) error {
	ref := model.ObjectRef{Kind: w.r.Name, Namespace: name.namespace, Name: name.name}
	if event == "DELETED" {
		w.unread.clear(name)
		delete(w.names, name)
		w.b.sink.Update(func(s *model.Store) { s.Delete(ref) })
		return nil
	}
	row, err := w.row(u)
	if err != nil {
		w.unread.add(name, err)
		if _, known := w.names[name]; known || row == nil {
			return nil
		}
	} else {
		w.unread.clear(name)
	}
	if w.names == nil {
		w.names = map[objectName]struct{}{}
	}
	if w.names[name] = struct{}{}; len(w.names) > objectLimit {
		return w.tooMany()
	}
	w.b.sink.Update(func(s *model.Store) {
		if row == nil {
			s.Delete(ref)
			return
		}
		s.Put(row)
	})
	return nil
}
