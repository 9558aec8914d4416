package model

import (
	"strings"
	"time"
)

// ClusterRef names a workload cluster: its vSphere Namespace and its name.
type ClusterRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String is "namespace/name", or the name alone where no namespace is known.
func (r ClusterRef) String() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// Nameless says whether this is the cluster without a name that the objects of a dump make up
// which no named cluster claims. It is a cluster like the others: neither the Supervisor nor nothing.
func (r ClusterRef) Nameless() bool { return r.Name == "" }

// ObjectRef names an object on the Supervisor or in a workload cluster.
type ObjectRef struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Place is where the object lives. It is empty where a row refers to an object in its own
	// place, as those of the API do.
	Place Place `json:"place,omitzero"`
}

// In is the same reference to an object in a place.
func (r ObjectRef) In(p Place) ObjectRef {
	r.Place = p
	return r
}

// Same says whether both name one object, under whatever name the Supervisor is known. A reference
// without a place, as a row gives it, is the same as one with a place by its names alone.
func (r ObjectRef) Same(o ObjectRef) bool {
	if r.Place.Kind != "" && o.Place.Kind != "" {
		r.Place.Supervisor, o.Place.Supervisor = "", ""
		return r == o
	}
	return r.In(Place{}) == o.In(Place{})
}

// String is "Kind namespace/name".
func (r ObjectRef) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Meta is what every observed object carries.
type Meta struct {
	// APIVersion is the version the object was read in, such as cluster.x-k8s.io/v1beta2.
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
	UID        string
	// ResourceVersion is opaque; equal values mean that nothing changed.
	ResourceVersion string
	Created         time.Time
	// Deleting is the deletionTimestamp, zero when the object is not being deleted.
	// For pods it already includes the grace period.
	Deleting    time.Time
	Labels      map[string]string
	Annotations map[string]string
	Finalizers  []string
	Owners      []Owner
}

// Owner is one ownerReference.
type Owner struct {
	APIVersion string
	Kind       string
	Name       string
	UID        string
	Controller bool
}

// Ref names the object.
func (m *Meta) Ref() ObjectRef {
	return ObjectRef{Kind: m.Kind, Namespace: m.Namespace, Name: m.Name}
}

// Controller is the owner that manages the object, or nil.
func (m *Meta) Controller() *Owner {
	for i := range m.Owners {
		if m.Owners[i].Controller {
			return &m.Owners[i]
		}
	}
	return nil
}

// Group is the API group of APIVersion, empty for the core group.
func (m *Meta) Group() string {
	g, _, ok := strings.Cut(m.APIVersion, "/")
	if !ok {
		return ""
	}
	return g
}
