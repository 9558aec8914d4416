package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/probes/bounds"
	"vksmedic/probes/wire"
)

// The bounds of what is kept of one kind. The largest fleets have 5,000 Machines and as many of the
// kinds beside them.
const (
	// objectLimit is how many objects there may be.
	objectLimit = 40_000
	// heavy is the size from which an object counts as a large one, and heavyLimit how many bytes
	// of those a list may have: rows of ordinary objects are small whatever the objects are, those of
	// large ones are not.
	heavy      = 128 << 10
	heavyLimit = 64 << 20
	// emptyPages is how many pages in a row may have nothing in them.
	emptyPages = 3
	// pagesLimit is how many pages a list may have: twice those that full ones would need.
	pagesLimit = 2 * objectLimit / pageSize
)

// objectName is the name of an object of a kind.
type objectName struct{ namespace, name string }

// nameOf is the name that an object gives itself, empty where it has none.
func nameOf(u map[string]any) objectName {
	m, _ := u["metadata"].(map[string]any)
	var n objectName
	n.namespace, _ = m["namespace"].(string)
	n.name, _ = m["name"].(string)
	return n
}

// listed is a whole list.
type listed struct {
	version string
	rows    []model.Object
	names   map[objectName]struct{}
	unread  unread
	heavy   int
}

// seen counts the objects, those that could not be read too.
func (l *listed) seen() int { return len(l.names) + l.unread.all }

func (w *watcher) tooMany() error {
	return &bounds.TooLargeError{What: "the list of " + w.r.what(), Limit: fmt.Sprintf("%d objects", objectLimit)}
}

// errNoEnd is a list whose pages bring nothing new.
var errNoEnd = errors.New("the list is not understood: its pages bring nothing new and do not end")

// pages reads the whole list, limit objects at a time (0: all at once). Each page has to bring
// something new.
func (w *watcher) pages(ctx context.Context, limit int) (listed, error) {
	l := listed{names: map[objectName]struct{}{}}
	token, empty := "", 0
	for range pagesLimit {
		before := l.seen()
		p, err := w.page(ctx, limit, token, &l)
		switch {
		case err != nil:
			return listed{}, fmt.Errorf("cannot list %s: %w", w.r.what(), err)
		case p.Continue == "":
			l.version = p.ResourceVersion
			return l, nil
		}
		if empty++; l.seen() > before {
			empty = 0
		}
		if p.Continue == token || empty > emptyPages || p.Items > 0 && l.seen() == before {
			break
		}
		token = p.Continue
	}
	return listed{}, fmt.Errorf("cannot list %s: %w", w.r.what(), errNoEnd)
}

func (w *watcher) page(ctx context.Context, limit int, token string, l *listed) (wire.Page, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pageLimit, nil)
	defer cancel()
	var full error
	p, err := w.c.lists.Page(ctx, w.what(), limit, token, func(u map[string]any, size int, err error) error {
		name := nameOf(u)
		var row model.Object
		if err == nil {
			row, err = w.row(u)
		}
		if err != nil {
			l.unread.add(name, err)
			if _, known := w.names[name]; known || row == nil {
				return nil
			}
		}
		l.names[name] = struct{}{}
		if row != nil {
			l.rows = append(l.rows, row)
		}
		if size > heavy {
			l.heavy += size
		}
		switch {
		case len(l.names) > objectLimit:
			full = w.tooMany()
		case l.heavy > heavyLimit:
			full = &bounds.TooLargeError{What: "the list of " + w.r.what(), Limit: bounds.Size(heavyLimit) + " in large objects"}
		}
		return full
	})
	if full != nil {
		return p, full
	}
	return p, err //nolint:wrapcheck // pages says what it was about.
}

// unread are the objects that are there and could not be read, by name, with the reason. An object that
// does not even say its name counts under the empty one.
type unread struct {
	why   map[objectName]string
	first objectName
	// all counts every one that was added.
	all int
}

// unreadLimit is how many are remembered by name.
const unreadLimit = 1000

func (u *unread) add(n objectName, err error) {
	if u.why == nil || u.first.name == "" {
		u.first = n // one that says its name, if there is any.
	}
	if u.why == nil {
		u.why = map[objectName]string{}
	}
	u.all++
	if len(u.why) < unreadLimit {
		u.why[n] = said(err.Error())
	}
}

func (u *unread) clear(n objectName) {
	delete(u.why, n)
	if len(u.why) == 0 {
		u.why = nil
		return
	}
	if _, there := u.why[u.first]; !there {
		u.first = u.sorted()[0]
	}
}

func (u *unread) sorted() []objectName {
	var out []objectName
	for n := range u.why {
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b objectName) int {
		if a.namespace != b.namespace {
			if a.namespace < b.namespace {
				return -1
			}
			return 1
		}
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return out
}

// refs are those that are known by name: what was read of them before stays.
func (u *unread) refs(kind string) []model.ObjectRef {
	var out []model.ObjectRef
	for n := range u.why {
		if n.name != "" {
			out = append(out, model.ObjectRef{Kind: kind, Namespace: n.namespace, Name: n.name})
		}
	}
	return out
}

// words say in a sentence what could not be read, empty where all could. others is how many could.
func (u *unread) words(kind string, listed int) string {
	if len(u.why) == 0 {
		return ""
	}
	which := "one does not say its name"
	if u.first.name != "" {
		which = u.first.name
		if u.first.namespace != "" {
			which = u.first.namespace + "/" + which
		}
	}
	return text.Clean(fmt.Sprintf("%s could not be read: %s: %s; what is known of them from before is kept, and %d are listed",
		text.Plural(len(u.why), kind), which, u.why[u.first], listed))
}
