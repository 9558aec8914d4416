package walk

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/model"
)

// placeOf is where a finding's subject lives.
func placeOf(ref model.ObjectRef, c model.ClusterRef) model.Place {
	if _, inside := workloadResource(ref.Kind); inside {
		return model.InCluster("", c)
	}
	return model.OnSupervisor("")
}

// workloadResource is the resource of a kind that findings name inside a workload cluster.
func workloadResource(kind string) (schema.GroupVersionResource, bool) {
	switch kind {
	case "Node":
		return schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, true
	case "Pod":
		return schema.GroupVersionResource{Version: "v1", Resource: "pods"}, true
	}
	return schema.GroupVersionResource{}, false
}
