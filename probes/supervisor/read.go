package supervisor

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/probes/describe"
)

// ErrSecret is returned instead of the content of a Secret.
var ErrSecret = errors.New("secrets are not shown")

// YAML reads an object live and writes it as people read it: without managedFields and
// without the copy that kubectl apply keeps of it.
func (c *Connection) YAML(ctx context.Context, ref model.ObjectRef) (string, error) {
	u, err := c.get(ctx, ref)
	if err != nil {
		return "", err
	}
	s, err := describe.YAML(u.Object)
	if err != nil {
		return "", fmt.Errorf("cannot show %s: %w", ref, err)
	}
	return s, nil
}

// Describe reads an object and its events live and writes them in words, the newest event
// last. Events that may not be read are said to be so.
func (c *Connection) Describe(ctx context.Context, ref model.ObjectRef) (string, error) {
	u, err := c.get(ctx, ref)
	if err != nil {
		return "", err
	}
	events, err := describe.Events(ctx, c.client, u)
	missing := ""
	if err != nil {
		_, missing = c.Explain(err, "list events in namespace "+ref.Namespace)
	}
	return describe.Text(u.Object, events, missing, c.opts.Now()), nil
}

func (c *Connection) get(ctx context.Context, ref model.ObjectRef) (*unstructured.Unstructured, error) {
	if ref.Kind == "Secret" {
		return nil, fmt.Errorf("cannot show %s: %w", ref, ErrSecret)
	}
	gvr, namespaced, ok, err := c.ResourceFor(ctx, ref.Kind)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("cannot show %s: %s does not serve this kind", ref, c.Server)
	}
	ctx, cancel := c.brief(ctx)
	defer cancel()
	var r dynamic.ResourceInterface = c.client.Resource(gvr)
	if namespaced {
		r = c.client.Resource(gvr).Namespace(ref.Namespace)
	}
	u, err := r.Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%s is not there any more", ref)
	}
	if err != nil {
		_, why := c.Explain(err, fmt.Sprintf("get %s in namespace %s", gvr.GroupResource(), ref.Namespace))
		return nil, fmt.Errorf("cannot read %s: %s", ref, why)
	}
	return u, nil
}
