package action

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/kb"
)

// spot is where objects that an article names are: a resource of a place, and the names.
type spot struct {
	at         model.Place
	gvr        schema.GroupVersionResource
	kind       string
	namespaced bool
	// namespace is empty for a kind that has none, and where all namespaces are meant.
	namespace, name string
}

// named is what an article says about where objects are.
type named struct {
	group, kind, namespace, name string
	// version is empty where any version that is served will do.
	version   string
	inCluster bool
	// all says that no namespace means all of them inside a workload cluster.
	all bool
}

func namedBy(o *kb.Object) named {
	return named{group: o.Group, kind: o.Kind, namespace: o.Namespace, name: o.Name, inCluster: o.InCluster()}
}

// unfit is an error that looking again does not mend: what the article names does not exist
// here, or is not for it.
type unfit struct{ words string }

func (u *unfit) Error() string { return u.words }

func unfitf(format string, args ...any) error {
	return &unfit{text.Clean(fmt.Sprintf(format, args...))}
}

// asUnfit is the words of an unfit; "" for any other error.
func asUnfit(err error) string {
	var u *unfit
	if errors.As(err, &u) {
		return u.words
	}
	return ""
}

// failed says what could not be done; a question that has to be answered first stays one.
func failed(err error, format string, args ...any) error {
	var q *remedies.Asking
	if err == nil || errors.As(err, &q) || asUnfit(err) != "" {
		return err
	}
	return fmt.Errorf("%s: %s", text.Clean(fmt.Sprintf(format, args...)), remedies.Short(err))
}

// locate finds out where the objects are that an article names. The error is an unfit where
// that is settled and they cannot be had; any other error says that it could not be found out.
func locate(ctx context.Context, s *remedies.Scene, n named) (*spot, error) {
	for _, v := range []string{n.namespace, n.name} {
		if strings.Contains(v, kb.NotKnown) {
			return nil, unfitf("the finding does not say which %s is meant: %s", n.kind, v)
		}
	}
	if n.group == "" && n.kind == "Secret" {
		return nil, unfitf("Secrets are neither shown nor changed")
	}
	o := &spot{at: model.OnSupervisor(""), kind: n.kind, namespace: n.namespace, name: n.name}
	if n.inCluster {
		if s.Cluster.Name == "" {
			return nil, unfitf("the finding names no cluster, so that there is none to look for %s in", n.kind)
		}
		o.at = model.InCluster("", s.Cluster)
	}
	if err := o.resolve(ctx, s, n.group, n.version); err != nil {
		return nil, err
	}
	switch {
	case !o.namespaced:
		o.namespace = ""
	case o.namespace == "" && n.inCluster && !n.all:
		return nil, unfitf("%s %s needs a namespace inside the cluster", n.kind, n.name)
	case o.namespace == "" && !n.inCluster && s.Cluster.Namespace == "":
		return nil, unfitf("the finding names no vSphere Namespace to look for %s in", n.kind)
	case o.namespace == "" && !n.inCluster:
		o.namespace = s.Cluster.Namespace
	}
	return o, nil
}

// resolve asks the place how the kind is served: in one version, or else in the newest.
func (o *spot) resolve(ctx context.Context, s *remedies.Scene, group, only string) error {
	if s.Sites.Discovery == nil {
		return fmt.Errorf("cannot ask %s what it serves: no way in was given", o.at)
	}
	d, err := s.Sites.Discovery(ctx, o.at)
	if err != nil {
		return failed(err, "cannot ask %s what it serves", o.at)
	}
	groups, err := d.ServerGroups()
	if err != nil {
		return failed(err, "cannot ask %s what it serves", o.at)
	}
	if len(groups.Groups) == 0 {
		return fmt.Errorf("cannot ask %s what it serves: it says that it serves nothing at all", o.at)
	}
	gk := schema.GroupKind{Group: group, Kind: o.kind}
	var in []string
	for _, v := range versionsOf(groups, group) {
		gv := schema.GroupVersion{Group: group, Version: v}
		list, err := d.ServerResourcesForGroupVersion(gv.String())
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil && only != "" && v != only:
			continue
		case err != nil:
			return failed(err, "cannot find out how %s serves %s", o.at, gk)
		}
		i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Kind == o.kind && !strings.Contains(r.Name, "/") })
		if i < 0 {
			continue
		}
		if only == "" || v == only {
			o.gvr, o.namespaced = gv.WithResource(list.APIResources[i].Name), list.APIResources[i].Namespaced
			return nil
		}
		in = append(in, v)
	}
	if len(in) > 0 {
		return unfitf("%s serves %s in %s, not in %s as the article has it", o.at, gk, remedies.List(in), only)
	}
	return unfitf("%s does not serve %s", o.at, gk)
}

// versionsOf are the served versions of a group, newest first.
func versionsOf(groups *metav1.APIGroupList, group string) []string {
	var out []string
	for _, g := range groups.Groups {
		if g.Name != group {
			continue
		}
		for _, v := range g.Versions {
			out = append(out, v.Version)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return out
}

// ref names the object for people.
func (o *spot) ref() model.ObjectRef {
	return model.ObjectRef{Kind: o.kind, Namespace: o.namespace, Name: o.name}
}

// write is a write to the object, to begin with.
func (o *spot) write(v effect.Verb) *effect.Object {
	return effect.NewObject(o.at, v, o.gvr, o.kind, o.namespace, o.name)
}

// live reads the object as it is now; nil when it is not there.
func (o *spot) live(ctx context.Context, s *remedies.Scene) (*unstructured.Unstructured, error) {
	return o.write(effect.Update).Live(ctx, s.Sites)
}

// reach completes a plan with whom its effect touches beyond the cluster that the walk is for. What
// reaches further is confirmed with its name; an engineer's own article may not leave the vSphere
// Namespace.
func reach(ctx context.Context, s *remedies.Scene, p *remedies.Plan) error {
	e, ok := p.Effect.(*effect.Object)
	if !ok || e.At.Kind != model.PlaceSupervisor {
		if ok && s.Own {
			ownOnly(p, e)
		}
		return nil
	}
	pv := &p.Preview
	others, blind := otherClusters(ctx, s, e)
	if ctx.Err() != nil {
		return fmt.Errorf("which cluster %s belongs to: %w", e.Ref(), ctx.Err())
	}
	pv.Reaches = append(pv.Reaches, others...)
	if blind != "" {
		pv.Reaches = append(pv.Reaches, blind)
	}
	if len(others) > 0 || blind != "" {
		pv.Confirm, pv.ConfirmName = remedies.ConfirmName, e.Name
	}
	switch {
	case e.Namespace == s.Cluster.Namespace && e.Namespace != "":
		return nil
	case s.Own:
		ownOnly(p, e)
		return nil
	case e.Namespace == "":
		pv.Reaches = append(pv.Reaches, e.Ref().String()+" belongs to no vSphere Namespace: it counts for the whole Supervisor")
	default:
		pv.Reaches = append(pv.Reaches, e.Ref().String()+" is not in the vSphere Namespace of the cluster")
	}
	p.Wide, pv.Confirm, pv.ConfirmName = true, remedies.ConfirmName, e.Name
	return nil
}

// ownOnly blocks what an engineer's own article may not change.
func ownOnly(p *remedies.Plan, e *effect.Object) {
	blocked(p, "an engineer's own article may change objects in the vSphere Namespace of its cluster only, and "+e.Ref().String()+" is not one")
}

// otherClusters say which clusters beside the walk's own an object on the Supervisor belongs to: it is
// one, it names one, or it is owned by what belongs to one. Blind says that this could not be found out.
func otherClusters(ctx context.Context, s *remedies.Scene, e *effect.Object) (others []string, blind string) {
	of := map[string]bool{}
	for _, o := range []map[string]any{e.Was, e.Want} {
		for _, name := range clustersOf(&unstructured.Unstructured{Object: o}) {
			of[name] = true
		}
	}
	if e.Group == clusterv1.GroupVersion.Group && e.Of == "Cluster" {
		of[e.Name] = true
	}
	if len(of) == 0 {
		o := e.Was
		if o == nil {
			o = e.Want
		}
		names, err := clustersOfOwners(ctx, s, &unstructured.Unstructured{Object: o}, e.Namespace)
		if err != nil {
			blind = text.Clean("which cluster " + e.Ref().String() + " belongs to could not be read: " + remedies.Short(err))
		}
		for _, name := range names {
			of[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if c := (model.ClusterRef{Namespace: e.Namespace, Name: name}); c != s.Cluster {
			others = append(others, text.Clean(e.Ref().String()+" belongs to cluster "+c.String()))
		}
	}
	return others, blind
}

// clustersOf are the names of the clusters that an object itself says it belongs to: by its label, by its
// spec, and by its owners.
func clustersOf(u *unstructured.Unstructured) []string {
	var out []string
	if name := u.GetLabels()[clusterv1.ClusterNameLabel]; name != "" {
		out = append(out, name)
	}
	if ofClusterAPI(u.GetAPIVersion()) {
		if name, _, _ := unstructured.NestedString(u.Object, "spec", "clusterName"); name != "" {
			out = append(out, name)
		}
		if u.GetKind() == "Cluster" {
			out = append(out, u.GetName())
		}
	}
	for _, o := range u.GetOwnerReferences() {
		if o.Kind == "Cluster" && ofClusterAPI(o.APIVersion) {
			out = append(out, o.Name)
		}
	}
	return out
}

// ofClusterAPI says whether an apiVersion is one of Cluster API and its providers.
func ofClusterAPI(version string) bool {
	group, _, _ := strings.Cut(version, "/")
	return group == clusterv1.GroupVersion.Group || strings.HasSuffix(group, "."+clusterv1.GroupVersion.Group)
}

// clustersOfOwners follows the owners of an object that names no cluster itself, until they do.
func clustersOfOwners(ctx context.Context, s *remedies.Scene, u *unstructured.Unstructured, namespace string) ([]string, error) {
	const most = 16 // objects that are read; chains of Cluster API have four.
	var out []string
	seen := map[string]bool{}
	next := u.GetOwnerReferences()
	for len(next) > 0 {
		o := next[0]
		next = next[1:]
		if seen[string(o.UID)+"/"+o.Kind+"/"+o.Name] {
			continue
		}
		seen[string(o.UID)+"/"+o.Kind+"/"+o.Name] = true
		if len(seen) > most {
			return out, errors.New("it has too many owners")
		}
		group, _, ok := strings.Cut(o.APIVersion, "/")
		if !ok {
			group = ""
		}
		owner, err := readNamed(ctx, s, named{group: group, kind: o.Kind, namespace: namespace, name: o.Name})
		if err != nil {
			return out, err
		}
		if owner == nil || owner.GetUID() != o.UID {
			return out, fmt.Errorf("its owner %s %s is not there", o.Kind, o.Name)
		}
		names := clustersOf(owner)
		out = append(out, names...)
		if len(names) == 0 {
			next = append(next, owner.GetOwnerReferences()...)
		}
	}
	return out, nil
}

// blocked makes of a plan one that cannot be applied.
func blocked(p *remedies.Plan, words string) *remedies.Plan {
	p.Effect, p.Preview.Blocked = nil, text.Clean(words)
	return p
}

// done makes of a plan one that has nothing to do.
func done(p *remedies.Plan, words string) *remedies.Plan {
	p.Effect, p.Preview.Done = nil, text.Clean(words)
	return p
}

// ending says that an object is being deleted, with what it waits for; empty where it is not.
func ending(s *remedies.Scene, u *unstructured.Unstructured) string {
	at := u.GetDeletionTimestamp()
	if at == nil {
		return ""
	}
	words := "it is being deleted"
	if age := s.Now().Sub(at.Time); age > 0 {
		words += ", for " + text.Age(age)
	}
	if f := u.GetFinalizers(); len(f) > 0 {
		words += ", and waits for " + text.Clean(text.List(f, 3))
	}
	return words
}
