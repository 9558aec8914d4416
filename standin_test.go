//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"vksmedic/testdata/labtest"
)

// standIn stands in for a broken API server, since a real one cannot be made to misbehave.
// It serves the objects that it is given, valid or not, and can break any answer. What a
// working server does is tested against the lab.
type standIn struct {
	*httptest.Server
	objects []map[string]any
	// breaks answers a request when it returns true, until the stand-in is mended.
	breaks func(w http.ResponseWriter, r *http.Request) bool
	whole  atomic.Bool
}

// mend makes it answer correctly from now on.
func (s *standIn) mend() {
	s.whole.Store(true)
	s.CloseClientConnections() // requests that hang are sent again.
}

// resource is one that a stand-in serves.
type resource struct {
	kind   string
	global bool
}

// served are the resources of a stand-in, by group and version.
func served() map[string]map[string]resource {
	return map[string]map[string]resource{
		"v1": {
			"namespaces": {"Namespace", true}, "nodes": {"Node", true}, "pods": {"Pod", false}, "secrets": {"Secret", false},
			"endpoints": {"Endpoints", false}, "events": {"Event", false},
		},
		"policy/v1":                    {"poddisruptionbudgets": {"PodDisruptionBudget", false}},
		"rbac.authorization.k8s.io/v1": {"clusterroles": {"ClusterRole", true}},
		"cluster.x-k8s.io/v1beta2": {
			"clusters": {"Cluster", false}, "machines": {"Machine", false}, "machinedeployments": {"MachineDeployment", false},
			"machinesets": {"MachineSet", false}, "machinehealthchecks": {"MachineHealthCheck", false}, "machinedrainrules": {"MachineDrainRule", false},
		},
		"controlplane.cluster.x-k8s.io/v1beta2": {"kubeadmcontrolplanes": {"KubeadmControlPlane", false}},
		"vmoperator.vmware.com/v1alpha5": {
			"virtualmachines": {"VirtualMachine", false}, "virtualmachineservices": {"VirtualMachineService", false},
		},
	}
}

func newStandIn(t testing.TB, objects ...map[string]any) *standIn {
	t.Helper()
	s := &standIn{objects: objects}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that it breaks.
	s.StartTLS()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// silent is the address of a server that accepts connections and never answers. It
// stands in for a server that hangs.
func silent(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.breaks != nil && !s.whole.Load() && s.breaks(w, r) {
		return
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/api":
		reply(w, 200, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
	case r.URL.Path == "/apis":
		reply(w, 200, groups())
	case parts[0] == "api" && len(parts) > 1:
		s.group(w, r, "v1", parts[2:])
	case parts[0] == "apis" && len(parts) > 2:
		s.group(w, r, parts[1]+"/"+parts[2], parts[3:])
	default:
		refuse(w, 404, "NotFound", "there is no "+r.URL.Path)
	}
}

func groups() any {
	var out []any
	for _, gv := range slices.Sorted(maps.Keys(served())) {
		if group, version, ok := strings.Cut(gv, "/"); ok {
			v := map[string]any{"groupVersion": gv, "version": version}
			out = append(out, map[string]any{"name": group, "versions": []any{v}, "preferredVersion": v})
		}
	}
	return map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": out}
}

// group answers what is asked of one group and version.
func (s *standIn) group(w http.ResponseWriter, r *http.Request, gv string, path []string) {
	known := served()[gv]
	if len(path) == 0 {
		var list []any
		for name, x := range known {
			list = append(list, map[string]any{"name": name, "kind": x.kind, "namespaced": !x.global, "verbs": []string{"get", "list", "watch"}})
		}
		reply(w, 200, map[string]any{"kind": "APIResourceList", "groupVersion": gv, "resources": list})
		return
	}
	namespace := ""
	if path[0] == "namespaces" && len(path) > 2 {
		namespace, path = path[1], path[2:]
	}
	x, ok := known[path[0]]
	if !ok {
		refuse(w, 404, "NotFound", "there is no "+path[0])
		return
	}
	if r.URL.Query().Get("watch") != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return
	}
	items := []any{}
	for _, o := range s.objects {
		meta, _ := o["metadata"].(map[string]any)
		if o["kind"] != x.kind || namespace != "" && meta["namespace"] != namespace || len(path) > 1 && meta["name"] != path[1] {
			continue
		}
		items = append(items, o)
	}
	switch {
	case len(path) == 1:
		reply(w, 200, map[string]any{"apiVersion": gv, "kind": x.kind + "List", "metadata": map[string]any{"resourceVersion": "10"}, "items": items})
	case len(items) == 1:
		reply(w, 200, items[0])
	default:
		refuse(w, 404, "NotFound", path[0]+" \""+path[1]+"\" not found")
	}
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, code int, reason, message string) {
	reply(w, code, map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message})
}

// kubeconfig is a file with a login to the stand-in, changed if need be.
func (s *standIn) kubeconfig(t testing.TB, change func(*api.Config)) string {
	t.Helper()
	return labtest.LoginFile(t, s.Server, change)
}

// Objects of a Supervisor, as small as they can be.

func object(apiVersion, kind, namespace, name string, more map[string]any) map[string]any {
	o := map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"namespace": namespace, "name": name, "uid": "uid-" + kind + "-" + name, "resourceVersion": "5"},
	}
	maps.Copy(o, more)
	return o
}

func capiCluster(namespace, name string) map[string]any {
	return object("cluster.x-k8s.io/v1beta2", "Cluster", namespace, name, map[string]any{
		"status": map[string]any{"phase": "Provisioned", "initialization": map[string]any{"controlPlaneInitialized": true, "infrastructureProvisioned": true}},
	})
}

// failedMachine is a Machine that has to be flagged, whatever other objects there are.
func failedMachine(namespace, cluster, name string) map[string]any {
	m := object("cluster.x-k8s.io/v1beta2", "Machine", namespace, name, map[string]any{
		"spec":   map[string]any{"clusterName": cluster, "bootstrap": map[string]any{}},
		"status": map[string]any{"phase": "Failed"},
	})
	m["metadata"].(map[string]any)["labels"] = map[string]any{"cluster.x-k8s.io/cluster-name": cluster}
	m["metadata"].(map[string]any)["creationTimestamp"] = "2026-01-01T00:00:00Z"
	return m
}

func kubeconfigSecret(t *testing.T, namespace, cluster string, c *api.Config) map[string]any {
	t.Helper()
	text, err := clientcmd.Write(*c)
	if err != nil {
		t.Fatal(err)
	}
	return object("v1", "Secret", namespace, cluster+"-kubeconfig", map[string]any{
		"data": map[string]any{"value": base64.StdEncoding.EncodeToString(text)},
	})
}

// ended is a run of the program that is over.
type ended struct {
	out, err string
	code     int
	took     time.Duration
}

// noTerminal runs the program without a terminal, as a script does, with a home of its own, and
// checks that it prints no stack trace and no escape sequence.
func noTerminal(t *testing.T, in io.Reader, args ...string) ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, labtest.Program(t), args...)
	cmd.Env = homeless(t.TempDir())
	cmd.Stdin = in
	return finish(t, cmd)
}

func finish(t *testing.T, cmd *exec.Cmd) ended {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	e := ended{out: out.String(), err: errs.String(), took: time.Since(began)}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		e.code = exit.ExitCode()
	case err != nil:
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	wellBehaved(t, e.out+e.err)
	return e
}

// wellBehaved checks that a text has no stack trace and nothing that a terminal would
// act upon.
func wellBehaved(t *testing.T, s string) {
	t.Helper()
	for _, bad := range []string{"goroutine ", "panic:", "runtime error", "%!", "(MISSING)", "DATA RACE"} {
		if strings.Contains(s, bad) {
			t.Errorf("%q in what it says:\n%.4000s", bad, s)
		}
	}
	for _, r := range s {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e' {
			t.Errorf("the character %U reaches the terminal:\n%.4000q", r, s)
			return
		}
	}
}

// homeless is the environment of a program that finds no kubeconfig by itself and keeps
// its state in dir.
func homeless(dir string) []string {
	env := slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "KUBECONFIG=") || strings.HasPrefix(s, "HOME=") || strings.HasPrefix(s, "XDG_")
	})
	return append(env, "HOME="+dir, "XDG_STATE_HOME="+dir, "TERM=xterm-256color", "GORACE=halt_on_error=1")
}

// says checks that all words are there.
func says(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not said in:\n%.4000s", w, text)
		}
	}
}

// scanned is what scan -o json says.
type scanned struct {
	Findings []struct {
		Signature string
		Cluster   struct{ Namespace, Name string }
	}
	Sources []struct{ Name, State, Detail string }
}

func (e ended) list(t *testing.T) scanned {
	t.Helper()
	var l scanned
	if err := json.Unmarshal([]byte(e.out), &l); err != nil {
		t.Fatalf("not the JSON that was promised: %v\n%.2000s%s", err, e.out, e.err)
	}
	return l
}

// source is what is said of one source.
func (l scanned) source(t *testing.T, name string) (state, detail string) {
	t.Helper()
	for _, s := range l.Sources {
		if s.Name == name {
			return s.State, s.Detail
		}
	}
	t.Fatalf("nothing is said of %s: %s", name, fmt.Sprint(l.Sources))
	return "", ""
}
