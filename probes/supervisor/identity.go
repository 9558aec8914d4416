package supervisor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/model"
)

func clusterResource() schema.GroupResource {
	return schema.GroupResource{Group: "cluster.x-k8s.io", Resource: "clusters"}
}

// Identity is what tells this Supervisor from every other: the uid of its kube-system
// namespace. Where that may not be read it is a mark made of the server's address and
// certificate authority, beginning with "address:"; it is as stable as those are, and
// never equals a uid. An error means that the server could not be asked.
func (c *Connection) Identity(ctx context.Context) (string, error) {
	ctx, cancel := c.brief(ctx)
	defer cancel()
	ns, err := c.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx, "kube-system", metav1.GetOptions{})
	switch {
	case err == nil && ns.GetUID() != "":
		return string(ns.GetUID()), nil
	case err == nil, apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return c.login.pin.mark(), nil
	}
	_, why := c.Explain(err, "read namespace kube-system")
	return "", fmt.Errorf("cannot tell which Supervisor this is: %s", why)
}

func (p pin) mark() string {
	sum := sha256.Sum256(append([]byte(p.server+"\x00"+p.serverName+"\x00"), p.authority[:]...))
	return "address:" + hex.EncodeToString(sum[:16])
}

// Marks are what tells this Supervisor from others, as far as this user may read it: the
// uid of a vSphere Namespace, the uid of kube-system, and the hash of the certificate
// authority. namespace may be empty. What is forbidden or not there is left out. An error
// means that the server could not be asked, so that nothing can be said about it. Every call
// asks the server.
func (c *Connection) Marks(ctx context.Context, namespace string) (model.Marks, error) {
	ctx, cancel := c.brief(ctx)
	defer cancel()
	m := model.Marks{Namespace: namespace, CA: c.login.pin.ca}
	var err error
	if namespace != "" {
		if m.NamespaceUID, err = c.namespaceUID(ctx, namespace); err != nil {
			return model.Marks{}, err
		}
	}
	if m.SystemUID, err = c.namespaceUID(ctx, metav1.NamespaceSystem); err != nil {
		return model.Marks{}, err
	}
	return m, nil
}

// namespaceUID is empty where the namespace may not be read or is not there.
func (c *Connection) namespaceUID(ctx context.Context, name string) (string, error) {
	ns, err := c.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx, name, metav1.GetOptions{})
	switch {
	case err == nil:
		return string(ns.GetUID()), nil
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return "", nil
	}
	_, why := c.Explain(err, "read namespace "+name)
	return "", fmt.Errorf("cannot tell which Supervisor this is: %s", why)
}

// WhoAmI is the user as the server knows it.
func (c *Connection) WhoAmI(ctx context.Context) (string, error) {
	ctx, cancel := c.brief(ctx)
	defer cancel()
	gvr := schema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"}
	u, err := c.client.Resource(gvr).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
	}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("cannot ask %s who this is: %w", c.Server, err)
	}
	name, _, _ := unstructured.NestedString(u.Object, "status", "userInfo", "username")
	return name, nil
}

// keepIdentity finds out which Supervisor this is and who the user is, until both are known.
func (c *Connection) keepIdentity(ctx context.Context, b *board) {
	wait := backoff{random: c.opts.Random}
	for ctx.Err() == nil {
		bell := c.again.listen()
		id, err := c.Identity(ctx)
		if err == nil {
			b.about(func(s *model.Supervisor) { s.Identity = id })
			c.learnUser(ctx, b)
			// Another login may be another user, and may read more.
			if !sleep(ctx, time.Hour, bell) {
				return
			}
			continue
		}
		if !c.rest(ctx, &wait, err, bell) {
			return
		}
	}
}

func (c *Connection) learnUser(ctx context.Context, b *board) {
	who, err := c.WhoAmI(ctx)
	if err != nil {
		// Served from Kubernetes 1.28 on; the kubeconfig's name does as well.
		c.opts.Log.Debug("the server does not say who this is", "error", err.Error())
		return
	}
	if who != "" {
		b.about(func(s *model.Supervisor) { s.User = who })
	}
}
