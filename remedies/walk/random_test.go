package walk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/internal/fakeapi"
	"vksmedic/remedies/kb"
)

const toyDir = "/journal"

// verdicts are what is counted against the engine.
type verdict string

const (
	doubleWrite  verdict = "double writes"
	lostUndo     verdict = "lost undos"
	disagreement verdict = "disagreements"
)

// twist wraps what a walk works with, so that one rule is broken.
type twist struct {
	http func(http.RoundTripper) http.RoundTripper
	disk func(disk) disk
}

// sim is one random walk of two engineers and a colleague over one random article.
type sim struct {
	seed  int64
	rng   *rand.Rand
	api   *fakeapi.Server
	toys  *toyWorld
	who   []*engineer
	art   *kb.Article
	cat   *kb.Catalogue
	twist twist
	calm  bool // nothing fails any more.
	// questions are what a node asks before it is open.
	questions []remedies.Ask

	mu     sync.Mutex
	counts map[string]int
	ops    []string
	found  []string
	by     map[verdict]int
}

// engineer is one person with a machine of their own.
type engineer struct {
	s      *sim
	name   string
	disk   *memDisk
	proc   *process
	runner *Runner
	walk   *Walk
	old    []string // tokens that were shown once.
	// asked are the questions that this process has answered.
	asked map[string]string
	seen  int // of the server's list of requests.
	sent  []remoteWrite
	// lease draws the faults of the Lease, whose renewals come from another goroutine.
	lease *rand.Rand
	// script says what fails, in place of chance.
	script struct {
		request func(*fakeapi.Request) fakeapi.Fault
		line    func([]byte) diskFault
		remote  func(write bool) remoteFault
	}
	log []remedies.Command
	// compared is what was compared last.
	compared string
	// bad is how likely a request fails, in percent.
	bad int
}

func newSim(seed int64, tw twist) *sim { return newSimOf(seed, tw, (*sim).article) }

func newSimOf(seed int64, tw twist, article func(*sim) string) *sim {
	s := &sim{seed: seed, rng: rand.New(rand.NewSource(seed)), api: fakeapi.New(), toys: newToyWorld(), twist: tw, counts: map[string]int{}, by: map[verdict]int{}}
	s.questions = []remedies.Ask{{ID: "host key", Question: "Is this the node's key?"}}
	s.api.Serve(widgets, "Widget")
	s.api.ServeWide(toyRoles, "ToyRole")
	s.api.Serve(toyClusters, "Cluster")
	s.cat = load(article(s))
	s.art = s.cat.ByID("toy")
	ns := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	for _, n := range []string{"kube-system", toyHome.Namespace} {
		s.must(fakeapi.Request{Verb: "create", Resource: ns, Name: n, Body: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": n}}})
	}
	for name, value := range map[string]string{"target": "x", "shared": "x", "quorum": "3", "things": "a b", "junk": "x"} {
		s.must(fakeapi.Request{Verb: "create", Name: name, Body: toyWidget(name, value)})
	}
	s.api.SetStatus(widgets, toyHome.Namespace, "target", map[string]any{"phase": "Pending"})
	s.must(fakeapi.Request{Verb: "create", Resource: toyRoles, Name: "operator", Body: map[string]any{"apiVersion": "toy.vksmedic/v1", "kind": "ToyRole",
		"metadata": map[string]any{"name": "operator"}, "rules": map[string]any{"verbs": []any{"get", "patch"}}}})
	s.must(fakeapi.Request{Verb: "create", Resource: toyClusters, Namespace: toyHome.Namespace, Name: toyHome.Name, Body: map[string]any{
		"apiVersion": toyClusters.GroupVersion().String(), "kind": "Cluster", "metadata": map[string]any{"name": toyHome.Name, "namespace": toyHome.Namespace}}})
	for i, name := range []string{"anna", "ben"} {
		e := &engineer{s: s, name: name, disk: newMemDisk(), lease: rand.New(rand.NewSource(seed*7 + int64(i))), bad: []int{0, 5, 15}[s.rng.Intn(3)]}
		e.start()
		s.who = append(s.who, e)
	}
	return s
}

// do is something that a colleague does.
func (s *sim) do(r fakeapi.Request) (*unstructured.Unstructured, error) {
	if r.Resource.Resource == "" {
		r.Resource = widgets
	}
	if r.Namespace == "" && r.Resource == widgets {
		r.Namespace = toyHome.Namespace
	}
	r.Client, r.Manager = "colleague", "kubectl-"+r.Manager
	return s.api.Do(r)
}

// must is do for what has to work.
func (s *sim) must(r fakeapi.Request) {
	if _, err := s.do(r); err != nil {
		panic(err)
	}
}

func (s *sim) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
}

func (s *sim) fail(v verdict, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by[v]++
	s.found = append(s.found, string(v)+": "+fmt.Sprintf(format, args...))
}

func (s *sim) log(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ops = append(s.ops, time.Now().UTC().Format("15:04:05.000")+" "+fmt.Sprintf(format, args...))
}

var articles struct {
	sync.Mutex
	kept map[string]*kb.Catalogue
}

// articleHead begins every toy article.
const articleHead = "id: toy\ntitle: Toy\nsignature: toy\ntarget: \"{{ .Facts.Name }}\"\n" +
	"finished: \"{{ .Target }}{{ if .Left }}, left {{ list .Left }}{{ end }}{{ if .TakenBack }}, back {{ list .TakenBack }}{{ end }}\"\nsteps:\n"

// article makes a random small article.
func (s *sim) article() string {
	var b strings.Builder
	b.WriteString(articleHead)
	step := func(id, action string, lines ...string) {
		fmt.Fprintf(&b, "  - id: %s\n    title: Do %s\n    why: For a test.\n    action: %s\n", id, id, action)
		for _, l := range lines {
			b.WriteString("    " + l + "\n")
		}
	}
	type change struct {
		name, action string
		with         string
		each         bool
	}
	pool := []change{
		{"make", "toy-make", `with: {names: ["one-{{ .Choice.ask }}"], value: ours}`, false},
		{"pair", "toy-make", `with: {names: [left, right], value: ours}`, false},
		{"same", "toy-make", `with: {names: [left, other], value: ours}`, false},
		{"color", "toy-set", `with: {name: shared, field: color, value: red}`, false},
		{"strip", "toy-set", `with: {name: shared, field: value}`, false},
		{"node", "toy-command", `with: {name: setting, value: "on"}`, false},
		{"task", "toy-task", `with: {name: tag, value: mine}`, false},
		{"take", "toy-take", ``, false},
		{"each", "toy-make", `with: {names: ["e-{{ .Item }}"], value: ours}`, true},
	}
	s.rng.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	pool = pool[:1+s.rng.Intn(3)]
	if s.rng.Intn(2) == 0 {
		step("look", "toy-look")
	}
	step("ask", "toy-choose", `with: {question: "Which?", default: a, options: [{id: a, title: A}, {id: b, title: B}]}`)
	for _, c := range pool {
		lines := []string{"undo: back-" + c.name}
		if c.with != "" {
			lines = append(lines, c.with)
		}
		if c.each {
			lines = append(lines, "each: things")
		} else if s.rng.Intn(4) == 0 {
			lines = append(lines, `when: '{{ eq .Choice.ask "a" }}'`, "otherwise: It is not wanted.")
		}
		if s.rng.Intn(4) == 0 {
			lines = append(lines, "needs: [quorum]")
		}
		step(c.name, c.action, lines...)
	}
	if s.rng.Intn(3) == 0 {
		step("wait", "toy-wait")
	}
	if s.rng.Intn(4) == 0 {
		step("hand", "toy-by-hand", "with: {name: by-hand, value: x}")
	}
	if s.rng.Intn(5) == 0 {
		step("drop", "toy-drop", "with: {name: junk, value: x}")
	}
	for i := range pool {
		c := pool[len(pool)-1-i]
		lines := []string{"with: {step: " + c.name + "}"}
		if c.each && s.rng.Intn(2) == 0 {
			lines = append(lines, "each: things")
		} else if s.rng.Intn(2) == 0 && c.name != "take" {
			lines = append(lines, `when: '{{ eq .Choice.ask "b" }}'`, "otherwise: It stays.")
		}
		step("back-"+c.name, "toy-take-back", lines...)
	}
	return b.String()
}

// load loads an article, and beside it the one that pays a debt. Those with the same text are
// loaded once.
func load(article string) *kb.Catalogue {
	restore := "id: toy-restore\ntitle: Give back\nsignature: toy-restore\ntarget: x\nfinished: \"{{ .Target }}\"\nsteps:\n" +
		"  - id: pay\n    title: Give back\n    why: It was taken.\n    action: toy-pay\n"
	articles.Lock()
	defer articles.Unlock()
	cat := articles.kept[article]
	if cat == nil {
		var err error
		cat, err = kb.Load(fstest.MapFS{"toy.yaml": {Data: []byte(article)}, "toy-restore.yaml": {Data: []byte(restore)}}, toyRegistry())
		if err != nil {
			panic(err.Error() + "\n" + article)
		}
		if articles.kept == nil {
			articles.kept = map[string]*kb.Catalogue{}
		}
		articles.kept[article] = cat
	}
	return cat
}

// start is a new process of the program on the engineer's machine.
func (e *engineer) start() {
	e.proc = &process{}
	e.walk, e.old, e.asked = nil, nil, map[string]string{}
	proc := e.proc
	var rt http.RoundTripper = &fakeapi.Client{Server: e.s.api, Name: e.name, Fault: e.fault}
	if e.s.twist.http != nil {
		rt = e.s.twist.http(rt)
	}
	dyn, err := fakeapi.Dynamic(&mortal{proc: proc, e: e, rt: rt})
	if err != nil {
		panic(err)
	}
	open := func(to *remote, marks model.Marks) func(context.Context, model.Place) (remedies.Conn, error) {
		return func(_ context.Context, p model.Place) (remedies.Conn, error) {
			if p.Kind == model.PlaceNode {
				for _, q := range e.s.questions {
					if e.asked[q.ID] == "" {
						return nil, &remedies.Asking{Ask: q, Take: func(answer string) error {
							if answer == "no" {
								return errors.New("then there is no connection")
							}
							e.asked[q.ID] = answer
							return nil
						}}
					}
				}
			}
			return &remoteConn{to: to, marks: marks, by: e.name, fault: func(write bool) remoteFault { return e.remoteFault(proc, write) },
				sent: func(w remoteWrite) { e.sent = append(e.sent, w) }}, nil
		}
	}
	cfg := Config{
		Sites: &remedies.Sites{Supervisor: &toySupervisor{dyn: dyn}, Others: map[model.PlaceKind]func(context.Context, model.Place) (remedies.Conn, error){
			model.PlaceNode:    open(e.s.toys.node, model.Marks{MachineID: "node-1-id"}),
			model.PlaceVCenter: open(e.s.toys.vcenter, model.Marks{InstanceUUID: "vc-id"}),
		}},
		Articles: e.s.cat, Registry: toyRegistry(), Actions: toyActions(), Effects: toyEffects(),
		Guards:    map[string]func(context.Context, *remedies.Scene) (remedies.Guard, error){"quorum": toyGuard},
		Lists:     map[string]func(context.Context, *remedies.Scene) ([]string, error){"things": toyThings},
		Takeables: map[string]effect.Takeable{toyVerb: toyTakeable()},
		Context:   "ctx", Server: "https://fake.invalid", JournalDir: toyDir, Who: e.name, Host: e.name + "-laptop",
		Random: rand.New(rand.NewSource(e.s.rng.Int63())),
		Log: func(c remedies.Command) {
			e.s.mu.Lock()
			defer e.s.mu.Unlock()
			e.log = append(e.log, c)
		},
	}
	e.runner = NewRunner(cfg)
	var d disk = &procDisk{disk: e.disk, proc: proc, fault: e.diskFault}
	if e.s.twist.disk != nil {
		d = e.s.twist.disk(d)
	}
	e.runner.disk = d
}

// mortal is a way to the server that ends with the process.
type mortal struct {
	proc *process
	e    *engineer
	rt   http.RoundTripper
}

func (m *mortal) RoundTrip(req *http.Request) (*http.Response, error) {
	alive, dies := m.proc.moment()
	if !alive || (dies && m.proc.how == dieBefore) {
		return nil, errDead
	}
	resp, err := m.rt.RoundTrip(req)
	if m.proc.isDead() {
		return nil, errDead
	}
	return resp, err
}

func (e *engineer) fault(r *fakeapi.Request) fakeapi.Fault {
	if e.script.request != nil {
		return e.script.request(r)
	}
	rng := e.s.rng
	if r.Resource.Resource == "leases" {
		rng = e.lease
	}
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.s.calm || rng.Intn(100) >= e.bad {
		return fakeapi.Fault{}
	}
	kinds := fakeapi.ReadFaults()
	if r.Write() {
		kinds = fakeapi.WriteFaults()
	} else if rng.Intn(3) > 0 {
		return fakeapi.Fault{} // there are many more reads.
	}
	f := fakeapi.Fault{Kind: kinds[rng.Intn(len(kinds))], After: time.Duration(rng.Intn(60000)) * time.Millisecond}
	e.s.counts["fault "+string(f.Kind)]++
	return f
}

func (e *engineer) diskFault(line []byte) diskFault {
	if e.script.line != nil {
		return e.script.line(line)
	}
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.s.calm || e.s.rng.Intn(100) >= e.bad {
		return diskFine
	}
	f := diskFaults()[e.s.rng.Intn(len(diskFaults()))]
	if (line == nil) != (f == diskNoFile || f == diskNoDir) {
		return diskFine
	}
	e.s.counts["fault "+string(f)]++
	return f
}

func (e *engineer) remoteFault(p *process, write bool) remoteFault {
	alive, dies := p.moment()
	if !alive || (dies && p.how == dieBefore) {
		return remoteUnreached
	}
	if dies {
		if write {
			return remoteDoneCut
		}
		return remoteUnreached
	}
	if e.script.remote != nil {
		return e.script.remote(write)
	}
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	f := remoteFine
	switch {
	case e.s.calm || e.s.rng.Intn(100) >= e.bad:
		return remoteFine
	case write:
		f = []remoteFault{remoteCut, remoteSilence, remoteDoneCut, remoteDelayed, remoteUnreached}[e.s.rng.Intn(5)]
	case e.s.rng.Intn(3) == 0:
		f = remoteUnreached
	}
	if f != remoteFine {
		e.s.counts["fault "+string(f)]++
	}
	return f
}

func toyFinding() *model.Finding {
	return &model.Finding{Signature: "toy", Cluster: toyHome, Subjects: []model.ObjectRef{{Kind: "Widget", Namespace: toyHome.Namespace, Name: "target", Place: model.OnSupervisor("toy")}},
		Summary: "a toy", Facts: &toyFacts{Name: "target"}}
}

// run is the whole walk, in a bubble.
func (s *sim) run() {
	defer func() {
		if p := recover(); p != nil {
			s.fail(disagreement, "panic: %v\n%s", p, debug.Stack())
		}
		for _, e := range s.who {
			e.gone()
		}
	}()
	n := 12 + s.rng.Intn(28)
	for range n {
		s.world()
		e := s.who[0]
		if s.rng.Intn(4) == 0 {
			e = s.who[1]
		}
		if s.rng.Intn(25) == 0 {
			e.proc.mu.Lock()
			e.proc.dieAt, e.proc.how = e.proc.moments+1+s.rng.Intn(14), death(s.rng.Intn(3))
			e.proc.mu.Unlock()
		}
		e.step()
		if e.proc.isDead() {
			s.count("op die")
			s.log("%s: died", e.name)
			e.gone()
			e.start()
		}
		e.proc.mu.Lock()
		e.proc.dieAt = 0
		e.proc.mu.Unlock()
		time.Sleep(time.Duration(s.rng.Intn(4000000)) * time.Microsecond)
		if len(s.found) > 0 {
			return
		}
	}
	s.finish()
}

// gone is the end of a process: nothing of it goes on.
func (e *engineer) gone() {
	e.proc.kill()
	if e.walk != nil {
		e.walk.leases.halt()
	}
}

// world is what happens around the engineers.
func (s *sim) world() {
	if s.rng.Intn(4) > 0 {
		return
	}
	names := []string{"one-a", "one-b", "left", "right", "other", "shared", "e-a", "e-b", "junk", "by-hand"}
	name := names[s.rng.Intn(len(names))]
	op := ""
	switch s.rng.Intn(11) {
	case 10:
		op = "finalizer" // a controller holds what is deleted, or lets it go.
		s.hold(name, s.rng.Intn(2) == 0)
	case 9:
		op = "colleague-crowd" // so many that the server files the oldest together.
		for i := range 11 {
			time.Sleep(time.Second)
			live, err := s.do(fakeapi.Request{Verb: "get", Name: name})
			if err != nil {
				break
			}
			_ = unstructured.SetNestedField(live.Object, "x", "metadata", "labels", "crowd-"+strconv.Itoa(i))
			_, _ = s.do(fakeapi.Request{Verb: "update", Name: name, Body: live.Object, Manager: "crowd-" + strconv.Itoa(i)})
		}
	case 0:
		op = "colleague-create"
		_, _ = s.do(fakeapi.Request{Verb: "create", Name: name, Body: toyWidget(name, []string{"ours", "theirs"}[s.rng.Intn(2)])})
	case 1:
		op = "colleague-delete"
		if s.rng.Intn(2) == 0 {
			_, _ = s.do(fakeapi.Request{Verb: "delete", Name: name})
		}
	case 2, 3:
		op = "colleague-update"
		live, err := s.do(fakeapi.Request{Verb: "get", Name: name})
		if err != nil {
			break
		}
		path := [][]string{{"spec", "color"}, {"spec", "value"}, {"metadata", "labels", "team"}, {"metadata", "annotations", "note"}}[s.rng.Intn(4)]
		value := []string{"red", "blue", "x", "ours"}[s.rng.Intn(4)]
		_ = unstructured.SetNestedField(live.Object, value, path...)
		_, _ = s.do(fakeapi.Request{Verb: "update", Name: name, Body: live.Object, Manager: strconv.Itoa(s.rng.Intn(14))})
	case 4:
		op = "controller"
		s.api.SetStatus(widgets, toyHome.Namespace, "target", map[string]any{"phase": []string{"Ready", "Ready", "Pending"}[s.rng.Intn(3)]})
		s.api.SetStatus(widgets, toyHome.Namespace, "shared", map[string]any{"seen": strconv.Itoa(s.rng.Intn(1000))})
	case 5:
		op = "quorum"
		s.put("quorum", []string{"1", "2", "3", "3"}[s.rng.Intn(4)])
	case 6:
		op = "things"
		s.put("things", []string{"", "a", "a b", "b c", "a b c"}[s.rng.Intn(5)])
	case 7:
		op = "colleague-remote"
		s.toys.node.do(remoteWrite{name: "setting", was: s.toys.node.get("setting"), value: []string{"off", "third"}[s.rng.Intn(2)], by: "colleague"})
	case 8:
		op = "time"
		time.Sleep(time.Duration(s.rng.Intn(150)) * time.Second)
	}
	s.count("op " + op)
	s.log("world: %s %s", op, name)
}

// hold puts a finalizer on an object, or takes it off.
func (s *sim) hold(name string, held bool) {
	live, err := s.do(fakeapi.Request{Verb: "get", Name: name})
	if err != nil {
		return
	}
	live.SetFinalizers(nil)
	if held {
		live.SetFinalizers([]string{"toy.vksmedic/held"})
	}
	_, _ = s.do(fakeapi.Request{Verb: "update", Name: name, Body: live.Object, Manager: "controller"})
}

func (s *sim) put(name, value string) {
	live, err := s.do(fakeapi.Request{Verb: "get", Name: name})
	if err != nil {
		return
	}
	_ = unstructured.SetNestedField(live.Object, value, "spec", "value")
	_, _ = s.do(fakeapi.Request{Verb: "update", Name: name, Body: live.Object})
}

// step is one thing that the engineer does.
func (e *engineer) step() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	e.seen, e.sent = e.s.api.Count(), nil
	op, err := e.pick(ctx)
	e.s.count("op " + op)
	e.s.log("%s: %s: %v%s", e.name, op, err, e.where())
	if !e.proc.isDead() {
		e.check()
	}
	if op != "apply" {
		e.sentNothing(op)
	}
	if w := e.walk; w != nil && (w.left || w.st.finished) {
		if w.st.finished {
			e.s.count("op finish")
		}
		e.walk = nil
	}
}

func (e *engineer) where() string {
	w := e.walk
	if w == nil {
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := fmt.Sprintf("  [%s at %s %q %s", w.st.begin.ID, w.step().ID, w.st.item().name, w.st.item().state)
	if w.st.open() != nil {
		out += ", open"
	}
	if w.shown != nil {
		out += ", shows " + w.shown.plan.Preview.Title
		if b := w.shown.plan.Preview.Blocked; b != "" {
			out += " blocked: " + b
		}
	}
	return out + "]"
}

// pick draws an operation and does it.
func (e *engineer) pick(ctx context.Context) (string, error) {
	rng := e.s.rng
	if e.walk == nil {
		return e.pickWalk(ctx)
	}
	w := e.walk
	v := w.View()
	if v.Preview != nil {
		e.old = append(e.old, v.Preview.Token)
	}
	if v.Ask != nil && rng.Intn(4) > 0 {
		return "answer", w.Answer(ctx, v.Ask.ID, "yes")
	}
	n := rng.Intn(100)
	if rng.Intn(10) < 7 {
		n = e.sensible(&v)
	}
	switch {
	case n < 25:
		return "enter", w.Enter(ctx)
	case n < 50 && v.Preview != nil && v.Preview.Blocked == "" && v.Preview.Done == "":
		return "apply", e.apply(ctx, w)
	case n < 70:
		return "next", w.Next(ctx)
	case n < 73:
		if len(e.old) > 0 {
			token := e.old[rng.Intn(len(e.old))]
			if v.Preview != nil && token == v.Preview.Token {
				token += "x"
			}
			return "apply-old", w.Apply(ctx, token, "operator")
		}
		return "apply-nothing", w.Apply(ctx, "", "")
	case n < 77:
		if v.Choice != nil {
			w.Choose([]string{"a", "b", "c"}[rng.Intn(3)])
			return "choose", nil
		}
		return "enter", w.Enter(ctx)
	case n < 81:
		w.Back()
		return "back", nil
	case n < 85:
		return "by-hand", w.ByHand(ctx)
	case n < 91:
		return "undo", w.Undo(ctx)
	case n < 94:
		w.Leave()
		return "leave", nil
	case n < 96:
		look, cancel := context.WithTimeout(ctx, time.Duration(10+rng.Intn(80))*time.Second)
		defer cancel()
		return "follow", w.Follow(look, func(remedies.Progress) {})
	case n < 98:
		look, cancel := context.WithTimeout(ctx, time.Duration(31+rng.Intn(60))*time.Second)
		defer cancel()
		return "watch", w.Watch(look, func() {})
	case n < 99:
		return "watch-short", w.Watch(canceled(ctx), func() {})
	}
	e.proc.kill()
	return "kill", nil
}

func canceled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// sensible is what most people would do next, as a number for pick.
func (e *engineer) sensible(v *remedies.View) int {
	st := v.Steps[v.Current]
	switch {
	case v.Preview != nil && v.Preview.Done != "", v.Choice != nil, v.Preview == nil && over(st.State):
		return 60
	case v.Preview != nil && v.Preview.Blocked == "":
		return 30
	case st.Kind == remedies.StepManual && v.Commands != nil:
		return 83
	case st.Kind == remedies.StepWait && v.Progress != nil:
		return 95
	}
	return 0
}

func (e *engineer) pickWalk(ctx context.Context) (string, error) {
	rng := e.s.rng
	r := e.runner
	var err error
	pend, perr := r.Pending(ctx)
	n := rng.Intn(100)
	switch {
	case n < 6:
		return "pending", perr
	case n < 9 && len(pend) > 0:
		return "forget", r.Forget(pend[rng.Intn(len(pend))].ID)
	case n < 45 && len(pend) > 0:
		e.walk, err = r.Resume(ctx, pend[rng.Intn(len(pend))].ID)
		return "resume", err
	case n < 65:
		live, gerr := e.s.do(fakeapi.Request{Verb: "get", Resource: toyRoles, Name: "operator"})
		if gerr != nil {
			return "pending", gerr
		}
		if d := effect.Debts(live, model.OnSupervisor("")); len(d) > 0 {
			e.walk, err = r.Restore(ctx, d[rng.Intn(len(d))], "toy-restore")
			return "restore", err
		}
	}
	e.walk, err = r.Begin(ctx, toyFinding(), "toy")
	return "begin", err
}

// apply confirms the preview on the screen, and compares what was sent with it.
func (e *engineer) apply(ctx context.Context, w *Walk) error {
	w.mu.Lock()
	shown := w.shown
	w.mu.Unlock()
	v := w.View()
	err := w.Apply(ctx, v.Preview.Token, v.Preview.ConfirmName)
	marks := map[string]bool{}
	for _, r := range e.newRequests() {
		o, ok := shown.plan.Effect.(*effect.Object)
		if !ok {
			e.s.fail(disagreement, "%s %s was sent; shown was %s", r.Verb, r.Name, shown.plan.Effect.What())
			continue
		}
		if r.Verb != string(o.Verb) || r.Name != o.Name || r.Namespace != o.Namespace || r.Resource != o.GVR() || r.UID != o.UID ||
			!reflect.DeepEqual(boundBody(r.Body), boundBody(o.Want)) {
			e.s.fail(disagreement, "what was sent (%s %s %s %v) is not what was shown (%s %s %v)", r.Verb, r.Name, r.UID, r.Body, o.What(), o.UID, o.Want)
		}
		if r.Manager != "" {
			marks[r.Manager] = true
		}
	}
	for _, r := range e.sent {
		var t toyRemote
		switch x := shown.plan.Effect.(type) {
		case *toyCommand:
			t = x.toyRemote
		case *toyTask:
			t = x.toyRemote
		}
		if r.name != t.Name || r.was != t.Was || r.value != t.Value {
			e.s.fail(disagreement, "%v was sent, and %v was shown", r, t)
		}
		marks[r.mark] = true
	}
	if len(marks) > 1 {
		e.s.fail(doubleWrite, "one confirmation sent %v", marks)
	}
	return err
}

func boundBody(o map[string]any) map[string]any {
	if o == nil {
		return nil
	}
	c := runtime.DeepCopyJSON(o)
	delete(c, "status")
	for _, f := range []string{"uid", "resourceVersion", "managedFields", "generation", "creationTimestamp"} {
		unstructured.RemoveNestedField(c, "metadata", f)
	}
	return c
}

// newRequests are the writes that the engineer sent in this operation, the Lease's apart.
func (e *engineer) newRequests() []fakeapi.Request {
	var out []fakeapi.Request
	for _, r := range e.s.api.Received(e.seen) {
		if r.Client == e.name && r.Resource.Resource != "leases" {
			out = append(out, r)
		}
	}
	return out
}

func (e *engineer) sentNothing(op string) {
	for _, r := range e.newRequests() {
		e.s.fail(disagreement, "%s sent %s %s", op, r.Verb, r.Name)
	}
	for _, r := range e.sent {
		e.s.fail(disagreement, "%s sent %v", op, r)
	}
}

// check compares the live state with what the journal and what is not written yet say.
func (e *engineer) check() {
	w := e.walk
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.journal == nil && w.st.finished && len(w.unwritten) > 0 {
		return // the end could not be written; what is on the disk is resumed, and that is looked at.
	}
	live := dump(w.st)
	data := e.disk.read(filepath.Join(toyDir, w.st.begin.ID+journalSuffix))
	now := fmt.Sprint(live, len(data), len(w.unwritten), w.journal != nil)
	if now == e.compared {
		return // nothing has changed since.
	}
	e.compared = now
	got, err := e.replayed(w, data)
	if err != nil {
		e.s.fail(disagreement, "the journal of %s cannot be read: %v", w.st.begin.ID, err)
		return
	}
	if again := dump(got); live != again {
		var b strings.Builder
		for _, l := range remedies.Diff(again, live) {
			if l.Sign != ' ' {
				fmt.Fprintf(&b, "\n%c %s", l.Sign, l.Text)
			}
		}
		e.s.fail(disagreement, "what the journal says (-) is not what the walk is (+):%s", b.String())
	}
}

// replayed is the state that the journal has, with what is not written yet.
func (e *engineer) replayed(w *Walk, data []byte) (*state, error) {
	var lines [][]byte
	last := 0
	rec, _, err := readRecord(bytes.NewReader(data))
	switch {
	case errors.Is(err, errNoBeginning):
		first, err := json.Marshal(&entry{V: journalVersion, N: 1, Kind: entryBegin, Begin: &w.st.begin, Who: w.st.who, At: w.st.began})
		if err != nil {
			return nil, err
		}
		lines, last = append(lines, first), 1
	case err != nil:
		return nil, err
	default:
		for i := range rec.entries {
			if w.journal != nil && rec.entries[i].N > w.journal.last {
				continue // the disk said that it was not written.
			}
			b, err := json.Marshal(&rec.entries[i])
			if err != nil {
				return nil, err
			}
			lines, last = append(lines, b), rec.entries[i].N
		}
	}
	for i, x := range w.unwritten {
		c := *x
		c.N = last + 1 + i
		b, err := json.Marshal(&c)
		if err != nil {
			return nil, err
		}
		lines = append(lines, b)
	}
	if rec, _, err = readRecord(bytes.NewReader(append(bytes.Join(lines, []byte("\n")), '\n'))); err != nil {
		return nil, err
	}
	return replay(w.art, rec)
}

// dump is all of a state as text.
func dump(s *state) string {
	var b strings.Builder
	begin, _ := json.Marshal(s.begin)
	fmt.Fprintf(&b, "%s %d %s at %v finished %v %q\n", begin, s.began.UnixNano(), s.who, s.at, s.finished, s.final)
	choice, _ := json.Marshal(s.choice)
	fmt.Fprintf(&b, "choice %s\n", choice)
	for _, st := range s.steps {
		fmt.Fprintf(&b, "step %s listed %v\n", st.id, st.listed)
		for _, it := range st.items {
			fmt.Fprintf(&b, "  %q %s %q %d\n", it.name, it.state, it.note, it.until.UnixNano())
		}
	}
	for _, a := range s.attempts {
		e, _ := json.Marshal(a.effect)
		t, _ := json.Marshal(a.takes)
		fmt.Fprintf(&b, "attempt %s %d %d at %v %s %v back %v takes %s pays %s: %s %q %+v taken back %v untold %v before %s\n", a.Walk, a.N, a.Sent.UnixNano(), a.at, e, a.place,
			a.takesBack, t, a.pays, a.outcome, a.note, a.receipt, a.takenBack, a.untold, a.before)
	}
	return b.String()
}

// finish ends the walk: everything works again, what is in doubt is settled, and the cluster has
// to be as the records say. Then all that can be taken back is, and nothing may be left.
func (s *sim) finish() {
	s.calm = true
	s.log("calm")
	for _, e := range s.who {
		if e.walk != nil {
			e.walk.Leave()
			e.walk = nil
		}
	}
	time.Sleep(3 * time.Minute)
	s.put("quorum", "3")
	for _, u := range s.api.Objects(widgets) {
		s.hold(u.GetName(), false)
	}
	for _, e := range s.who {
		e.settleAll()
	}
	s.compare("settled")
	if len(s.found) > 0 {
		return
	}
	for _, e := range s.who {
		e.undoAll()
	}
	time.Sleep(3 * time.Minute)
	s.compare("undone")
	s.nothingLeft()
}

func (e *engineer) pendingIDs() []string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pend, err := e.runner.Pending(ctx)
	if err != nil {
		e.s.fail(disagreement, "cannot list what is pending: %v", err)
	}
	var out []string
	for _, p := range pend {
		if p.Refused != "" {
			e.s.fail(disagreement, "walk %s is refused: %s", p.ID, p.Refused)
			continue
		}
		out = append(out, p.ID)
	}
	return out
}

// with resumes a walk, does something, and leaves it.
func (e *engineer) with(id string, do func(ctx context.Context, w *Walk)) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	w, err := e.runner.Resume(ctx, id)
	if err != nil {
		e.s.fail(disagreement, "walk %s cannot be resumed: %v", id, err)
		return
	}
	e.walk = w
	do(ctx, w)
	e.s.log("%s: end%s", e.name, e.where())
	e.check()
	w.Leave()
	e.walk = nil
}

// enter does the reading of a step, and answers what is asked.
func (e *engineer) enter(ctx context.Context, w *Walk) error {
	err := w.Enter(ctx)
	for range 3 {
		v := w.View()
		if v.Ask == nil {
			break
		}
		err = w.Answer(ctx, v.Ask.ID, "yes")
	}
	return err
}

func (e *engineer) settleAll() {
	for _, id := range e.pendingIDs() {
		e.with(id, func(ctx context.Context, w *Walk) {
			err := e.enter(ctx, w)
			if w.st.open() != nil { // it counts from when it was picked up.
				time.Sleep(effect.UnderWay + time.Second)
				err = e.enter(ctx, w)
			}
			if w.st.open() != nil {
				e.s.fail(disagreement, "walk %s is still in doubt when all is calm: %v", id, err)
			}
		})
	}
}

func (e *engineer) undoAll() {
	for _, id := range e.pendingIDs() {
		e.with(id, e.undoWalk)
	}
}

func (e *engineer) undoWalk(ctx context.Context, w *Walk) {
	idle := 0
	for range 60 {
		if w.st.finished {
			return
		}
		err := w.Undo(ctx)
		if errors.Is(err, remedies.ErrAsk) {
			err = e.enter(ctx, w)
		}
		v := w.View()
		e.s.log("%s: undo all: %v%s", e.name, err, e.where())
		if errors.Is(err, remedies.ErrBlocked) && v.Preview == nil {
			break
		}
		switch {
		case err != nil:
			e.s.fail(lostUndo, "walk %s: undo: %v", v.ID, err)
			return
		case v.Preview == nil:
			continue // it was found done.
		case v.Preview.Blocked != "":
			e.s.fail(lostUndo, "walk %s: the undo is blocked: %s", v.ID, v.Preview.Blocked)
			return
		case v.Preview.Done != "":
			before := len(w.st.stands(""))
			if err = w.Next(ctx); len(w.st.stands("")) == before {
				if idle++; idle > before { // each was looked at, and none can be told.
					e.onlyUnknown(ctx, w)
					return
				}
			} else {
				idle = 0
			}
		default:
			e.seen, e.sent = e.s.api.Count(), nil
			err = e.apply(ctx, w)
		}
		e.s.log("%s: undo all: then %v%s", e.name, err, e.where())
	}
	e.onlyUnknown(ctx, w)
}

// onlyUnknown looks that what a walk did not take back is only what cannot be told.
func (e *engineer) onlyUnknown(ctx context.Context, w *Walk) {
	w.mu.Lock()
	s, err := w.sceneOf("")
	w.mu.Unlock()
	if err != nil {
		e.s.fail(disagreement, "walk %s: %v", w.ID(), err)
		return
	}
	for i := range s.Made {
		m := &s.Made[i]
		if st, _ := w.art.Step(m.Step); !m.Stands() || st.Undo == "" {
			continue
		}
		back, err := remedies.BackOf(ctx, s, m)
		if err != nil || back.Left != remedies.LeftUnknown {
			e.s.fail(lostUndo, "walk %s: attempt %d, %s, was not taken back: %s %q %v", w.ID(), m.N, m.Effect.What(), back.Left, back.Words, err)
		}
		e.s.count("left unknown")
	}
}

// records are the states of all walks on all disks.
func (s *sim) records() map[string]*state {
	out := map[string]*state{}
	for _, e := range s.who {
		for path, f := range e.disk.files {
			rec, _, err := readRecord(bytes.NewReader(f.data))
			if errors.Is(err, errNoBeginning) {
				continue
			}
			if err != nil {
				s.fail(disagreement, "journal %s: %v", path, err)
				continue
			}
			st, err := replay(s.cat.ByID(rec.begin.Article), rec)
			if err != nil {
				s.fail(disagreement, "journal %s: %v\n%s", path, err, f.data)
				continue
			}
			out[rec.begin.ID] = st
			if c := accountsOf(rec); accountWords(c) != accountWords(&st.accounts) {
				s.fail(disagreement, "journal %s: without the article\n%swith it\n%s", path, accountWords(c), accountWords(&st.accounts))
			}
		}
	}
	return out
}

// accountWords are what is open, owed and left.
func accountWords(c *accounts) string {
	var b strings.Builder
	for i := range c.attempts {
		a := &c.attempts[i]
		fmt.Fprintf(&b, "%s %q stands %v owed %v\n", a.Mark(), a.outcome, a.stands(), slices.Contains(c.owed(), a))
	}
	return b.String()
}

func attemptOf(records map[string]*state, mark string) (*attempt, *state) {
	for id, st := range records {
		n, ok := strings.CutPrefix(mark, remedies.MarkPrefix(id))
		if !ok {
			continue
		}
		if i, err := strconv.Atoi(n); err == nil && i >= 1 && i <= len(st.attempts) {
			return &st.attempts[i-1], st
		}
	}
	return nil, nil
}

func objectOf(a *attempt) *effect.Object {
	x, err := a.effect.effect(map[string]func() remedies.Effect{effect.ObjectKind: func() remedies.Effect { return &effect.Object{} },
		"toy-command": toyEffects()["toy-command"], "toy-task": toyEffects()["toy-task"]})
	if err != nil {
		return nil
	}
	o, _ := x.(*effect.Object)
	return o
}

// compare compares the cluster with the records.
func (s *sim) compare(when string) {
	records := s.records()
	stored := map[string]int{}
	gone := map[string]int{}
	for _, r := range s.api.Stored() {
		if r.Client == "colleague" || r.Resource.Resource == "leases" {
			continue
		}
		if r.Verb == "delete" {
			gone[r.Made]++
			s.deleted(records, &r)
			continue
		}
		stored[r.Manager]++
		a, _ := attemptOf(records, r.Manager)
		switch {
		case a == nil:
			s.fail(disagreement, "%s: %s %s by %q is in no record", when, r.Verb, r.Name, r.Manager)
		case stored[r.Manager] > 1:
			s.fail(doubleWrite, "%s: %s %s was stored twice as %s", when, r.Verb, r.Name, r.Manager)
		case a.outcome == outcomeRefused || a.outcome == outcomeNot:
			s.fail(lostUndo, "%s: %s %s as %s was stored, and the record says %s (%s)", when, r.Verb, r.Name, r.Manager, a.outcome, a.note)
		}
	}
	for _, to := range []*remote{s.toys.node, s.toys.vcenter} {
		for _, w := range to.done {
			if w.mark == "" {
				continue
			}
			stored[w.mark]++
			a, _ := attemptOf(records, w.mark)
			switch {
			case a == nil:
				s.fail(disagreement, "%s: %v is in no record", when, w)
			case stored[w.mark] > 1:
				s.fail(doubleWrite, "%s: %v was done twice", when, w)
			case w.outcome == "done" && (a.outcome == outcomeRefused || a.outcome == outcomeNot):
				s.fail(lostUndo, "%s: %v was done, and the record says %s (%s)", when, w, a.outcome, a.note)
			}
		}
	}
	for id, st := range records {
		for i := range st.attempts {
			a := &st.attempts[i]
			if a.outcome != outcomeMade {
				continue
			}
			o := objectOf(a)
			if o != nil && o.Verb == effect.Delete {
				if gone[o.UID] == 0 {
					s.fail(disagreement, "%s: %s: attempt %d is recorded as made, and nobody deleted %s", when, id, a.N, o.UID)
				}
			} else if stored[a.Mark()] == 0 {
				s.fail(disagreement, "%s: %s: attempt %d is recorded as made and was not stored", when, id, a.N)
			}
		}
	}
	s.debts(when, records)
}

// deleted looks whether somebody's deletion is recorded, and whether it took what was theirs to take.
func (s *sim) deleted(records map[string]*state, r *fakeapi.Request) {
	for _, st := range records {
		for i := range st.attempts {
			a := &st.attempts[i]
			o := objectOf(a)
			if o == nil || o.Verb != effect.Delete || o.UID != r.Made || st.who != r.Client {
				continue
			}
			if a.outcome == outcomeRefused || a.outcome == outcomeNot {
				continue // another attempt may have.
			}
			if st.steps[a.at.step].id == "drop" {
				return
			}
			for _, made := range s.api.Stored() {
				if made.Verb == "create" && made.Made == r.Made && strings.HasPrefix(made.Manager, remedies.MarkPrefix(a.Walk)) {
					return
				}
			}
			s.fail(disagreement, "the walk %s deleted %s %s, which it had not made", a.Walk, r.Name, r.Made)
			return
		}
	}
	s.fail(disagreement, "the deletion of %s %s by %s is in no record", r.Name, r.Made, r.Client)
}

// debts compares the debts on the role with those in the records.
func (s *sim) debts(when string, records map[string]*state) {
	live, err := s.do(fakeapi.Request{Verb: "get", Resource: toyRoles, Name: "operator"})
	if err != nil {
		s.fail(disagreement, "%s: the role: %v", when, err)
		return
	}
	on := map[string]bool{}
	for _, d := range effect.Debts(live, model.OnSupervisor("")) {
		on[d.ID] = true
		_, st := attemptOf(records, d.ID)
		if st == nil || !slices.ContainsFunc(st.owed(), func(o *attempt) bool { return o.takes.ID == d.ID }) {
			if a, _ := attemptOf(records, d.ID); a == nil || a.outcome != outcomeOpen {
				s.fail(lostUndo, "%s: the debt %s is on the role and in no record", when, d.ID)
			}
		}
	}
	paid := map[string]bool{}
	for _, st := range records {
		for i := range st.attempts {
			paid[st.attempts[i].pays] = true
		}
	}
	for id, st := range records {
		for _, a := range st.owed() {
			d := a.takes
			if !on[d.ID] && !paid[d.ID] && a.outcome != outcomeUnsure {
				s.fail(disagreement, "%s: walk %s owes %s, which is not on the role", when, id, d.ID)
			}
		}
	}
	if has := toyTakeable().Has(live.Object); has != (len(on) == 0) {
		s.fail(lostUndo, "%s: with %d debts on it, the role has the verb: %v", when, len(on), has)
	}
}

// nothingLeft looks for what walks that are not over made and did not take back.
func (s *sim) nothingLeft() {
	records := s.records()
	for _, u := range s.api.Objects(widgets) {
		for _, f := range u.GetManagedFields() {
			a, st := attemptOf(records, f.Manager)
			if a == nil || st.finished || a.takenBack {
				continue
			}
			if o := objectOf(a); o != nil && o.Verb == effect.Create {
				s.fail(lostUndo, "%s of walk %s is left after all was taken back", u.GetName(), a.Walk)
			}
		}
	}
	for _, to := range []*remote{s.toys.node, s.toys.vcenter} {
		if len(to.done) == 0 {
			continue
		}
		last := to.done[len(to.done)-1]
		if a, st := attemptOf(records, last.mark); a != nil && last.outcome == "done" && !st.finished && len(a.takesBack) == 0 {
			s.fail(lostUndo, "%v is left after all was taken back", last)
		}
	}
}

// String is what is printed of a walk that failed.
func (s *sim) String() string {
	return fmt.Sprintf("seed %d (VKSMEDIC_SEED=%d go test ./remedies/walk -run TestRandomWalks)\n%s\n%s\n%s", s.seed, s.seed, articleWords(s.art), strings.Join(s.ops, "\n"), strings.Join(s.found, "\n"))
}

func articleWords(a *kb.Article) string {
	var b strings.Builder
	for i := range a.Steps {
		st := &a.Steps[i]
		fmt.Fprintf(&b, "  %s: %s %+v when %q each %q undo %q needs %v\n", st.ID, st.Action, st.Params, st.When, st.Each, st.Undo, st.Needs)
	}
	return b.String()
}

// tally is what many walks brought.
type tally struct {
	mu     sync.Mutex
	loud   bool // each walk is printed.
	walks  int
	by     map[verdict]int
	counts map[string]int
	bad    []string
}

func (y *tally) add(s *sim) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.walks++
	for k, n := range s.by {
		y.by[k] += n
	}
	for k, n := range s.counts {
		y.counts[k] += n
	}
	if y.loud {
		fmt.Println(s.String())
	}
	if len(s.found) > 0 && len(y.bad) < 3 {
		y.bad = append(y.bad, s.String())
	}
}

// walk does the walks of some seeds, in as many goroutines as there are processors.
func walkSeeds(t *testing.T, seeds []int64, tw func() twist) *tally {
	t.Helper()
	y := &tally{loud: len(seeds) == 1, by: map[verdict]int{}, counts: map[string]int{}}
	const workers = 2
	t.Run("walks", func(t *testing.T) {
		for w := range workers {
			t.Run(strconv.Itoa(w), func(t *testing.T) {
				t.Parallel()
				for i := w; i < len(seeds); i += workers {
					synctest.Test(t, func(*testing.T) {
						var x twist
						if tw != nil {
							x = tw()
						}
						s := newSim(seeds[i], x)
						s.run()
						y.add(s)
					})
				}
			})
		}
	})
	return y
}

func (y *tally) words() string {
	return fmt.Sprintf("walks: %d, double writes: %d, lost undos: %d, disagreements: %d", y.walks, y.by[doubleWrite], y.by[lostUndo], y.by[disagreement])
}

// asked are the seeds that the environment asks for: VKSMEDIC_WALKS of them, beginning with
// VKSMEDIC_SEED. A seed alone is one walk, which is printed.
func asked(t *testing.T, n int) []int64 {
	t.Helper()
	number := func(name string, otherwise int) int {
		v := os.Getenv(name)
		if v == "" {
			return otherwise
		}
		i, err := strconv.Atoi(v)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return i
	}
	first := number("VKSMEDIC_SEED", 1)
	if os.Getenv("VKSMEDIC_SEED") != "" {
		n = 1
	}
	return seedsFrom(first, number("VKSMEDIC_WALKS", n))
}

// seedsFrom are n seeds from the first on.
func seedsFrom(first, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(first + i)
	}
	return out
}

// Random walks do nothing twice, lose no undo, and agree with their journals. VKSMEDIC_WALKS says
// how many there are.
func TestRandomWalks(t *testing.T) {
	seeds := asked(t, 300)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // memory is there, and time is short.
	y := walkSeeds(t, seeds, nil)
	fmt.Println(y.words())
	for _, bad := range y.bad {
		t.Errorf("%s", bad)
	}
	if os.Getenv("VKSMEDIC_WALKS") != "" {
		y.print(t)
	}
}

// print says how often each operation and each fault occurred. In many walks none may be missing.
func (y *tally) print(t *testing.T) {
	t.Helper()
	want := []string{}
	for _, op := range []string{"enter", "choose", "next", "back", "apply", "apply-old", "by-hand", "undo", "leave", "resume", "forget", "restore", "answer",
		"follow", "watch", "kill", "die", "finish", "begin", "pending", "time", "colleague-create", "colleague-update", "colleague-crowd", "colleague-delete", "colleague-remote", "controller", "quorum", "things", "finalizer"} {
		want = append(want, "op "+op)
	}
	for _, f := range fakeapi.WriteFaults() {
		want = append(want, "fault "+string(f))
	}
	for _, f := range diskFaults() {
		want = append(want, "fault "+string(f))
	}
	for _, f := range []remoteFault{remoteCut, remoteSilence, remoteDoneCut, remoteDelayed, remoteUnreached} {
		want = append(want, "fault "+string(f))
	}
	const enough = 5000 // walks, in which even what is rare comes up.
	for _, w := range want {
		if y.counts[w] == 0 && y.walks >= enough {
			t.Errorf("never: %s", w)
		}
	}
	var out []string
	for k, n := range y.counts {
		out = append(out, fmt.Sprintf("%s: %d", k, n))
	}
	slices.Sort(out)
	fmt.Println(strings.Join(out, ", "))
}
