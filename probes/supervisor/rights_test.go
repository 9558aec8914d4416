package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWhyForbidden(t *testing.T) {
	ask := Ask{Verb: "create", Group: "cluster.x-k8s.io", Resource: "machinedrainrules", Namespace: "team-a"}
	// The messages are as Kubernetes 1.36 writes them; see admission in rights.go for where.
	const head = `machinedrainrules.cluster.x-k8s.io "skip" is forbidden: `
	for name, tt := range map[string]struct {
		message string
		cause   string
		may     string // the answer to a SelfSubjectAccessReview: yes, no or an error.
		by      Refuser
		words   []string
		asks    int
	}{
		"no right": {head + `User "sso:ana@corp.test" cannot create resource "machinedrainrules"`, "", "no", RefusedByRights,
			[]string{"may not create machinedrainrules.cluster.x-k8s.io in namespace team-a (by the test)", "ask for that right"}, 1},
		"a right, and refused": {head + "not on Sundays", "", "yes", RefusedByAdmission,
			[]string{"may create machinedrainrules", "not on Sundays"}, 1},
		"nobody knows": {head + "not on Sundays", "", "error", RefusedByUnknown,
			[]string{"not on Sundays", "could not be asked", "503"}, 1},
		"terminating": {head + "unable to create new content in namespace team-a because it is being terminated", "NamespaceTerminating", "yes", RefusedByTermination,
			[]string{"namespace team-a is being deleted"}, 0},
		"quota": {head + "exceeded quota: small, requested: count/machinedrainrules.cluster.x-k8s.io=1, used: count/machinedrainrules.cluster.x-k8s.io=5, limited: count/machinedrainrules.cluster.x-k8s.io=5", "", "yes", RefusedByQuota,
			[]string{"quota of namespace team-a", "limited: count/"}, 0},
		"quota that names nothing": {head + "failed quota: small: must specify cpu", "", "yes", RefusedByQuota, []string{"must specify cpu"}, 0},
		"Pod Security": {`pods "x" is forbidden: violates PodSecurity "restricted:latest": privileged`, "", "yes", RefusedByPodSecurity,
			[]string{"Pod Security level of namespace team-a", "privileged"}, 0},
		"a webhook": {`admission webhook "guard.corp.test" denied the request: change freeze`, "", "yes", RefusedByWebhook,
			[]string{"guard.corp.test", "change freeze"}, 0},
		"a policy": {head + "ValidatingAdmissionPolicy 'freeze' with binding 'all' denied request: change freeze", "", "yes", RefusedByPolicy,
			[]string{"ValidatingAdmissionPolicy 'freeze'", "change freeze"}, 0},
		"escalation": {`clusterroles.rbac.authorization.k8s.io "r" is forbidden: user "ana" (groups=["a"]) is attempting to grant RBAC permissions not currently held:` + "\n" + `{APIGroups:[""], Resources:["endpoints"], Verbs:["patch"]}`, "", "yes", RefusedByEscalation,
			[]string{"rights that you do not have yourself", `Verbs:["patch"]`}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeAPI(t)
			c := connectTo(t, f)
			f.set(func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") && tt.may == "error":
					status(w, http.StatusServiceUnavailable, "ServiceUnavailable", "not now")
				case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
					answer(w, map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
						"status": map[string]any{"allowed": tt.may == "yes", "reason": "by the test"}})
				default:
					refuse(w, tt.message, tt.cause)
				}
				return true
			})
			rules := schema.GroupVersionResource{Group: ask.Group, Version: "v1beta2", Resource: ask.Resource}
			_, err := c.Dynamic().Resource(rules).Namespace("team-a").Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDrainRule", "metadata": map[string]any{"name": "skip"}}}, metav1.CreateOptions{})
			got := c.WhyForbidden(t.Context(), ask, err)
			if got.By != tt.by || f.asked("selfsubjectaccessreviews") != tt.asks {
				t.Errorf("%+v with %d questions", got, f.asked("selfsubjectaccessreviews"))
			}
			for _, w := range tt.words {
				if !strings.Contains(got.Words, w) {
					t.Errorf("%q does not say %q", got.Words, w)
				}
			}
			if strings.ContainsAny(got.Words, "\n\x1b") {
				t.Errorf("%q is more than a line", got.Words)
			}
		})
	}
}

func refuse(w http.ResponseWriter, message, cause string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: message,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseType(cause)}}},
	})
}

func TestWhyForbiddenIsForA403(t *testing.T) {
	c := connectTo(t, newFakeAPI(t))
	for _, err := range []error{nil, errors.New("any"), context.DeadlineExceeded} {
		if got := c.WhyForbidden(t.Context(), Ask{}, err); got != (Refusal{}) {
			t.Errorf("%v: %+v", err, got)
		}
	}
}
