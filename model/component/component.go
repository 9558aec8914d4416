package component

import (
	"slices"
	"strings"

	"vksmedic/model"
)

// Component is one of the system components.
type Component struct {
	// Name is also the name of its container and of its program.
	Name string
	// Ports are those that the component itself listens on.
	Ports []int
	// Static says that the kubelet runs it from a manifest on a control plane node.
	Static bool
}

// All are the components of the article's table, in its order.
func All() []Component {
	return []Component{
		{Name: "kube-apiserver", Ports: []int{6443}, Static: true},
		{Name: "etcd", Ports: []int{2379, 2380, 2381}, Static: true},
		{Name: "kube-scheduler", Ports: []int{10259}, Static: true},
		{Name: "kube-controller-manager", Ports: []int{10257}, Static: true},
		{Name: "antrea-agent", Ports: []int{10350}},
		{Name: "antrea-controller", Ports: []int{10349}},
	}
}

// Has says whether the component listens on a port.
func (c Component) Has(port int) bool { return slices.Contains(c.Ports, port) }

// Comm is the name of its process as the kernel keeps it: 15 bytes at most.
func (c Component) Comm() string {
	const limit = 15
	if len(c.Name) > limit {
		return c.Name[:limit]
	}
	return c.Name
}

// Of says which component a pod is.
func Of(p *model.Pod) (Component, bool) {
	for _, c := range All() {
		if c.Static && c.isStatic(p) || !c.Static && c.isAntrea(p) {
			return c, true
		}
	}
	return Component{}, false
}

// systemNamespace is where the system pods run.
const systemNamespace = "kube-system"

// isStatic says whether a pod is the mirror of the component's static pod. The kubelet
// marks it by an annotation and by the node as its owner; only kubelets may set either
// (the API server's NodeRestriction). kubeadm gives it its name and its label. In a dump
// annotations and owners can be missing, so name and label together are enough.
func (c Component) isStatic(p *model.Pod) bool {
	if p.Namespace != systemNamespace {
		return false
	}
	labelled := p.Labels["component"] == c.Name
	named := p.Node != "" && p.Name == c.Name+"-"+p.Node
	mirror := p.Mirror || slices.ContainsFunc(p.Owners, func(o model.Owner) bool { return o.Kind == "Node" })
	if owner := p.Controller(); owner != nil && owner.Kind != "Node" {
		return false
	}
	return mirror && (labelled || named) || labelled && named
}

// isAntrea says whether a pod is the component of antrea, by antrea's own labels and the
// controller that made the pod.
func (c Component) isAntrea(p *model.Pod) bool {
	if p.Namespace != systemNamespace || p.Labels["app"] != "antrea" || p.Labels["component"] != c.Name {
		return false
	}
	owner := p.Controller()
	return owner == nil || owner.Name == c.Name || strings.HasPrefix(owner.Name, c.Name+"-")
}
