package remedies

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/probes/supervisor"
)

// Supervisor is what remedies need of the connection to the Supervisor.
type Supervisor interface {
	// Marks are all marks of this Supervisor that the engineer may read, those of the
	// vSphere Namespace included.
	Marks(ctx context.Context, namespace string) (model.Marks, error)
	Dynamic() dynamic.Interface
	// ResourceFor is the resource of a kind in the version that we like best of those served.
	ResourceFor(ctx context.Context, kind string) (gvr schema.GroupVersionResource, namespaced, served bool, err error)
	// WhyForbidden says what refused a request that failed with a 403.
	WhyForbidden(ctx context.Context, ask supervisor.Ask, err error) supervisor.Refusal
}

// Conn is an open way to a place that is no Kubernetes API. What else it can do is known to
// the effects of that place.
type Conn interface {
	// Marks are what tells this place from every other.
	Marks(ctx context.Context) (model.Marks, error)
}

// Sites opens the places that a walk writes to.
type Sites struct {
	Supervisor Supervisor
	// Workload connects to the API of a workload cluster; nil where that is not possible.
	Workload func(ctx context.Context, c model.ClusterRef) (dynamic.Interface, error)
	// Discovery asks the API of a place, the Supervisor or a workload cluster, what it serves, for as
	// long as ctx lasts; nil where that is not possible: kinds that only an article names cannot
	// be found then.
	Discovery func(ctx context.Context, p model.Place) (discovery.DiscoveryInterface, error)
	// Others open nodes and vCenters. An opener may return an [Asking].
	Others map[model.PlaceKind]func(ctx context.Context, p model.Place) (Conn, error)
	// Kubectl are the words with which a command line for the Supervisor begins: kubectl with
	// the kubeconfig and the context.
	Kubectl []string
}

// API is the Kubernetes API of a place.
func (s *Sites) API(ctx context.Context, p model.Place) (dynamic.Interface, error) {
	switch p.Kind {
	case model.PlaceSupervisor:
		return s.Supervisor.Dynamic(), nil
	case model.PlaceCluster:
		if s.Workload == nil {
			return nil, fmt.Errorf("cannot look into cluster %s: no way in was given", p.Cluster)
		}
		return s.Workload(ctx, p.Cluster)
	case model.PlaceNode, model.PlaceVCenter:
	}
	return nil, fmt.Errorf("%s has no Kubernetes API", p)
}

// Open is the way to a place that is no Kubernetes API.
func (s *Sites) Open(ctx context.Context, p model.Place) (Conn, error) {
	open := s.Others[p.Kind]
	if open == nil {
		return nil, fmt.Errorf("cannot reach %s: no way in was given", p)
	}
	return open(ctx, p)
}

// Marks are the identity of a place, as far as it may be read. namespace is the vSphere
// Namespace of the walk.
func (s *Sites) Marks(ctx context.Context, p model.Place, namespace string) (model.Marks, error) {
	switch p.Kind {
	case model.PlaceSupervisor:
		return s.Supervisor.Marks(ctx, namespace)
	case model.PlaceCluster:
		return clusterMarks(ctx, s, p)
	case model.PlaceNode, model.PlaceVCenter:
		c, err := s.Open(ctx, p)
		if err != nil {
			return model.Marks{}, err
		}
		return c.Marks(ctx)
	}
	return model.Marks{}, fmt.Errorf("%s has no identity", p)
}

// clusterMarks are the marks of a workload cluster: the uid of its kube-system.
func clusterMarks(ctx context.Context, s *Sites, p model.Place) (model.Marks, error) {
	dyn, err := s.API(ctx, p)
	if err != nil {
		return model.Marks{}, err
	}
	ns, err := dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return model.Marks{}, fmt.Errorf("cannot tell which cluster this is: %w", err)
	}
	return model.Marks{SystemUID: string(ns.GetUID())}, nil
}
