package supervisor

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/probes/object"
)

const (
	pageSize = 500
	// pageLimit ends a page that never comes, so that the connection is tried anew.
	pageLimit = time.Minute
	// openLimit ends a watch that the server does not open.
	openLimit = 30 * time.Second
	// watchLife is how long the server is asked to keep a watch open, plus up to as much
	// again, so that the watches of many programs do not end together.
	watchLife = 5 * time.Minute
	// shortLife is what a watch has to live for its end to count as normal.
	shortLife = 5 * time.Second
)

// watcher follows one kind, everywhere or in one namespace: one LIST in pages, then one
// WATCH after the other from where the last one ended. It lists again only when the
// server has forgotten that place (410 Gone). Objects are cut down to rows as they come,
// page by page. (A client-go reflector would hold the whole list first and lists anew
// after every interruption.)
type watcher struct {
	c         *Connection
	b         *board
	r         resolved
	namespace string // empty: everywhere.
	source    model.SourceName

	version string // resourceVersion to go on from; empty: list first.
	wait    backoff
}

func (c *Connection) watcher(b *board, r resolved, namespace string) *watcher {
	w := &watcher{c: c, b: b, r: r, namespace: namespace, source: r.source(namespace), wait: backoff{random: c.opts.Random}}
	return w
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
			w.version = ""
		default:
			state, why := w.c.Explain(err, "read "+w.r.what())
			w.b.trouble(w.source, state, why)
		}
		if !sleep(ctx, w.wait.wait(delayAsked(err)), bell) {
			return nil
		}
	}
}

// once lists if need be and watches until the watch ends; nil means that it ended as usual.
func (w *watcher) once(ctx context.Context) error {
	if w.version == "" {
		if err := w.list(ctx); err != nil {
			return err
		}
	}
	return w.watch(ctx)
}

func (w *watcher) client() dynamic.ResourceInterface {
	if w.namespace == "" {
		return w.c.client.Resource(w.r.gvr)
	}
	return w.c.client.Resource(w.r.gvr).Namespace(w.namespace)
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

	rows, version, err := w.pages(ctx, pageSize)
	if apierrors.IsResourceExpired(err) {
		// The list changed too much while its pages were read.
		rows, version, err = w.pages(ctx, 0)
	}
	if err != nil {
		return err
	}
	w.version = version
	w.b.replace(w.r.Name, w.namespace, rows)
	w.b.fresh(w.source, false)
	return nil
}

// pages reads the whole list, limit objects at a time (0: all at once).
func (w *watcher) pages(ctx context.Context, limit int64) (rows []model.Object, version string, err error) {
	opts := metav1.ListOptions{Limit: limit, FieldSelector: w.r.Fields}
	for {
		list, err := w.page(ctx, opts)
		if err != nil {
			return nil, "", err
		}
		for i := range list.Items {
			if row := w.row(&list.Items[i]); row != nil {
				rows = append(rows, row)
			}
		}
		opts.Continue = list.GetContinue()
		if opts.Continue == "" {
			return rows, list.GetResourceVersion(), nil
		}
	}
}

func (w *watcher) page(ctx context.Context, opts metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	ctx, cancel := context.WithTimeout(ctx, pageLimit)
	defer cancel()
	list, err := w.client().List(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", w.r.what(), err)
	}
	return list, nil
}

// row projects an object; nil for what is not kept.
func (w *watcher) row(u *unstructured.Unstructured) model.Object {
	row, err := object.Row(u.Object)
	if err != nil {
		w.c.opts.Log.Warn("an object is not understood", "source", w.source, "error", err.Error())
		return nil
	}
	if w.r.Keep != nil && !w.r.Keep(row) {
		return nil
	}
	if c, ok := row.(*model.ClusterObject); ok {
		noteClass(w.b, c.Class)
	}
	if w.b.keep != nil {
		w.b.keep(u.Object)
	}
	return row
}

// watch follows the changes from where the list or the last watch ended.
func (w *watcher) watch(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	life := int64((watchLife + time.Duration(w.c.opts.Random()*float64(watchLife))).Seconds())
	slow := time.AfterFunc(openLimit, cancel)
	changes, err := w.client().Watch(ctx, metav1.ListOptions{ResourceVersion: w.version, FieldSelector: w.r.Fields, AllowWatchBookmarks: true, TimeoutSeconds: &life})
	if !slow.Stop() {
		if err == nil {
			changes.Stop()
		}
		err = context.DeadlineExceeded // and not that it was cancelled, which we did ourselves.
	}
	if err != nil {
		return fmt.Errorf("cannot watch %s: %w", w.r.what(), err)
	}
	defer changes.Stop()
	w.b.fresh(w.source, true)
	began := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, open := <-changes.ResultChan():
			if !open {
				return w.ended(time.Since(began))
			}
			if e.Type == watch.Error {
				return fmt.Errorf("the watch of %s broke: %w", w.r.what(), apierrors.FromObject(e.Object))
			}
			w.wait.reset()
			w.take(e)
		}
	}
}

// ended says whether a watch that was closed lived long enough to go on at once.
func (w *watcher) ended(life time.Duration) error {
	if life >= shortLife {
		w.wait.reset()
		return nil
	}
	return fmt.Errorf("%s closes the watch of %s at once", w.c.Server, w.r.what())
}

func (w *watcher) take(e watch.Event) {
	u, ok := e.Object.(*unstructured.Unstructured)
	if !ok {
		return
	}
	if v := u.GetResourceVersion(); v != "" {
		w.version = v
	}
	if e.Type != watch.Bookmark {
		w.change(e.Type, u)
	}
	w.b.fresh(w.source, true)
}

func (w *watcher) change(t watch.EventType, u *unstructured.Unstructured) {
	row := w.row(u)
	ref := model.ObjectRef{Kind: w.r.Name, Namespace: u.GetNamespace(), Name: u.GetName()}
	w.b.sink.Update(func(s *model.Store) {
		if t == watch.Deleted || row == nil {
			s.Delete(ref)
			return
		}
		s.Put(row)
	})
}
