package workload

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/probes/describe"
	"vksmedic/probes/object"
)

// YAML reads an object live, of the workload cluster in which the reference places it.
func (l *Looker) YAML(ctx context.Context, ref model.ObjectRef) (string, error) {
	u, _, err := l.get(ctx, ref)
	if err != nil {
		return "", err
	}
	s, err := describe.YAML(u.Object)
	if err != nil {
		return "", fmt.Errorf("cannot show %s: %w", ref, err)
	}
	return s, nil
}

// Describe reads an object and its events live, of the workload cluster in which the reference places
// it, in words.
func (l *Looker) Describe(ctx context.Context, ref model.ObjectRef) (string, error) {
	u, c, err := l.get(ctx, ref)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, l.config.Deadline)
	defer cancel()
	events, err := describe.Events(ctx, c, u)
	missing := ""
	if err != nil {
		_, missing = explain(err, c.server, "list events")
	}
	return describe.Text(u.Object, events, missing, l.config.Now()), nil
}

func (l *Looker) get(ctx context.Context, ref model.ObjectRef) (*unstructured.Unstructured, *client, error) {
	cluster := ref.Place.Cluster
	k, ok := object.Named(ref.Kind)
	if !ok || k.Place != model.PlaceCluster { // Secrets are no kind that is looked at.
		return nil, nil, fmt.Errorf("cannot show %s of cluster %s: this kind is not looked at", ref, cluster)
	}
	ctx, cancel := context.WithTimeout(ctx, l.config.Deadline)
	defer cancel()
	c, err := l.connect(ctx, cluster)
	if err != nil {
		return nil, nil, err
	}
	r := served(k)
	var i dynamic.ResourceInterface = c.Resource(r)
	if k.Namespaced {
		i = c.Resource(r).Namespace(ref.Namespace)
	}
	u, err := i.Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil, fmt.Errorf("%s of cluster %s is not there any more", ref, cluster)
	}
	if err != nil {
		_, why := explain(err, c.server, "get "+r.GroupResource().String())
		return nil, nil, fmt.Errorf("cannot read %s of cluster %s: %s", ref, cluster, why)
	}
	return u, c, nil
}
