package supervisor

import (
	"context"
	"encoding/base64"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Secret reads one Secret by its name and returns its data. Nothing of it is kept or
// logged here, and errors hold none of it. Secrets are never listed or watched.
func (c *Connection) Secret(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	ctx, cancel := c.brief(ctx)
	defer cancel()
	u, err := c.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return nil, &secretError{fmt.Sprintf("cannot read secret %s/%s: forbidden for user %s; ask for get on secrets", namespace, name, c.User), err}
	case apierrors.IsNotFound(err):
		return nil, &secretError{fmt.Sprintf("there is no secret %s/%s", namespace, name), err}
	case err != nil:
		_, why := c.Explain(err, "get secrets in namespace "+namespace)
		return nil, &secretError{fmt.Sprintf("cannot read secret %s/%s: %s", namespace, name, why), err}
	}
	encoded, _, _ := unstructured.NestedStringMap(u.Object, "data")
	data := make(map[string][]byte, len(encoded))
	for k, v := range encoded {
		b, err := base64.StdEncoding.DecodeString(v)
		if err != nil {
			return nil, fmt.Errorf("key %s of secret %s/%s is not base64", k, namespace, name)
		}
		data[k] = b
	}
	return data, nil
}

// secretError says in its own words what went wrong; the cause can still be asked for.
type secretError struct {
	words string
	cause error
}

func (e *secretError) Error() string { return e.words }
func (e *secretError) Unwrap() error { return e.cause }
