package drainrule

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/signature"
	"vksmedic/model/text"
	"vksmedic/probes/object"
	"vksmedic/remedies/effect"
)

// What actions read live. Nothing here writes.

// resource is how a kind is served.
func (s scene) resource(ctx context.Context, kind string) (schema.GroupVersionResource, error) {
	gvr, _, served, err := s.Sites.Supervisor.ResourceFor(ctx, kind)
	if err != nil {
		return gvr, err //nolint:wrapcheck // wrapped by the caller, who knows the object.
	}
	if !served {
		return gvr, fmt.Errorf("the Supervisor does not serve %s", kind)
	}
	return gvr, nil
}

// get reads one object of a kind on the Supervisor as a row; nil when it is not there.
func (s scene) get(ctx context.Context, ref model.ObjectRef) (model.Object, error) {
	gvr, err := s.resource(ctx, ref.Kind)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", ref, err)
	}
	u, err := s.Sites.Supervisor.Dynamic().Resource(gvr).Namespace(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if effect.NotThere(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", ref, err)
	}
	row, err := object.Row(u.Object)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", ref, err)
	}
	return row, nil
}

// machine reads the Machine that the walk is about; nil when it is gone, another one of that name included.
func (s scene) machine(ctx context.Context) (*model.Machine, error) {
	o, err := s.get(ctx, s.Target.Ref)
	if err != nil || o == nil {
		return nil, err
	}
	m, ok := o.(*model.Machine)
	if !ok || m.UID != s.Target.UID {
		return nil, nil
	}
	return m, nil
}

// clusterObject reads the Cluster; nil when it is not there or may not be read, which rules
// with a clusterSelector then say.
func (s scene) clusterObject(ctx context.Context) *model.ClusterObject {
	o, err := s.get(ctx, model.ObjectRef{Kind: "Cluster", Namespace: s.Cluster.Namespace, Name: s.Cluster.Name})
	if err != nil {
		return nil
	}
	c, _ := o.(*model.ClusterObject)
	return c
}

// rules are the MachineDrainRules of the vSphere Namespace as they are now.
type rules struct {
	served bool
	gvr    schema.GroupVersionResource
	rows   []*model.DrainRule
	live   map[string]*unstructured.Unstructured
}

// rules lists them. Whether they are served is asked of the server itself: what discovery
// said may be old.
func (s scene) rules(ctx context.Context) (rules, error) {
	tries := []schema.GroupVersionResource{}
	gvr, _, served, err := s.Sites.Supervisor.ResourceFor(ctx, drainRuleKind)
	known := err != nil || served
	if err == nil && served {
		tries = append(tries, gvr)
	}
	for _, v := range []string{"v1beta2", "v1beta1"} {
		gvr := schema.GroupVersionResource{Group: clusterv1.GroupVersion.Group, Version: v, Resource: "machinedrainrules"}
		if !slices.Contains(tries, gvr) {
			tries = append(tries, gvr)
		}
	}
	for _, gvr := range tries {
		l, err := s.Sites.Supervisor.Dynamic().Resource(gvr).Namespace(s.Cluster.Namespace).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // a list of what is served is never not found.
		}
		if apierrors.IsForbidden(err) && !known {
			continue // who may not list a kind is told so before they are told that it is not served.
		}
		if err != nil {
			return rules{}, fmt.Errorf("cannot list MachineDrainRules in %s: %w", s.Cluster.Namespace, err)
		}
		r := rules{served: true, gvr: gvr, live: map[string]*unstructured.Unstructured{}}
		for i := range l.Items {
			u := &l.Items[i]
			u.SetAPIVersion(gvr.GroupVersion().String())
			u.SetKind(drainRuleKind)
			if u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0 {
				continue
			}
			if row := rowOfRule(u); row != nil {
				r.rows = append(r.rows, row)
				r.live[u.GetName()] = u
			}
		}
		slices.SortFunc(r.rows, func(a, b *model.DrainRule) int { return strings.Compare(a.Name, b.Name) })
		return r, nil
	}
	return rules{}, nil
}

// lines are the rules as lines of a plan's basis.
func (r rules) lines() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.live)) {
		out = append(out, ruleLine(r.live[name]))
	}
	return out
}

// picture is what coverage is judged on: the Cluster's labels and the rules as they are now.
func (s scene) picture(ctx context.Context, r rules) *model.Cluster {
	return &model.Cluster{Ref: s.Cluster, Object: s.clusterObject(ctx), DrainRules: r.rows, Workload: &model.Workload{}}
}

// agentPods lists the agents of the whole workload cluster live. The error says why that
// was not possible; the finding's own facts are then all there is.
func (s scene) agentPods(ctx context.Context, label string) ([]model.Pod, error) {
	if s.Sites.Workload == nil {
		return nil, fmt.Errorf("cannot look into cluster %s: no way in was given", s.Cluster)
	}
	dyn, err := s.Sites.Workload(ctx, s.Cluster)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the cluster already.
	}
	const plenty = 500
	l, err := dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).List(ctx, metav1.ListOptions{LabelSelector: label, Limit: plenty})
	if err != nil {
		return nil, fmt.Errorf("cannot list the agents of cluster %s: %w", s.Cluster, err)
	}
	var out []model.Pod
	for i := range l.Items {
		u := &l.Items[i]
		u.SetAPIVersion("v1")
		u.SetKind("Pod")
		if row, err := object.Row(u.Object); err == nil {
			if p, ok := row.(*model.Pod); ok {
				out = append(out, *p)
			}
		}
	}
	return out, nil
}

// agents joins what the finding knows with what is there now: agents come and go every few
// seconds, so that one look may miss a namespace. blind says why there was no look.
func (s scene) agents(ctx context.Context, label string) (groups []agents, seen []model.Pod, blind error) {
	seen, blind = s.agentPods(ctx, label)
	values := map[string]map[string]bool{}
	add := func(ns string, v ...string) {
		if !validNamespace(ns) {
			return
		}
		if values[ns] == nil {
			values[ns] = map[string]bool{}
		}
		for _, x := range v {
			values[ns][x] = true
		}
	}
	if f, ok := s.Facts.(*signature.AgentFacts); ok {
		for _, ns := range f.Namespaces {
			add(ns, f.Values[ns]...)
		}
	}
	own := map[string]map[string]string{} // labels of one pod seen, by namespace and value.
	for i := range seen {
		p := &seen[i]
		add(p.Namespace, p.Labels[label])
		own[p.Namespace+"/"+p.Labels[label]] = p.Labels
	}
	for _, ns := range slices.Sorted(maps.Keys(values)) {
		g := agents{Namespace: ns, Values: slices.Sorted(maps.Keys(values[ns]))}
		for _, v := range g.Values {
			l := own[ns+"/"+v]
			if l == nil {
				l = map[string]string{label: v}
			}
			g.Pods = append(g.Pods, lifecycle.Subject{Namespace: ns, Name: "kube-cert-agent", Labels: l, LabelsKnown: true})
		}
		if len(g.Values) == 0 {
			g.Pods = []lifecycle.Subject{{Namespace: ns, Name: "kube-cert-agent", HasKeys: []string{label}}}
		}
		groups = append(groups, g)
	}
	return groups, seen, blind
}

// machinesOf lists the Machines of the cluster as rows.
func (s scene) machinesOf(ctx context.Context) ([]*model.Machine, error) {
	gvr, err := s.resource(ctx, "Machine")
	if err != nil {
		return nil, fmt.Errorf("cannot list the Machines of %s: %w", s.Cluster, err)
	}
	l, err := s.Sites.Supervisor.Dynamic().Resource(gvr).Namespace(s.Cluster.Namespace).List(ctx,
		metav1.ListOptions{LabelSelector: clusterv1.ClusterNameLabel + "=" + s.Cluster.Name})
	if err != nil {
		return nil, fmt.Errorf("cannot list the Machines of %s: %w", s.Cluster, err)
	}
	var out []*model.Machine
	for i := range l.Items {
		u := &l.Items[i]
		u.SetAPIVersion(gvr.GroupVersion().String())
		u.SetKind("Machine")
		if row, err := object.Row(u.Object); err == nil {
			if m, ok := row.(*model.Machine); ok {
				out = append(out, m)
			}
		}
	}
	return out, nil
}

// replicas reads how far the rollout of a Machine's owner is: the control plane, or a MachineDeployment by name.
func (s scene) replicas(ctx context.Context, deployment string) (string, *model.Replicas, error) {
	if deployment != "" {
		o, err := s.get(ctx, model.ObjectRef{Kind: "MachineDeployment", Namespace: s.Cluster.Namespace, Name: deployment})
		if d, ok := o.(*model.MachineDeployment); ok && err == nil {
			return "MachineDeployment " + d.Name, &d.Replicas, nil
		}
		return "", nil, err
	}
	gvr, err := s.resource(ctx, "KubeadmControlPlane")
	if err != nil {
		return "", nil, fmt.Errorf("cannot read the control plane of %s: %w", s.Cluster, err)
	}
	l, err := s.Sites.Supervisor.Dynamic().Resource(gvr).Namespace(s.Cluster.Namespace).List(ctx,
		metav1.ListOptions{LabelSelector: clusterv1.ClusterNameLabel + "=" + s.Cluster.Name})
	if err != nil {
		return "", nil, fmt.Errorf("cannot read the control plane of %s: %w", s.Cluster, err)
	}
	for i := range l.Items {
		u := &l.Items[i]
		u.SetAPIVersion(gvr.GroupVersion().String())
		u.SetKind("KubeadmControlPlane")
		row, err := object.Row(u.Object)
		if cp, ok := row.(*model.ControlPlane); ok && err == nil {
			return "control plane", &cp.Replicas, nil
		}
	}
	return "", nil, nil
}

// nodeOfTarget is the name of the Machine's node, as the finding has it.
func (s scene) nodeOfTarget() string {
	if f, ok := s.Facts.(*signature.AgentFacts); ok {
		return f.Node
	}
	return ""
}

// nodeThere says whether a node is in the workload cluster.
func (s scene) nodeThere(ctx context.Context, name string) (bool, error) {
	dyn, err := s.Sites.API(ctx, model.InCluster("", s.Cluster))
	if err != nil {
		return false, err //nolint:wrapcheck // it names the cluster already.
	}
	_, err = dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}).Get(ctx, name, metav1.GetOptions{})
	if effect.NotThere(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot look for Node %s: %w", name, err)
	}
	return true, nil
}

// otherClusters are the names of the other clusters in the vSphere Namespace, as they are now.
func (s scene) otherClusters(ctx context.Context) ([]string, error) {
	gvr, err := s.resource(ctx, "Cluster")
	if err != nil {
		return nil, err
	}
	l, err := s.Sites.Supervisor.Dynamic().Resource(gvr).Namespace(s.Cluster.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot list the clusters in %s: %w", s.Cluster.Namespace, err)
	}
	var out []string
	for i := range l.Items {
		if name := l.Items[i].GetName(); name != s.Cluster.Name {
			out = append(out, text.Clean(model.ClusterRef{Namespace: s.Cluster.Namespace, Name: name}.String()))
		}
	}
	slices.Sort(out)
	return out, nil
}
