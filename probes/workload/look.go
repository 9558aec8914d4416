package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/model"
	"vksmedic/probes/object"
	"vksmedic/probes/supervisor"
	"vksmedic/probes/wire"
)

const (
	pageSize = 500
	// pageLimit is how many pages of one list are read.
	pageLimit = 20
	// agentLimit is how many agents are looked for: one would do, a few tell where they are.
	agentLimit = 100
)

// look reads a cluster once. before is what the last look found, nil for the first; what
// cannot be read this time is taken over from it as stale. It returns an error only where
// the cluster could not be read at all.
func look(ctx context.Context, c *client, ref model.ClusterRef, pointed []string, before *model.Workload, now func() time.Time) (*model.Workload, error) {
	nodes, err := list[*model.Node](ctx, c, kindOf("Node"), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	w := &model.Workload{Way: c.server, HasPinniped: model.Unknown, PodsOn: map[string]bool{}}
	if before != nil {
		w.Sightings, w.HasPinniped, w.NamespaceLabels = before.Sightings, before.HasPinniped, before.NamespaceLabels
	}
	at := now()
	w.NodesSource = okay(ref, model.PartNodes, at)
	w.PodsSource, w.BudgetsSource = okay(ref, model.PartPods, at), okay(ref, model.PartBudgets, at)
	for _, n := range nodes {
		w.Nodes = append(w.Nodes, *n)
	}
	slices.SortFunc(w.Nodes, func(a, b model.Node) int { return cmp.Compare(a.Name, b.Name) })
	near := nodesOfInterest(pointed, w.Nodes)
	if len(near) == 0 {
		return w, nil
	}
	closer(ctx, c, w, near, before)
	w.Sightings = sight(w.Sightings, w.Pods, w.PodsOn, at)
	return w, nil
}

// closer reads what is on the nodes of interest.
func closer(ctx context.Context, c *client, w *model.Workload, near []string, before *model.Workload) {
	r := reading{w: w, c: c, near: near, now: w.NodesSource.Seen, podsOf: map[string][]*model.Pod{}}
	var all sync.WaitGroup
	for _, n := range near {
		all.Go(func() { r.pods(ctx, n) })
	}
	all.Go(func() { r.agents(ctx) })
	all.Go(func() { r.budgets(ctx) })
	all.Go(func() { r.namespaces(ctx) })
	all.Go(func() { r.attachments(ctx) })
	all.Wait()
	r.join()
	r.logs(ctx, before)
}

// reading is what a closer look brings together. Its parts are read at the same time.
type reading struct {
	w    *model.Workload
	c    *client
	near []string
	now  time.Time

	mu          sync.Mutex
	podsOf      map[string][]*model.Pod
	podsErr     error
	agentPods   []*model.Pod
	agentsErr   error
	allBudgets  []*model.Budget
	budgetsErr  error
	labels      []*model.Namespace
	labelsErr   error
	allAttached []*model.VolumeAttachment
	attachedErr error
}

func (r *reading) pods(ctx context.Context, node string) {
	sel := fields.OneTermEqualSelector("spec.nodeName", node).String()
	pods, err := list[*model.Pod](ctx, r.c, kindOf("Pod"), metav1.ListOptions{FieldSelector: sel})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.podsErr = err
		return
	}
	r.podsOf[node] = pods
}

func (r *reading) agents(ctx context.Context) {
	r.agentPods, r.agentsErr = list[*model.Pod](ctx, r.c, kindOf("Pod"), metav1.ListOptions{LabelSelector: AgentLabel, Limit: agentLimit})
}

func (r *reading) budgets(ctx context.Context) {
	r.allBudgets, r.budgetsErr = list[*model.Budget](ctx, r.c, kindOf("PodDisruptionBudget"), metav1.ListOptions{})
}

func (r *reading) namespaces(ctx context.Context) {
	r.labels, r.labelsErr = list[*model.Namespace](ctx, r.c, kindOf("Namespace"), metav1.ListOptions{})
}

func (r *reading) attachments(ctx context.Context) {
	r.allAttached, r.attachedErr = list[*model.VolumeAttachment](ctx, r.c, kindOf("VolumeAttachment"), metav1.ListOptions{})
}

// join keeps what belongs to the nodes of interest.
func (r *reading) join() {
	w := r.w
	seen := map[string]bool{}
	namespaces := map[string]bool{}
	add := func(p *model.Pod) {
		if !seen[p.UID] {
			seen[p.UID], namespaces[p.Namespace] = true, true
			w.Pods = append(w.Pods, *p)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(r.podsOf)) {
		w.PodsOn[n] = true
		for _, p := range r.podsOf[n] {
			add(p)
		}
	}
	for _, p := range r.agentPods {
		add(p)
	}
	slices.SortFunc(w.Pods, func(a, b model.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	if r.agentsErr == nil {
		w.HasPinniped = model.No
		if len(r.agentPods) > 0 {
			w.HasPinniped = model.Yes
		}
	} else {
		w.HasPinniped = model.Unknown
	}
	troubled(&w.PodsSource, errors.Join(r.podsErr, r.agentsErr), r.c.server, "list pods")
	for _, b := range r.allBudgets {
		if namespaces[b.Namespace] {
			w.Budgets = append(w.Budgets, *b)
		}
	}
	slices.SortFunc(w.Budgets, func(a, b model.Budget) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	troubled(&w.BudgetsSource, r.budgetsErr, r.c.server, "list poddisruptionbudgets.policy")
	if r.labelsErr == nil {
		w.NamespaceLabels = map[string]map[string]string{}
		for _, n := range r.labels {
			if namespaces[n.Name] {
				w.NamespaceLabels[n.Name] = n.Labels
			}
		}
	}
	for _, a := range r.allAttached {
		if slices.Contains(r.near, a.Node) {
			w.Attachments = append(w.Attachments, *a)
		}
	}
	slices.SortFunc(w.Attachments, func(a, b model.VolumeAttachment) int { return cmp.Compare(a.Name, b.Name) })
}

// list reads a list in pages as rows of one type. With a limit in opts it reads one page.
func list[T model.Object](ctx context.Context, c *client, r schema.GroupVersionResource, opts metav1.ListOptions) ([]T, error) {
	var out []T
	what := wire.What{GroupVersionResource: r, Kind: kindServed(r.Resource), Fields: opts.FieldSelector, Labels: opts.LabelSelector}
	pages, limit, token := pageLimit, pageSize, ""
	if opts.Limit > 0 {
		pages, limit = 1, int(opts.Limit)
	}
	var unread error
	for range pages {
		before := len(out)
		p, err := c.lists.Page(ctx, what, limit, token, func(u map[string]any, _ int, err error) error {
			var o model.Object
			if err == nil {
				o, err = object.StrictRow(u)
			}
			v, ok := o.(T)
			switch {
			case err != nil && !ok:
				unread = err
			case ok:
				if c.keep != nil {
					c.keep(u)
				}
				out = append(out, v)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", r.GroupResource(), err)
		}
		if p.Continue == "" || p.Continue == token || len(out) == before {
			break
		}
		token = p.Continue
	}
	if unread != nil && len(out) == 0 {
		return nil, fmt.Errorf("cannot list %s: the list is not understood: %w", r.GroupResource(), unread)
	}
	return out, nil
}

// kindOf is the resource of a kind that is looked at in workload clusters.
func kindOf(name string) schema.GroupVersionResource {
	k, _ := object.Named(name)
	return served(k)
}

// served is a kind as every workload cluster serves it: those that are read here have had one
// version for years.
func served(k object.Kind) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.Groups[0], Version: k.Versions[0], Resource: k.Resource}
}

func okay(ref model.ClusterRef, part string, at time.Time) model.Source {
	return model.Source{Name: model.WorkloadSource(ref, part), State: model.SourceOK, Seen: at}
}

// troubled marks a source whose part of the look failed.
func troubled(s *model.Source, err error, server, doing string) {
	if err == nil {
		return
	}
	s.State, s.Detail = explain(err, server, doing)
	s.Seen = time.Time{}
}

func explain(err error, server, doing string) (model.SourceState, string) {
	switch {
	case apierrors.IsUnauthorized(err):
		return model.SourceForbidden, fmt.Sprintf("%s does not take the credentials of the cluster's kubeconfig (401 Unauthorized)", server)
	case apierrors.IsForbidden(err):
		return model.SourceForbidden, fmt.Sprintf("the user of the cluster's kubeconfig may not %s", doing)
	}
	return model.SourceUnreachable, supervisor.ExplainReach(err, server)
}

// Unread is what is known of a cluster that could not be looked into at all.
func Unread(ref model.ClusterRef, state model.SourceState, why string) *model.Workload {
	return failed(ref, nil, state, why)
}

// failed is what is known when a look failed altogether: what was known before, as stale.
func failed(ref model.ClusterRef, before *model.Workload, state model.SourceState, why string) *model.Workload {
	w := &model.Workload{HasPinniped: model.Unknown}
	if before != nil {
		c := *before
		w = &c
	}
	for part, s := range map[string]*model.Source{model.PartNodes: &w.NodesSource, model.PartPods: &w.PodsSource, model.PartBudgets: &w.BudgetsSource} {
		s.Name, s.Detail, s.State = model.WorkloadSource(ref, part), why, state
		if !s.Seen.IsZero() {
			s.State = model.SourceStale
		}
	}
	return w
}

// kindServed is the kind of a resource that is looked at: lists of the API do not say it with each item.
func kindServed(resource string) string {
	for _, k := range object.KindsIn(model.PlaceCluster) {
		if k.Resource == resource {
			return k.Name
		}
	}
	return ""
}
