package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"vksmedic/model"
)

// served is what the Supervisor said it serves.
type served struct {
	mu sync.Mutex
	// versions of a resource, by group and plural name; nil until discovery answered once.
	versions map[schema.GroupResource][]string
	byKind   map[string][]apiResource
	// changed is rung when an answer differs from the one before.
	changed broadcast
}

type apiResource struct {
	schema.GroupVersionResource
	namespaced bool
}

func newServed() *served { return &served{} }

// discover asks what is served and remembers it. What one group's server does not answer
// is left out; the rest counts.
func (c *Connection) discover(ctx context.Context) error {
	ctx, cancel := c.brief(ctx)
	defer cancel()
	d, err := c.Discovery(ctx)
	if err != nil {
		return err
	}
	_, lists, err := d.ServerGroupsAndResources()
	if err != nil && (!discovery.IsGroupDiscoveryFailedError(err) || len(lists) == 0) {
		return fmt.Errorf("cannot ask what is served: %w", err)
	}
	if err != nil {
		c.opts.Log.Warn("not everything that is served could be asked for", "error", err.Error())
	}
	if !slices.ContainsFunc(lists, func(l *metav1.APIResourceList) bool { return len(l.APIResources) > 0 }) {
		return fmt.Errorf("cannot ask what is served: %w", errServesNothing)
	}
	c.served.set(lists)
	return nil
}

// errServesNothing is an answer to discovery without any resource in it: of JSON, but of
// no API server, for they all serve some.
var errServesNothing = errors.New("it says that it serves nothing at all")

func (s *served) set(lists []*metav1.APIResourceList) {
	versions, byKind := map[schema.GroupResource][]string{}, map[string][]apiResource{}
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range l.APIResources {
			if strings.Contains(r.Name, "/") {
				continue
			}
			gr := schema.GroupResource{Group: gv.Group, Resource: r.Name}
			versions[gr] = append(versions[gr], gv.Version)
			byKind[r.Kind] = append(byKind[r.Kind], apiResource{gv.WithResource(r.Name), r.Namespaced})
		}
	}
	s.mu.Lock()
	same := s.versions != nil && len(s.versions) == len(versions)
	for gr, v := range versions {
		same = same && slices.Equal(s.versions[gr], v)
	}
	s.versions, s.byKind = versions, byKind
	s.mu.Unlock()
	if !same {
		s.changed.ring()
	}
}

// answer says in which version a watched kind is served. known is false until discovery
// answered.
func (s *served) answer(k kind) (r resolved, ok, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.versions == nil {
		return resolved{}, false, false
	}
	if k.ByKind() {
		r, ok := s.inVMware(k)
		return r, ok, true
	}
	for _, g := range k.Groups {
		if v := s.versions[schema.GroupResource{Group: g, Resource: k.Resource}]; len(v) > 0 {
			return resolved{k, schema.GroupVersionResource{Group: g, Version: best(k.Versions, v), Resource: k.Resource}}, true, true
		}
	}
	return resolved{}, false, true
}

// inVMware finds a kind by its name in the groups of VMware's; the lock is held.
func (s *served) inVMware(k kind) (resolved, bool) {
	var found []apiResource
	for _, r := range s.byKind[k.Name] {
		if strings.HasSuffix(r.Group, ".vmware.com") {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		return resolved{}, false
	}
	var versions []string
	for _, r := range found {
		if r.Group == found[0].Group {
			versions = append(versions, r.Version)
		}
	}
	k.Resource, k.Namespaced = found[0].Resource, found[0].namespaced
	return resolved{k, schema.GroupVersionResource{Group: found[0].Group, Version: newestFirst(versions)[0], Resource: found[0].Resource}}, true
}

// of are the served versions of a resource, newest first.
func (s *served) of(gr schema.GroupResource) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return newestFirst(s.versions[gr])
}

// named finds a resource by its Kind alone: a watched one as it is watched, another one
// in the group that Cluster API and vSphere use, else in the only group that has it.
func (s *served) named(name string) (apiResource, bool) {
	if k, ok := kindNamed(name); ok {
		r, ok, _ := s.answer(k)
		return apiResource{r.gvr, k.Namespaced}, ok
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []apiResource
	for _, r := range s.byKind[name] {
		if r.Group == "" || strings.HasSuffix(r.Group, "cluster.x-k8s.io") || strings.HasSuffix(r.Group, "vmware.com") {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		found = slices.Clone(s.byKind[name])
	}
	if len(found) == 0 {
		return apiResource{}, false
	}
	group := found[0].Group
	found = slices.DeleteFunc(found, func(r apiResource) bool { return r.Group != group })
	slices.SortFunc(found, func(a, b apiResource) int {
		return slices.Index(newestFirst([]string{a.Version, b.Version}), a.Version) - slices.Index(newestFirst([]string{a.Version, b.Version}), b.Version)
	})
	return found[0], true
}

// ResourceFor says how a kind is served here: the resource in the version that is read
// and written, and whether it is served at all. It asks the server the first time.
func (c *Connection) ResourceFor(ctx context.Context, kindName string) (gvr schema.GroupVersionResource, namespaced, ok bool, err error) {
	if !c.served.asked() {
		if err := c.discover(ctx); err != nil {
			_, why := c.Explain(err, "ask what is served")
			return gvr, false, false, fmt.Errorf("cannot find out how %s is served: %s", kindName, why)
		}
	}
	r, ok := c.served.named(kindName)
	return r.GroupVersionResource, r.namespaced, ok, nil
}

// Serves asks the server now whether it serves a resource in that version. With it a 404
// for an object that is not there is told from a 404 for a kind that is not served; asking
// needs no right to the objects themselves. An error means that it could not be found out.
func (c *Connection) Serves(ctx context.Context, gvr schema.GroupVersionResource) (bool, error) {
	ctx, cancel := c.brief(ctx)
	defer cancel()
	d, err := c.Discovery(ctx)
	if err != nil {
		return false, err
	}
	list, err := d.ServerResourcesForGroupVersion(gvr.GroupVersion().String())
	switch {
	case apierrors.IsNotFound(err):
		// A proxy in between may say 404 to anything. It does not list what is served.
		var groups *metav1.APIGroupList
		if groups, err = d.ServerGroups(); err == nil && lists(groups, gvr.GroupVersion()) {
			return false, fmt.Errorf("cannot find out whether %s is served: %s lists %s and answers 404 when asked what is in it; try again",
				gvr.GroupResource(), c.Server, gvr.GroupVersion())
		} else if err == nil && len(groups.Groups) == 0 {
			err = errServesNothing
		}
		list = &metav1.APIResourceList{}
	case err == nil && len(list.APIResources) == 0:
		err = errServesNothing
	}
	if err != nil {
		_, why := c.Explain(err, "ask what is served")
		return false, fmt.Errorf("cannot find out whether %s is served: %s", gvr.GroupResource(), why)
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == gvr.Resource }), nil
}

func lists(groups *metav1.APIGroupList, gv schema.GroupVersion) bool {
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			if v.GroupVersion == gv.String() {
				return true
			}
		}
	}
	return false
}

func (s *served) asked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.versions != nil
}

// drainRules says whether MachineDrainRules are served.
func (s *served) drainRules() model.Verdict {
	if !s.asked() {
		return model.Unknown
	}
	if len(s.of(schema.GroupResource{Group: "cluster.x-k8s.io", Resource: "machinedrainrules"})) > 0 {
		return model.Yes
	}
	return model.No
}
