package walk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/probes/supervisor"
	"vksmedic/remedies"
	"vksmedic/remedies/action"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/kb"
)

// The toys: small actions and effects of every kind, against servers in this process.

var (
	widgets  = schema.GroupVersionResource{Group: "toy.vksmedic", Version: "v1", Resource: "widgets"}
	toyRoles = schema.GroupVersionResource{Group: "toy.vksmedic", Version: "v1", Resource: "toyroles"}
	// toyClusters are those for which something can be taken.
	toyClusters = schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "clusters"}
	toyHome     = model.ClusterRef{Namespace: "team-a", Name: "c1"}
)

const toyVerb = "patch-endpoints"

// toySupervisor is the way to the Supervisor.
type toySupervisor struct{ dyn dynamic.Interface }

func (t *toySupervisor) Dynamic() dynamic.Interface { return t.dyn }

func (t *toySupervisor) Marks(ctx context.Context, namespace string) (model.Marks, error) {
	m := model.Marks{Namespace: namespace}
	for name, to := range map[string]*string{"kube-system": &m.SystemUID, namespace: &m.NamespaceUID} {
		if name == "" {
			continue
		}
		u, err := t.dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return m, fmt.Errorf("cannot read namespace %s: %w", name, err)
		}
		*to = string(u.GetUID())
	}
	return m, nil
}

func (t *toySupervisor) ResourceFor(_ context.Context, kind string) (schema.GroupVersionResource, bool, bool, error) {
	switch kind {
	case "Widget":
		return widgets, true, true, nil
	case "Cluster":
		return toyClusters, true, true, nil
	case "ToyRole":
		return toyRoles, false, true, nil
	}
	return schema.GroupVersionResource{}, false, false, nil
}

func (t *toySupervisor) WhyForbidden(context.Context, supervisor.Ask, error) supervisor.Refusal {
	return supervisor.Refusal{By: supervisor.RefusedByRights, Words: "no role allows it"}
}

// remoteFault is how a node or a vCenter fails.
type remoteFault string

const (
	remoteFine      remoteFault = ""
	remoteCut       remoteFault = "remote-cut"         // nothing was done.
	remoteSilence   remoteFault = "remote-silence"     // nothing was done.
	remoteDoneCut   remoteFault = "remote-stored-cut"  // done.
	remoteDelayed   remoteFault = "remote-delayed"     // done after the client gave up.
	remoteUnreached remoteFault = "remote-unreachable" // of any request, reads too.
)

// remote is what a node and a vCenter have in common here: values by name, each write with its
// mark, atomically.
type remote struct {
	mu     sync.Mutex
	values map[string]string
	done   []remoteWrite // what was done, in order: marker files on a node, tasks of a vCenter.
}

type remoteWrite struct{ mark, name, was, value, outcome, by string }

// do does a write: the guard (it still has the value that was seen) and the act are one. The
// marker says what came of it.
func (r *remote) do(w remoteWrite) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.outcome = "done"
	if r.values[w.name] != w.was {
		w.outcome = "moved"
	} else {
		r.values[w.name] = w.value
	}
	r.done = append(r.done, w)
	return w.outcome
}

func (r *remote) find(mark string) (int, remoteWrite) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, w := range r.done {
		if w.mark == mark {
			return i, w
		}
	}
	return -1, remoteWrite{}
}

func (r *remote) get(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.values[name]
}

// remoteConn is an engineer's connection to a node or a vCenter.
type remoteConn struct {
	to    *remote
	marks model.Marks
	by    string
	// fault says how a request fails; sent is told what is sent.
	fault func(write bool) remoteFault
	sent  func(remoteWrite)
}

func (c *remoteConn) Marks(context.Context) (model.Marks, error) {
	if c.fault(false) != remoteFine {
		return model.Marks{}, errors.New("no route to host")
	}
	return c.marks, nil
}

func (c *remoteConn) read(name string) (string, error) {
	if c.fault(false) != remoteFine {
		return "", errors.New("no route to host")
	}
	return c.to.get(name), nil
}

func (c *remoteConn) look(mark string) (int, remoteWrite, error) {
	if c.fault(false) != remoteFine {
		return -1, remoteWrite{}, errors.New("no route to host")
	}
	n, w := c.to.find(mark)
	return n, w, nil
}

func (c *remoteConn) write(ctx context.Context, w remoteWrite) (string, error) {
	w.by = c.by
	c.sent(w)
	switch c.fault(true) {
	case remoteFine:
		return c.to.do(w), nil
	case remoteCut, remoteUnreached:
		return "", errors.New("connection reset by peer")
	case remoteDoneCut:
		c.to.do(w)
		return "", errors.New("connection reset by peer")
	case remoteSilence:
		<-ctx.Done()
		return "", ctx.Err()
	case remoteDelayed:
		<-ctx.Done()
		time.AfterFunc(20*time.Second, func() { c.to.do(w) })
		return "", ctx.Err()
	}
	return "", errors.New("no such fault")
}

// toyRemote is an effect on a node or a vCenter. On a node one remote line guards, acts and
// leaves a marker file; a vCenter gets a task whose description is the mark.
type toyRemote struct {
	At    model.Place `json:"at"`
	Name  string      `json:"name"`
	Was   string      `json:"was"`
	Value string      `json:"value"`
}

type (
	toyCommand struct{ toyRemote }
	toyTask    struct{ toyRemote }
)

func (t *toyCommand) Kind() string { return "toy-command" }
func (t *toyTask) Kind() string    { return "toy-task" }

func (t *toyRemote) Place() model.Place { return t.At }
func (t *toyRemote) What() string       { return "set " + t.Name + " on " + t.At.String() }
func (t *toyRemote) Binds() []string {
	return []string{t.What() + " from " + t.Was + " to " + t.Value}
}

func (t *toyRemote) conn(ctx context.Context, s *remedies.Sites) (*remoteConn, error) {
	c, err := s.Open(ctx, t.At)
	if err != nil {
		return nil, err
	}
	return c.(*remoteConn), nil
}

func (t *toyRemote) DryRun(ctx context.Context, s *remedies.Sites) (remedies.Answer, error) {
	c, err := t.conn(ctx, s)
	if err != nil {
		return remedies.Answer{}, err
	}
	now, err := c.read(t.Name)
	if err != nil {
		return remedies.Answer{}, err
	}
	a := remedies.Answer{Server: "would do it", May: model.Yes, MaySays: "asked", Diff: remedies.Diff(now+"\n", t.Value+"\n"), Moving: now != t.Was}
	if a.Moving {
		a.Blocked = "it is being changed"
	}
	return a, nil
}

func (t *toyRemote) Send(ctx context.Context, s *remedies.Sites, a remedies.Attempt) (remedies.Receipt, error) {
	c, err := t.conn(ctx, s)
	if err != nil {
		return remedies.Receipt{}, err
	}
	outcome, err := c.write(ctx, remoteWrite{mark: a.Mark(), name: t.Name, was: t.Was, value: t.Value})
	if err != nil {
		return remedies.Receipt{}, err
	}
	if outcome == "moved" {
		return remedies.Receipt{}, &remedies.Refusal{Err: remedies.ErrMoved, Words: "it is not as it was read"}
	}
	return remedies.Receipt{Exit: outcome, Task: a.Mark()}, nil
}

func (t *toyRemote) Look(ctx context.Context, s *remedies.Sites, a remedies.Attempt) (remedies.Sight, error) {
	c, err := t.conn(ctx, s)
	if err != nil {
		return remedies.Sight{}, err
	}
	n, w, err := c.look(a.Mark())
	switch {
	case err != nil:
		return remedies.Sight{}, err
	case n < 0:
		return remedies.Sight{Happened: remedies.HappenedNo, Words: "there is no marker"}, nil
	case w.outcome == "moved":
		return remedies.Sight{Happened: remedies.HappenedNo, Never: true, Words: "its guard refused"}, nil
	}
	return remedies.Sight{Happened: remedies.HappenedYes, Receipt: remedies.Receipt{Exit: w.outcome, Task: a.Mark()}}, nil
}

func (t *toyRemote) Command(*remedies.Sites) remedies.Copy {
	return remedies.Copy{Text: "toy-set -- " + remedies.Quote(t.Name) + " " + remedies.Quote(t.Value)}
}

func (t *toyRemote) reverse(ctx context.Context, s *remedies.Sites, as func(toyRemote) remedies.Effect) (remedies.Back, error) {
	c, err := t.conn(ctx, s)
	if err != nil {
		return remedies.Back{}, err
	}
	now, err := c.read(t.Name)
	switch {
	case err != nil:
		return remedies.Back{}, err
	case now == t.Was:
		return remedies.Back{Left: remedies.LeftNothing, Words: t.Name + " is as it was"}, nil
	case now != t.Value:
		return remedies.Back{Left: remedies.LeftUnknown, Words: t.Name + " was changed since"}, nil
	}
	p := &remedies.Plan{Effect: as(toyRemote{At: t.At, Name: t.Name, Was: t.Value, Value: t.Was})}
	p.Preview.Title, p.Preview.TakeBack = "Set "+t.Name+" back", "walk the article again"
	return remedies.Back{Left: remedies.LeftSome, Plan: p}, nil
}

func (t *toyCommand) Reverse(ctx context.Context, s *remedies.Sites, _ remedies.Attempt, _ remedies.Receipt) (remedies.Back, error) {
	return t.reverse(ctx, s, func(r toyRemote) remedies.Effect { return &toyCommand{r} })
}

func (t *toyTask) Reverse(ctx context.Context, s *remedies.Sites, _ remedies.Attempt, _ remedies.Receipt) (remedies.Back, error) {
	return t.reverse(ctx, s, func(r toyRemote) remedies.Effect { return &toyTask{r} })
}

var (
	_ remedies.Effect     = (*toyCommand)(nil)
	_ remedies.Effect     = (*toyTask)(nil)
	_ remedies.Reversible = (*toyCommand)(nil)
	_ remedies.Reversible = (*toyTask)(nil)
)

// Parameters.

type toyNone struct{}

type toyMake struct {
	Names []string `yaml:"names" need:"yes" doc:"names"`
	Value string   `yaml:"value" need:"yes" doc:"value"`
}

type toySet struct {
	Name  string `yaml:"name" need:"yes" doc:"name"`
	Field string `yaml:"field" doc:"field"`
	Value string `yaml:"value" doc:"value; left out: the field is taken away"`
}

func toyWidget(name, value string) map[string]any {
	return map[string]any{"apiVersion": widgets.GroupVersion().String(), "kind": "Widget",
		"metadata": map[string]any{"name": name, "namespace": toyHome.Namespace}, "spec": map[string]any{"value": value, "size": int64(1) << 53}}
}

func toyObject(name string) *effect.Object {
	return effect.NewObject(model.OnSupervisor(""), effect.Update, widgets, "Widget", toyHome.Namespace, name)
}

func spec(u *unstructured.Unstructured, field string) string {
	if u == nil {
		return ""
	}
	v, _, _ := unstructured.NestedString(u.Object, "spec", field)
	return v
}

type toyLookAction struct{}

func (toyLookAction) Kind() remedies.StepKind { return remedies.StepLook }
func (toyLookAction) Look(ctx context.Context, s *remedies.Scene) (remedies.Found, error) {
	l, err := s.Sites.Supervisor.Dynamic().Resource(widgets).Namespace(toyHome.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return remedies.Found{}, fmt.Errorf("cannot list: %w", err)
	}
	return remedies.Found{Note: fmt.Sprintf("%d widgets", len(l.Items))}, nil
}

type toyChooseAction struct{}

func (toyChooseAction) Kind() remedies.StepKind { return remedies.StepChoose }
func (toyChooseAction) Choice(_ context.Context, s *remedies.Scene) (*remedies.Choice, error) {
	p := s.Params.(*kb.Choose)
	c := &remedies.Choice{Question: p.Question, Selected: p.Default}
	for _, o := range p.Answers {
		c.Options = append(c.Options, remedies.Option{ID: o.ID, Title: o.Title})
	}
	return c, nil
}

type toyMakeAction struct{}

func (toyMakeAction) Kind() remedies.StepKind { return remedies.StepChange }
func (toyMakeAction) Plan(ctx context.Context, s *remedies.Scene) (*remedies.Plan, error) {
	params := s.Params.(*toyMake)
	p := &remedies.Plan{}
	p.Preview.Title, p.Preview.TakeBack = "Make widgets", "u"
	for _, name := range params.Names {
		o := toyObject(name)
		live, err := o.Live(ctx, s.Sites)
		if err != nil {
			return nil, err
		}
		if live == nil {
			o.Verb, o.Want = effect.Create, toyWidget(name, params.Value)
			p.Preview.Title, p.Effect = "Make widget "+name, o
			return p, nil
		}
		if spec(live, "value") != params.Value {
			p.Preview.Blocked = name + " is there and is another one"
			return p, nil
		}
	}
	p.Preview.Done = "they are there"
	return p, nil
}

func (toyMakeAction) Verify(s *remedies.Scene) remedies.Watch {
	params := s.Params.(*toyMake)
	return remedies.Once(func(ctx context.Context) (bool, string, error) {
		for i, name := range params.Names {
			live, err := toyObject(name).Live(ctx, s.Sites)
			if err != nil {
				return false, "", err
			}
			if spec(live, "value") != params.Value {
				return false, fmt.Sprintf("%d of %d are there", i, len(params.Names)), nil
			}
		}
		return true, "they are there", nil
	})
}

type toySetAction struct{}

func (toySetAction) Kind() remedies.StepKind { return remedies.StepChange }
func (toySetAction) Plan(ctx context.Context, s *remedies.Scene) (*remedies.Plan, error) {
	params := s.Params.(*toySet)
	p := &remedies.Plan{}
	p.Preview.Title, p.Preview.TakeBack = "Set "+params.Field+" of "+params.Name, "u"
	o := toyObject(params.Name)
	live, err := o.Live(ctx, s.Sites)
	switch {
	case err != nil:
		return nil, err
	case live == nil:
		p.Preview.Blocked = params.Name + " is not there"
		return p, nil
	case spec(live, params.Field) == params.Value:
		p.Preview.Done = "it is so"
		return p, nil
	}
	want := effect.Whole(live)
	if params.Value == "" {
		unstructured.RemoveNestedField(want, "spec", params.Field)
	} else if err := unstructured.SetNestedField(want, params.Value, "spec", params.Field); err != nil {
		return nil, fmt.Errorf("cannot set it: %w", err)
	}
	p.Effect = o.Change(live, want)
	return p, nil
}

func (toySetAction) Verify(s *remedies.Scene) remedies.Watch {
	params := s.Params.(*toySet)
	return remedies.Once(func(ctx context.Context) (bool, string, error) {
		live, err := toyObject(params.Name).Live(ctx, s.Sites)
		return live != nil && spec(live, params.Field) == params.Value, "looked at " + params.Name, err
	})
}

type toyDropAction struct{}

func (toyDropAction) Kind() remedies.StepKind { return remedies.StepChange }
func (toyDropAction) Plan(ctx context.Context, s *remedies.Scene) (*remedies.Plan, error) {
	params := s.Params.(*toySet)
	o := toyObject(params.Name)
	live, err := o.Live(ctx, s.Sites)
	if err != nil {
		return nil, err
	}
	if live == nil {
		p := &remedies.Plan{}
		p.Preview.Title, p.Preview.Done = "Delete "+params.Name, "it is gone"
		return p, nil
	}
	return o.Remove(live, s.Next.Walk), nil
}

func (toyDropAction) Verify(s *remedies.Scene) remedies.Watch {
	params := s.Params.(*toySet)
	return remedies.Once(func(ctx context.Context) (bool, string, error) {
		live, err := toyObject(params.Name).Live(ctx, s.Sites)
		return live == nil, "looked at " + params.Name, err
	})
}

// toyRemoteAction sets a value on a node or in a vCenter.
type toyRemoteAction struct{ vcenter bool }

func (toyRemoteAction) Kind() remedies.StepKind { return remedies.StepChange }
func (a toyRemoteAction) at() toyRemote {
	if a.vcenter {
		return toyRemote{At: model.InVCenter("", "vc")}
	}
	return toyRemote{At: model.OnNode("", toyHome, "node-1")}
}

func (a toyRemoteAction) Plan(ctx context.Context, s *remedies.Scene) (*remedies.Plan, error) {
	params := s.Params.(*toySet)
	p := &remedies.Plan{}
	p.Preview.Title, p.Preview.TakeBack = "Set "+params.Name, "u"
	t := a.at()
	c, err := t.conn(ctx, s.Sites)
	if err != nil {
		return nil, err
	}
	t.Name, t.Value = params.Name, params.Value
	if t.Was, err = c.read(t.Name); err != nil {
		return nil, err
	}
	if t.Was == t.Value {
		p.Preview.Done = "it is so"
		return p, nil
	}
	if a.vcenter {
		p.Effect = &toyTask{t}
	} else {
		p.Effect = &toyCommand{t}
	}
	return p, nil
}

func (a toyRemoteAction) Verify(s *remedies.Scene) remedies.Watch {
	params := s.Params.(*toySet)
	return remedies.Once(func(ctx context.Context) (bool, string, error) {
		t := a.at()
		c, err := t.conn(ctx, s.Sites)
		if err != nil {
			return false, "", err
		}
		now, err := c.read(params.Name)
		return now == params.Value, "it is " + now, err
	})
}

// toyTakeable is the one thing that can be taken here.
func toyTakeable() effect.Takeable {
	verbs := func(o map[string]any) []string {
		v, _, _ := unstructured.NestedStringSlice(o, "rules", "verbs")
		return v
	}
	put := func(o map[string]any, v []string) { _ = unstructured.SetNestedStringSlice(o, v, "rules", "verbs") }
	return effect.Takeable{ID: toyVerb, What: "patch on endpoints",
		Has: func(o map[string]any) bool { return slices.Contains(verbs(o), "patch") },
		Take: func(o map[string]any) {
			put(o, slices.DeleteFunc(verbs(o), func(v string) bool { return v == "patch" }))
		},
		Return: func(o map[string]any) { put(o, append(verbs(o), "patch")) },
	}
}

func toyRole() *effect.Object {
	return effect.NewObject(model.OnSupervisor(""), effect.Update, toyRoles, "ToyRole", "", "operator")
}

type toyTakeAction struct{}

func (toyTakeAction) Kind() remedies.StepKind { return remedies.StepChange }
func (toyTakeAction) Plan(ctx context.Context, s *remedies.Scene) (*remedies.Plan, error) {
	p := &remedies.Plan{Wide: true}
	p.Preview.Title, p.Preview.TakeBack, p.Preview.Confirm, p.Preview.ConfirmName = "Take patch", "u", remedies.ConfirmName, "operator"
	role := toyRole()
	live, err := role.Live(ctx, s.Sites)
	if err != nil {
		return nil, err
	}
	if live == nil {
		p.Preview.Blocked = "the role is not there"
		return p, nil
	}
	for _, d := range effect.Debts(live, role.At) {
		if strings.HasPrefix(d.ID, remedies.MarkPrefix(s.Next.Walk)) {
			p.Preview.Done = "it is taken"
			return p, nil
		}
	}
	d := remedies.Debt{ID: s.Next.Mark(), Takes: toyVerb, On: role.Ref(), Place: role.At, For: s.Cluster, Who: s.Who, Since: s.Began, Supervisor: s.Marks}
	switch p.Effect, err = toTake(live, role, d); {
	case errors.Is(err, remedies.ErrBlocked):
		p.Effect, p.Preview.Blocked = nil, err.Error()
		return p, nil
	case err != nil:
		return nil, err
	}
	p.Takes, p.AlsoTry = &d, []remedies.Effect{role.Change(live, effect.Whole(live))}
	return p, nil
}

func toTake(live *unstructured.Unstructured, role *effect.Object, d remedies.Debt) (remedies.Effect, error) {
	o, err := effect.TakeFrom(live, role, toyTakeable(), d)
	if err != nil {
		return nil, err //nolint:wrapcheck // a test.
	}
	return o, nil
}

func (toyTakeAction) Verify(s *remedies.Scene) remedies.Watch {
	return remedies.Once(func(ctx context.Context) (bool, string, error) {
		live, err := toyRole().Live(ctx, s.Sites)
		if err != nil || live == nil {
			return false, "the role is not there", err
		}
		mine := slices.ContainsFunc(effect.Debts(live, model.OnSupervisor("")), func(d remedies.Debt) bool {
			return strings.HasPrefix(d.ID, remedies.MarkPrefix(s.Next.Walk))
		})
		return mine && !toyTakeable().Has(live.Object), "looked at the role", nil
	})
}

// TakeBack gives back.
func (toyTakeAction) TakeBack(ctx context.Context, s *remedies.Scene, m *remedies.Made) (remedies.Back, error) {
	p, err := payPlan(ctx, s, m.Mark())
	if err != nil || p.Preview.Done == "" {
		return remedies.Back{Left: remedies.LeftSome, Plan: p}, err
	}
	return remedies.Back{Left: remedies.LeftNothing, Words: p.Preview.Done}, nil
}

func payPlan(ctx context.Context, s *remedies.Scene, id string) (*remedies.Plan, error) {
	p := &remedies.Plan{Wide: true, Pays: id}
	p.Preview.Title = "Give patch back"
	live, err := toyRole().Live(ctx, s.Sites)
	if err != nil {
		return nil, err
	}
	if live == nil {
		p.Preview.Done = "the role is gone"
		return p, nil
	}
	o, why, err := effect.GiveBack(live, toyRole(), toyTakeable(), id)
	if err != nil {
		return nil, err //nolint:wrapcheck // a test.
	}
	if o == nil {
		p.Preview.Done = why
		return p, nil
	}
	p.Effect = o
	return p, nil
}

// toyPayAction pays the debt for which the walk was begun.
type toyPayAction struct{}

func (toyPayAction) Kind() remedies.StepKind { return remedies.StepChange }
func (toyPayAction) Plan(ctx context.Context, s *remedies.Scene) (*remedies.Plan, error) {
	if s.Debt == nil {
		p := &remedies.Plan{}
		p.Preview.Title, p.Preview.Done = "Give patch back", "nothing is owed"
		return p, nil
	}
	return payPlan(ctx, s, s.Debt.ID)
}

func (toyPayAction) Verify(s *remedies.Scene) remedies.Watch {
	return remedies.Once(func(ctx context.Context) (bool, string, error) {
		live, err := toyRole().Live(ctx, s.Sites)
		if err != nil || live == nil || s.Debt == nil {
			return err == nil, "the role is not there", err
		}
		owed := slices.ContainsFunc(effect.Debts(live, model.OnSupervisor("")), func(d remedies.Debt) bool { return d.ID == s.Debt.ID })
		return !owed, "looked at the role", nil
	})
}

type toyWaitAction struct{}

func (toyWaitAction) Kind() remedies.StepKind { return remedies.StepWait }
func (toyWaitAction) Verify(s *remedies.Scene) remedies.Watch {
	return remedies.Steady(remedies.Once(func(ctx context.Context) (bool, string, error) {
		live, err := toyObject("target").Live(ctx, s.Sites)
		if err != nil || live == nil {
			return false, "the target is not there", err
		}
		phase, _, _ := unstructured.NestedString(live.Object, "status", "phase")
		return phase == "Ready", "the target is " + phase, nil
	}), 10*time.Second, 5*time.Minute, s.Now)
}

type toyByHandAction struct{}

func (toyByHandAction) Kind() remedies.StepKind { return remedies.StepManual }
func (toyByHandAction) Commands(s *remedies.Scene) []string {
	return []string{"make widget " + s.Params.(*toySet).Name}
}

func (toyByHandAction) Verify(s *remedies.Scene) remedies.Watch {
	params := s.Params.(*toySet)
	return remedies.Once(func(ctx context.Context) (bool, string, error) {
		live, err := toyObject(params.Name).Live(ctx, s.Sites)
		return live != nil, "looked for " + params.Name, err
	})
}

// toyFacts are what the findings carry.
type toyFacts struct{ Name string }

func toyRegistry() kb.Registry {
	act := func(name string, k remedies.StepKind, params func() any) kb.Action {
		return kb.Action{Name: name, Kind: k, Doc: "A toy.", Params: params}
	}
	set := func() any { return &toySet{} }
	none := func() any { return &toyNone{} }
	return kb.Registry{
		Actions: []kb.Action{
			act("toy-look", remedies.StepLook, none), act("toy-choose", remedies.StepChoose, func() any { return &kb.Choose{} }),
			act("toy-make", remedies.StepChange, func() any { return &toyMake{} }), act("toy-set", remedies.StepChange, set),
			act("toy-drop", remedies.StepChange, set), act("toy-command", remedies.StepChange, set), act("toy-task", remedies.StepChange, set),
			act("toy-take", remedies.StepChange, none), act("toy-pay", remedies.StepChange, none),
			act("toy-take-back", remedies.StepChange, func() any { return &kb.TakeBack{} }),
			act("toy-wait", remedies.StepWait, none), act("toy-by-hand", remedies.StepManual, set),
		},
		Signatures: []kb.SignatureFacts{{ID: "toy", Title: "A toy", Facts: func() any { return &toyFacts{} }}, {ID: "toy-restore", Title: "A debt", Facts: func() any { return &toyFacts{} }}},
		Guards:     []kb.Named{{Name: "quorum", Doc: "A quorum is there."}},
		Each:       []kb.Named{{Name: "things", Doc: "Things."}},
	}
}

func toyActions() map[string]remedies.Action {
	return map[string]remedies.Action{
		"toy-look": toyLookAction{}, "toy-choose": toyChooseAction{}, "toy-make": toyMakeAction{}, "toy-set": toySetAction{}, "toy-drop": toyDropAction{},
		"toy-command": toyRemoteAction{}, "toy-task": toyRemoteAction{vcenter: true}, "toy-take": toyTakeAction{}, "toy-pay": toyPayAction{},
		"toy-take-back": action.All()["take-back"], "toy-wait": toyWaitAction{}, "toy-by-hand": toyByHandAction{},
	}
}

func toyGuard(ctx context.Context, s *remedies.Scene) (remedies.Guard, error) {
	live, err := toyObject("quorum").Live(ctx, s.Sites)
	if err != nil {
		return remedies.Guard{}, err
	}
	n := spec(live, "value")
	g := remedies.Guard{Holds: model.Yes, Words: n + " of 3 are healthy"}
	if n < "2" {
		g.Holds = model.No
	}
	return g, nil
}

func toyEffects() map[string]func() remedies.Effect {
	return map[string]func() remedies.Effect{
		"toy-command": func() remedies.Effect { return &toyCommand{} },
		"toy-task":    func() remedies.Effect { return &toyTask{} },
	}
}

func toyThings(ctx context.Context, s *remedies.Scene) ([]string, error) {
	live, err := toyObject("things").Live(ctx, s.Sites)
	if err != nil {
		return nil, err
	}
	return strings.Fields(spec(live, "value")), nil
}

// toyWorld is all that is outside of the program.
type toyWorld struct {
	node, vcenter *remote
}

func newToyWorld() *toyWorld {
	return &toyWorld{node: &remote{values: map[string]string{"setting": "off"}}, vcenter: &remote{values: map[string]string{"tag": "none"}}}
}
