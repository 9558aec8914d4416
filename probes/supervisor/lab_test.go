package supervisor

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vksmedic/model"
	"vksmedic/testdata/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func labConnection(t *testing.T, l *labtest.Lab, user string) *Connection {
	t.Helper()
	c, err := Connect(t.Context(), Options{Kubeconfig: l.Kubeconfig(user)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// allOK is whether everything is read, but for the named sources, which need only have answered.
func allOK(s *model.Snapshot, except ...model.SourceName) bool {
	for _, src := range s.Sources {
		if src.State == model.SourceWaiting || src.State != model.SourceOK && !slices.Contains(except, src.Name) {
			return false
		}
	}
	return len(s.Sources) > 0
}

func TestLabInEveryServedVersion(t *testing.T) {
	for _, c := range []struct {
		served   string
		flags    []string
		versions []string
		rules    model.Verdict
	}{
		{"both", nil, []string{"v1beta2", "v1beta1"}, model.Yes},
		{"v1beta2", nil, []string{"v1beta2"}, model.Yes},
		{"v1beta1", []string{"--no-drain-rules"}, []string{"v1beta1"}, model.No},
	} {
		t.Run(c.served, func(t *testing.T) {
			l := labtest.StartAPIs(t, c.served, c.flags...)
			_, p := watched(t, Options{Kubeconfig: l.Kubeconfig("administrator")})
			s := eventually(t, p, "everything is read", func(s *model.Snapshot) bool {
				return allOK(s, "supervisor/machinedrainrules") && machine(s, "old-x7k2p") != nil && s.Supervisor.Identity != "" && s.Supervisor.User == "administrator@vsphere.local"
			})
			if !slices.Equal(s.Supervisor.ClusterAPI, c.versions) || s.Supervisor.DrainRulesServed != c.rules || s.Supervisor.VKS == "" {
				t.Errorf("%+v", s.Supervisor)
			}
			rules := s.Source("supervisor/machinedrainrules").State
			if want := map[model.Verdict]model.SourceState{model.Yes: model.SourceOK, model.No: model.SourceNotServed}[c.rules]; rules != want {
				t.Errorf("drain rules are %s, want %s", rules, want)
			}
			m := machine(s, "old-x7k2p")
			if m.Group() != "cluster.x-k8s.io" || !strings.HasSuffix(m.APIVersion, c.versions[0]) || m.Deleting.IsZero() {
				t.Errorf("%+v", m)
			}
		})
	}
}

func TestLabChangesArriveWithoutAnotherList(t *testing.T) {
	l := labtest.StartAPIs(t, "both")
	_, from := l.Requests(t, 0)
	c, p := watched(t, Options{Kubeconfig: l.Kubeconfig("administrator")})
	s := eventually(t, p, "everything is watched", func(s *model.Snapshot) bool {
		return allOK(s) && !slices.ContainsFunc(s.Sources, func(x model.Source) bool { return !x.Live && x.Name != model.SourceVKS })
	})
	m := machine(s, "old-x7k2p")
	gvr, _, ok, err := c.ResourceFor(t.Context(), "Machine")
	if err != nil || !ok || gvr.Version != "v1beta2" {
		t.Fatalf("%v, %v, %v", gvr, ok, err)
	}
	for _, v := range []string{"one", "two"} {
		patch := []byte(`{"metadata":{"annotations":{"vksmedic.test/change":"` + v + `"}}}`)
		if _, err := c.Dynamic().Resource(gvr).Namespace(m.Namespace).Patch(t.Context(), m.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, p, "the change arrives", func(s *model.Snapshot) bool {
			return machine(s, m.Name).Annotations["vksmedic.test/change"] == v
		})
	}
	lists := map[string]int{}
	requests, _ := l.Requests(t, from)
	for _, r := range requests {
		if r.Verb == "list" && r.Stage == "ResponseComplete" && r.User.Username == "administrator@vsphere.local" {
			lists[r.Object.Resource]++
		}
		if r.Object.Resource == "secrets" {
			t.Errorf("asked for secrets: %+v", r)
		}
	}
	for resource, n := range lists {
		if n != 1 {
			t.Errorf("%d LISTs of %s", n, resource)
		}
	}
	watched := 0
	for _, k := range kinds() {
		if !k.ByKind() {
			watched++
		}
	}
	if len(lists) != watched {
		t.Errorf("lists: %v", lists)
	}
}

func TestLabNamespaceUser(t *testing.T) {
	l := labtest.StartAPIs(t, "both")
	c, p := watched(t, Options{Kubeconfig: l.Kubeconfig("devops")})
	s := eventually(t, p, "the namespace is watched", func(s *model.Snapshot) bool {
		return machine(s, "old-x7k2p") != nil && sourceIs("supervisor/machines@team-b", model.SourceOK)(s) &&
			sourceIs("supervisor/machinedrainrules@team-b", model.SourceOK)(s) && s.Supervisor.Identity != "" &&
			sourceIs("supervisor/vks", model.SourceForbidden, "devops@vsphere.local")(s)
	})
	if s.Source("supervisor/machines") != nil || !strings.HasPrefix(s.Supervisor.Identity, "address:") {
		t.Errorf("%+v", s.Supervisor)
	}
	for _, a := range []struct {
		ask  Ask
		want bool
	}{
		{Ask{Verb: "create", Group: "cluster.x-k8s.io", Resource: "machinedrainrules", Namespace: "team-b"}, true},
		{Ask{Verb: "create", Group: "cluster.x-k8s.io", Resource: "machinedrainrules", Namespace: "team-a"}, false},
		{Ask{Verb: "patch", Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}, false},
	} {
		if got, _, err := c.CanI(t.Context(), a.ask); err != nil || got != a.want {
			t.Errorf("%+v: %v, %v", a.ask, got, err)
		}
	}
}

func TestLabReadsObjectsForPeople(t *testing.T) {
	l := labtest.StartAPIs(t, "both")
	c := labConnection(t, l, "administrator")
	ref := model.ObjectRef{Kind: "Machine", Namespace: "team-b", Name: "old-x7k2p"}
	y, err := c.YAML(t.Context(), ref)
	if err != nil || !strings.Contains(y, "kind: Machine") || strings.Contains(y, "managedFields") || strings.Contains(y, "last-applied") {
		t.Errorf("%v: %s", err, y)
	}
	d, err := c.Describe(t.Context(), ref)
	if err != nil || !strings.Contains(d, "Deleting is True") || !strings.Contains(d, "Events:") {
		t.Errorf("%v: %s", err, d)
	}
	if _, err := c.YAML(t.Context(), model.ObjectRef{Kind: "Secret", Namespace: "team-b", Name: "any"}); !errors.Is(err, ErrSecret) {
		t.Errorf("a Secret: %v", err)
	}
	if _, err := c.YAML(t.Context(), model.ObjectRef{Kind: "Machine", Namespace: "team-b", Name: "gone"}); err == nil || !strings.Contains(err.Error(), "not there any more") {
		t.Errorf("%v", err)
	}
	if _, err := c.YAML(t.Context(), model.ObjectRef{Kind: "Unicorn", Name: "x"}); err == nil || !strings.Contains(err.Error(), "does not serve") {
		t.Errorf("%v", err)
	}
	// A kind that is not watched is found by its name alone.
	if gvr, namespaced, ok, err := c.ResourceFor(t.Context(), "ClusterRole"); err != nil || !ok || namespaced || gvr.Group != "rbac.authorization.k8s.io" {
		t.Errorf("%v %v %v %v", gvr, namespaced, ok, err)
	}
}

func TestLabViewerMayNotReadSecrets(t *testing.T) {
	l := labtest.StartAPIs(t, "both")
	c := labConnection(t, l, "viewer")
	_, err := c.Secret(t.Context(), "team-b", "old-kubeconfig")
	if err == nil || !strings.Contains(err.Error(), "cannot read secret team-b/old-kubeconfig: forbidden for user viewer@vsphere.local; ask for get on secrets") {
		t.Errorf("%v", err)
	}
}
