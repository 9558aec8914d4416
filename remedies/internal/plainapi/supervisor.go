package plainapi

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/probes/supervisor"
)

// Supervisor is the API as a Supervisor: what remedies need of the connection to one.
type Supervisor struct{ API *API }

// Dynamic is a client for its objects.
func (s Supervisor) Dynamic() dynamic.Interface { return s.API.Dynamic() }

// Marks are the uids of a namespace and of kube-system, as far as they may be read.
func (s Supervisor) Marks(ctx context.Context, namespace string) (model.Marks, error) {
	m := model.Marks{Namespace: namespace}
	for name, to := range map[string]*string{namespace: &m.NamespaceUID, metav1.NamespaceSystem: &m.SystemUID} {
		if name == "" {
			continue
		}
		u, err := s.Dynamic().Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			*to = string(u.GetUID())
		case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		default:
			return model.Marks{}, fmt.Errorf("cannot tell which Supervisor this is: %w", err)
		}
	}
	return m, nil
}

// ResourceFor is how a kind is served, in its newest version.
func (s Supervisor) ResourceFor(_ context.Context, kind string) (gvr schema.GroupVersionResource, namespaced, served bool, err error) {
	s.API.mu.Lock()
	defer s.API.mu.Unlock()
	for _, r := range s.API.resources {
		if r.Kind == kind {
			newest := r.Versions[0]
			for _, v := range r.Versions {
				if compareVersions(v, newest) > 0 {
					newest = v
				}
			}
			return schema.GroupVersionResource{Group: r.Group, Version: newest, Resource: r.Name}, r.Namespaced, true, nil
		}
	}
	return gvr, false, false, nil
}

// WhyForbidden asks for the right, and says that admission refused it where the user has it.
func (s Supervisor) WhyForbidden(ctx context.Context, ask supervisor.Ask, err error) supervisor.Refusal {
	u, askErr := s.Dynamic().Resource(schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}).
		Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
			"spec": map[string]any{"resourceAttributes": map[string]any{"verb": ask.Verb, "group": ask.Group, "resource": ask.Resource, "namespace": ask.Namespace, "name": ask.Name}},
		}}, metav1.CreateOptions{})
	if askErr != nil {
		return supervisor.Refusal{By: supervisor.RefusedByUnknown, Words: "the server refuses it: " + err.Error()}
	}
	if allowed, _, _ := unstructured.NestedBool(u.Object, "status", "allowed"); allowed {
		return supervisor.Refusal{By: supervisor.RefusedByAdmission, Words: "the server refuses it: " + err.Error()}
	}
	return supervisor.Refusal{By: supervisor.RefusedByRights, Words: "user " + s.API.user + " may not " + ask.String() + "; ask for that right"}
}
