package supervisor

import (
	"reflect"
	"sync"
	"time"

	"vksmedic/model"
)

// board is where the watchers report: it keeps the state of every source and hands
// changes to the sink, in the order in which they came (which is why it keeps its lock
// while the sink takes them).
type board struct {
	sink Sink
	now  func() time.Time
	keep func(object map[string]any) // nil where nobody wants whole objects.

	mu      sync.Mutex
	sources map[model.SourceName]model.Source
	super   model.Supervisor
}

// open reports every source as waiting, before anything is asked.
func (b *board) open(c *Connection) {
	b.sources = map[model.SourceName]model.Source{}
	b.about(func(s *model.Supervisor) {
		s.Context, s.Server, s.User, s.Insecure = c.Context, c.Server, c.User, c.Insecure
		s.DrainRulesServed = model.Unknown
	})
	for _, k := range kinds() {
		if !k.ByKind() {
			b.waiting(k.source(""))
		}
	}
	b.waiting(model.SourceVKS)
}

// about changes what is known about the Supervisor as a whole.
func (b *board) about(change func(*model.Supervisor)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.super
	change(&b.super)
	now := b.super
	if !reflect.DeepEqual(old, now) {
		b.sink.Update(func(s *model.Store) { s.SetSupervisor(now) })
	}
}

func (b *board) set(name model.SourceName, change func(*model.Source)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.sources[name]
	if !ok {
		s = model.Source{Name: name, State: model.SourceWaiting}
	}
	change(&s)
	b.sources[name] = s
	b.sink.Update(func(st *model.Store) { st.SetSource(s) })
}

func (b *board) remove(name model.SourceName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.sources[name]
	delete(b.sources, name)
	if ok {
		b.sink.Update(func(s *model.Store) { s.RemoveSource(name) })
	}
}

func (b *board) waiting(name model.SourceName) { b.set(name, func(*model.Source) {}) }

// fresh says that a source answered and, for a watch, goes on doing so.
func (b *board) fresh(name model.SourceName, live bool) {
	b.set(name, func(s *model.Source) {
		s.State, s.Detail, s.Seen, s.Live = model.SourceOK, "", b.now(), live
	})
}

// partly says that a source answered, and that some of it could not be read.
func (b *board) partly(name model.SourceName, why string, live bool) {
	b.set(name, func(s *model.Source) {
		s.State, s.Detail, s.Seen, s.Live = model.SourceNotUnderstood, why, b.now(), live
	})
}

// quiet says that a watch is open and has said nothing for longer than it should.
func (b *board) quiet(name model.SourceName) {
	b.set(name, func(s *model.Source) { s.Live = false })
}

// trouble says what is wrong. What told something before and cannot be reached now is stale.
func (b *board) trouble(name model.SourceName, state model.SourceState, why string) {
	b.set(name, func(s *model.Source) {
		if !s.Seen.IsZero() && (state == model.SourceUnreachable || state == model.SourceForbidden) {
			state = model.SourceStale
		}
		s.State, s.Detail, s.Live = state, why, false
	})
}

// overdue says that a source which is still waiting takes long.
func (b *board) overdue(name model.SourceName, why string) {
	b.mu.Lock()
	s := b.sources[name]
	b.mu.Unlock()
	if s.State == model.SourceWaiting {
		b.trouble(name, model.SourceUnreachable, why)
	}
}

// login shows trouble with a renewed login as a source of its own, which is there only
// while there is any.
func (b *board) login(trouble string) {
	if trouble == "" {
		b.remove(model.SourceLogin)
		return
	}
	b.set(model.SourceLogin, func(s *model.Source) { s.State, s.Detail = model.SourceStale, trouble })
}

func (b *board) replace(kind, namespace string, rows []model.Object, keep ...model.ObjectRef) {
	b.sink.Update(func(s *model.Store) { s.Replace(kind, namespace, rows, keep...) })
}
