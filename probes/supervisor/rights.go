package supervisor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Ask is a question for CanI: may I Verb this?
type Ask struct {
	Verb, Group, Resource, Subresource, Namespace, Name string
}

// CanI asks the server whether the user may do something (a SelfSubjectAccessReview,
// which stores nothing). reason is the server's, often empty.
func (c *Connection) CanI(ctx context.Context, a Ask) (allowed bool, reason string, err error) {
	ctx, cancel := c.brief(ctx)
	defer cancel()
	attributes := map[string]any{}
	for k, v := range map[string]string{
		"verb": a.Verb, "group": a.Group, "resource": a.Resource, "subresource": a.Subresource, "namespace": a.Namespace, "name": a.Name,
	} {
		if v != "" {
			attributes[k] = v
		}
	}
	gvr := schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}
	u, err := c.client.Resource(gvr).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": attributes},
	}}, metav1.CreateOptions{})
	if err != nil {
		_, why := c.Explain(err, "ask what it may do")
		return false, "", fmt.Errorf("cannot ask whether you may %s %s: %s", a.Verb, a.Resource, why)
	}
	allowed, _, _ = unstructured.NestedBool(u.Object, "status", "allowed")
	reason, _, _ = unstructured.NestedString(u.Object, "status", "reason")
	return allowed, reason, nil
}

// Refuser says what in a server refused a request that was answered with 403 Forbidden.
type Refuser string

// What refuses a request.
const (
	// RefusedByRights: the user's roles do not allow it.
	RefusedByRights Refuser = "rights"
	// RefusedByEscalation: the user may change the role, but not hand out rights in it that
	// they do not have themselves.
	RefusedByEscalation Refuser = "escalation"
	// RefusedByQuota: a ResourceQuota of the namespace is used up.
	RefusedByQuota Refuser = "quota"
	// RefusedByPodSecurity: the pod is not allowed by the namespace's Pod Security level.
	RefusedByPodSecurity Refuser = "pod security"
	// RefusedByTermination: the namespace is being deleted, and nothing can be created in it.
	RefusedByTermination Refuser = "terminating namespace"
	// RefusedByWebhook: an admission webhook denied it.
	RefusedByWebhook Refuser = "webhook"
	// RefusedByPolicy: a ValidatingAdmissionPolicy denied it.
	RefusedByPolicy Refuser = "policy"
	// RefusedByAdmission: the user has the right, so that another part of admission refused it.
	RefusedByAdmission Refuser = "admission"
	// RefusedByUnknown: it could not be asked whether the user has the right.
	RefusedByUnknown Refuser = "unknown"
)

// Refusal is why a request was answered with 403 Forbidden.
type Refusal struct {
	By Refuser
	// Words are a sentence for the engineer: what refused, in the server's words where they
	// matter, and what to do.
	Words string
}

// WhyForbidden says what refused a request that failed with err, a 403. Not every 403 means
// that the user lacks a right: quota, Pod Security, webhooks and a namespace that is being
// deleted answer with the same status. What the answer does not name itself is asked for
// with [Connection.CanI]; ask is the request. The zero Refusal is for an err that is no 403.
func (c *Connection) WhyForbidden(ctx context.Context, ask Ask, err error) Refusal {
	if !apierrors.IsForbidden(err) {
		return Refusal{}
	}
	server := said(serverWords(err))
	if by, words := admission(err, ask, server); by != "" {
		return Refusal{by, words}
	}
	allowed, reason, askErr := c.CanI(ctx, ask)
	switch {
	case askErr != nil:
		return Refusal{RefusedByUnknown, fmt.Sprintf("the server refuses to %s: %s; whether user %s has that right could not be asked: %s", ask, server, c.User, askErr)}
	case allowed:
		return Refusal{RefusedByAdmission, fmt.Sprintf("user %s may %s, but the server refuses this request: %s", c.User, ask, server)}
	}
	words := fmt.Sprintf("user %s may not %s; ask for that right", c.User, ask)
	if reason != "" {
		words = fmt.Sprintf("user %s may not %s (%s); ask for that right", c.User, ask, said(reason))
	}
	return Refusal{RefusedByRights, words}
}

// String says what is asked, such as "create machinedrainrules.cluster.x-k8s.io in
// namespace team-a".
func (a Ask) String() string {
	s := a.Verb + " " + schema.GroupResource{Group: a.Group, Resource: a.Resource}.String()
	if a.Subresource != "" {
		s = a.Verb + " " + schema.GroupResource{Group: a.Group, Resource: a.Resource + "/" + a.Subresource}.String()
	}
	if a.Name != "" {
		s += " " + a.Name
	}
	if a.Namespace != "" {
		s += " in namespace " + a.Namespace
	}
	return s
}

// terminatingCause is corev1.NamespaceTerminatingCause.
const terminatingCause metav1.CauseType = "NamespaceTerminating"

// admission goes by what the API server's own code writes into a refusal; by is empty
// where the answer names nothing that is known.
func admission(err error, ask Ask, server string) (by Refuser, words string) {
	raw := serverWords(err)
	switch {
	case apierrors.HasStatusCause(err, terminatingCause):
		// k8s.io/apiserver pkg/admission/plugin/namespace/lifecycle.
		return RefusedByTermination, fmt.Sprintf("namespace %s is being deleted, and nothing can be created in it", ask.Namespace)
	case strings.Contains(raw, "admission webhook ") && strings.Contains(raw, "denied the request"):
		// k8s.io/apiserver pkg/admission/plugin/webhook/errors.
		return RefusedByWebhook, "an admission webhook refuses it: " + server
	case strings.Contains(raw, "ValidatingAdmissionPolicy ") && strings.Contains(raw, "denied request"):
		// k8s.io/apiserver pkg/admission/plugin/policy/validating/dispatcher.go.
		return RefusedByPolicy, "a ValidatingAdmissionPolicy refuses it: " + server
	case strings.Contains(raw, "exceeded quota: "), strings.Contains(raw, "failed quota: "):
		// k8s.io/apiserver pkg/admission/plugin/resourcequota/controller.go.
		return RefusedByQuota, fmt.Sprintf("the quota of namespace %s refuses it: %s; ask the vSphere administrator for a larger quota, or make room", ask.Namespace, server)
	case strings.Contains(raw, "violates PodSecurity "):
		// k8s.io/pod-security-admission admission/admission.go.
		return RefusedByPodSecurity, fmt.Sprintf("the Pod Security level of namespace %s refuses it: %s", ask.Namespace, server)
	case strings.Contains(raw, "is attempting to grant RBAC permissions not currently held"):
		// k8s.io/kubernetes pkg/registry/rbac/validation/rule.go.
		return RefusedByEscalation, "the role would give away rights that you do not have yourself: " + server + "; ask somebody who has them, or who may escalate roles"
	}
	return "", ""
}

// serverWords are the message in an answer of the API server.
func serverWords(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Message
	}
	return err.Error()
}
