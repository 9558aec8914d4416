package plainapi

import (
	"context"
	"fmt"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/remedies"
)

// Sites are the places of a walk: this API as the Supervisor, and workload clusters. A cluster
// that is not among them is not reachable.
func (a *API) Sites(clusters map[model.ClusterRef]*API) *remedies.Sites {
	workload := func(c model.ClusterRef) (*API, error) {
		w := clusters[c]
		if w == nil {
			return nil, fmt.Errorf("cannot reach cluster %s: connection refused", c)
		}
		return w, nil
	}
	return &remedies.Sites{
		Supervisor: Supervisor{a},
		Workload: func(_ context.Context, c model.ClusterRef) (dynamic.Interface, error) {
			w, err := workload(c)
			if err != nil {
				return nil, err
			}
			return w.Dynamic(), nil
		},
		Discovery: func(_ context.Context, p model.Place) (discovery.DiscoveryInterface, error) {
			if p.Kind == model.PlaceSupervisor {
				return a.Discovery(), nil
			}
			w, err := workload(p.Cluster)
			if err != nil {
				return nil, err
			}
			return w.Discovery(), nil
		},
	}
}

var _ remedies.Supervisor = Supervisor{}
