package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/remedies/internal/fakeapi"
	"vksmedic/remedies/kb"
)

func phaseOf(q kb.ObjectQuery) kb.ObjectQuery {
	q.Columns = []kb.Column{{Title: "name", Path: ".metadata.name"}, {Title: "phase", Path: ".status.phase"}}
	return q
}

func machineQuery(name string) kb.ObjectQuery {
	return phaseOf(kb.ObjectQuery{Group: capi, Kind: "Machine", Name: name})
}

func nodeQuery() kb.ObjectQuery {
	return kb.ObjectQuery{Title: "Nodes", Kind: "Node", In: "cluster", Columns: []kb.Column{{Title: "name", Path: "metadata.name"}}}
}

func linesOf(f remedies.Found) string {
	var b strings.Builder
	for _, l := range f.Lines {
		fmt.Fprintf(&b, "%c%s\n", l.Sign, l.Text)
	}
	return b.String()
}

func TestLook(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(x *site)
		params kb.Look
		want   string
		note   string
		err    string
	}{
		"one object": {params: kb.Look{Objects: []kb.ObjectQuery{machineQuery("web-1")}, Note: "Look at the phase."},
			want: " Look at the phase.\n Machine team-a/web-1\n   name   web-1\n   phase  Deleting\n", note: "Machine: 1"},
		"a list, and one of the cluster": {
			change: func(x *site) { x.sup.Put("capi", x.machine("web-22", "Running")) },
			params: kb.Look{Objects: []kb.ObjectQuery{machineQuery(""), nodeQuery()}},
			want:   " Machine: 2 in team-a\n   name    phase\n   web-1   Deleting\n   web-22  Running\n Nodes: 1\n   name\n   web-1\n", note: "Machine: 2, Node: 1"},
		"by a label": {
			change: func(x *site) {
				u := x.machine("web-2", "Running")
				u.SetLabels(nil)
				x.sup.Put("capi", u)
			},
			params: kb.Look{Objects: []kb.ObjectQuery{phaseOf(kb.ObjectQuery{Group: capi, Kind: "Machine", Selector: "role=cp"})}},
			want:   " Machine: 1 in team-a\n   name   phase\n   web-1  Deleting\n", note: "Machine: 1"},
		"nothing there": {params: kb.Look{Objects: []kb.ObjectQuery{machineQuery("web-9"), phaseOf(kb.ObjectQuery{Kind: "ConfigMap"})}},
			want: "!Machine: Machine team-a/web-9 is not there\n ConfigMap: none in team-a\n", note: "Machine: 0, ConfigMap: 0"},
		"another vSphere Namespace is not shown": {
			change: func(x *site) {
				u := x.machine("web-2", "Running")
				u.SetNamespace("team-b")
				x.sup.Put("capi", u)
			},
			params: kb.Look{Objects: []kb.ObjectQuery{machineQuery("")}},
			want:   " Machine: 1 in team-a\n   name   phase\n   web-1  Deleting\n", note: "Machine: 1"},
		"a name in any namespace of the cluster": {
			change: func(x *site) { x.workload.Put("kubectl", fakeapi.Object("v1", "ConfigMap", "kube-system", "a")) },
			params: kb.Look{Objects: []kb.ObjectQuery{{Kind: "ConfigMap", Name: "a", In: "cluster", Columns: []kb.Column{{Title: "in", Path: ".metadata.namespace"}}}}},
			want:   " ConfigMap a\n   in  kube-system\n", note: "ConfigMap: 1"},
		"not served, beside what is": {
			change: func(x *site) { x.sup.Unserve(capi, "MachineDrainRule") },
			params: kb.Look{Objects: []kb.ObjectQuery{phaseOf(kb.ObjectQuery{Title: "Rules", Group: capi, Kind: "MachineDrainRule"}), machineQuery("web-1")}},
			want:   "!Rules: the Supervisor does not serve MachineDrainRule.cluster.x-k8s.io\n Machine team-a/web-1\n   name   web-1\n   phase  Deleting\n", note: "Machine: 1"},
		"a kind of that name in another group": {
			params: kb.Look{Objects: []kb.ObjectQuery{phaseOf(kb.ObjectQuery{Group: "example.com", Kind: "Machine"}), machineQuery("web-1")}},
			want:   "!Machine: the Supervisor does not serve Machine.example.com\n Machine team-a/web-1\n   name   web-1\n   phase  Deleting\n", note: "Machine: 1"},
		"forbidden": {
			change: func(x *site) { x.sup.Deny(fakeapi.Denial{Verb: "list", Resource: "machines"}) },
			params: kb.Look{Objects: []kb.ObjectQuery{machineQuery(""), nodeQuery()}},
			want:   "!Machine: cannot be listed: user sso:ana@corp.test may not list machines.cluster.x-k8s.io in namespace team-a; ask for that right\n Nodes: 1\n   name\n   web-1\n", note: "Node: 1"},
		"the cluster does not answer": {
			change: func(x *site) {
				x.workload.Engineer.Fault = failing(fakeapi.Refused)
			},
			params: kb.Look{Objects: []kb.ObjectQuery{nodeQuery(), machineQuery("web-1")}},
			want:   "!Nodes: cannot ask cluster team-a/web what it serves: Get \"https://fake.invalid/api\": dial tcp: connection refused\n Machine team-a/web-1\n   name   web-1\n   phase  Deleting\n", note: "Machine: 1"},
		"nothing at all can be read": {
			change: func(x *site) { x.sup.Deny(fakeapi.Denial{Verb: "get"}) },
			params: kb.Look{Objects: []kb.ObjectQuery{machineQuery("web-1")}},
			err:    "nothing could be read: Machine: cannot read Machine team-a/web-1: "},
		"what the finding does not say": {
			params: kb.Look{Objects: []kb.ObjectQuery{machineQuery(kb.NotKnown), nodeQuery()}},
			want:   "!Machine: the finding does not say which Machine is meant: (not known)\n Nodes: 1\n   name\n   web-1\n", note: "Node: 1"},
		"Secrets": {
			params: kb.Look{Objects: []kb.ObjectQuery{phaseOf(kb.ObjectQuery{Kind: "Secret"}), nodeQuery()}},
			want:   "!Secret: Secrets are neither shown nor changed\n Nodes: 1\n   name\n   web-1\n", note: "Node: 1"},
		"being deleted": {
			change: func(x *site) {
				x.change(func(u *unstructured.Unstructured) {
					u.SetFinalizers([]string{"machine.cluster.x-k8s.io"})
					_ = unstructured.SetNestedField(u.Object, x.now.UTC().Add(-3e9).Format("2006-01-02T15:04:05Z"), "metadata", "deletionTimestamp")
				})
			},
			params: kb.Look{Objects: []kb.ObjectQuery{machineQuery("web-1")}},
			want:   " Machine team-a/web-1\n!  it is being deleted, for 3s, and waits for machine.cluster.x-k8s.io\n   name   web-1\n   phase  Deleting\n", note: "Machine: 1"},
		"escape sequences": {
			change: func(x *site) {
				x.change(func(u *unstructured.Unstructured) { u.Object["status"] = map[string]any{"phase": "a\x1b[31mb\nc"} })
			},
			params: kb.Look{Objects: []kb.ObjectQuery{machineQuery("web-1")}},
			want:   " Machine team-a/web-1\n   name   web-1\n   phase  ab c\n", note: "Machine: 1"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newSite(t)
			x.now = x.now.UTC().Truncate(1e9)
			if tt.change != nil {
				tt.change(x)
			}
			x.s.Params = &tt.params
			f, err := look{}.Look(t.Context(), x.s)
			if (err != nil) != (tt.err != "") || (err != nil && !strings.HasPrefix(err.Error(), tt.err)) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if got := linesOf(f); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
			if f.Note != tt.note {
				t.Errorf("note %q, want %q", f.Note, tt.note)
			}
			x.nothingWritten()
		})
	}
}

// The newest version that is served is read.
func TestLookReadsTheNewestVersion(t *testing.T) {
	x := newSite(t)
	var read []string
	x.sup.Engineer.Fault = func(r *fakeapi.Request) fakeapi.Fault {
		if r.Verb == "get" {
			read = append(read, r.Resource.Version)
		}
		return fakeapi.Fault{}
	}
	x.s.Params = &kb.Look{Objects: []kb.ObjectQuery{machineQuery("web-1")}}
	if _, err := (look{}).Look(t.Context(), x.s); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(read, []string{"v1beta2"}) {
		t.Errorf("read in %q", read)
	}
}

func TestLookIsBounded(t *testing.T) {
	x := newSite(t)
	for i := range mostObjects + 20 {
		u := fakeapi.Object("v1", "ConfigMap", "team-a", fmt.Sprintf("c-%04d", i))
		u.Object["data"] = map[string]any{"long": strings.Repeat("x", 1000)}
		x.sup.Put("kubectl", u)
	}
	x.s.Params = &kb.Look{Objects: []kb.ObjectQuery{{Kind: "ConfigMap", Columns: []kb.Column{{Title: "long", Path: ".data.long"}}}}}
	f, err := look{}.Look(t.Context(), x.s)
	if err != nil {
		t.Fatal(err)
	}
	last := f.Lines[len(f.Lines)-1]
	if len(f.Lines) != mostObjects+3 || last.Sign != '!' || last.Text != "only the first 500 are shown; 20 more are there" || len(f.Lines[2].Text) > cellLimit+2+len("…") {
		t.Errorf("%d lines, the third of %d bytes, the last %q", len(f.Lines), len(f.Lines[2].Text), last.Text)
	}
}

// A question that comes up is asked, not drawn as a line.
func TestLookAsks(t *testing.T) {
	x := newSite(t)
	x.s.Sites.Discovery = func(context.Context, model.Place) (discovery.DiscoveryInterface, error) {
		return nil, fmt.Errorf("cannot log in: %w", &remedies.Asking{Ask: remedies.Ask{Question: "password?"}})
	}
	x.s.Params = &kb.Look{Objects: []kb.ObjectQuery{machineQuery("web-1")}}
	var q *remedies.Asking
	if _, err := (look{}).Look(t.Context(), x.s); !errors.As(err, &q) {
		t.Errorf("got %v", err)
	}
}

func TestPaths(t *testing.T) {
	o := map[string]any{
		"a":    map[string]any{"b": int64(9007199254740993), "c": 1.5, "yes": true, "none": nil, "d.e": "dot"},
		"list": []any{map[string]any{"type": "Ready", "status": "True"}, map[string]any{"type": "Other"}, "text"},
	}
	for path, want := range map[string]string{
		".a.b": "9007199254740993", "a.c": "1.5", "{.a.yes}": "true", "$.a.none": "-", ".nothing.at.all": "-", `.a.d\.e`: "dot",
		`.list[?(@.type=="Ready")].status`: "True", `.list[?(@.type=="No")].status`: "-", ".list[0]": `{"status":"True","type":"Ready"}`,
		".list[7]": "cannot be read: cannot follow the path: array index out of bounds: index 7, length 3", ".list[*].type": "Ready, Other",
	} {
		p, err := newPath(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got := p.of(o); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if _, err := newPath(".a[?("); asUnfit(err) == "" {
		t.Errorf("a broken path: %v", err)
	}
}
