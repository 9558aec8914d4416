package capture

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"vksmedic/model"
	"vksmedic/probes/object"
)

var (
	web     = model.ClusterRef{Namespace: "team-a", Name: "web"}
	threeAM = time.Date(2026, 11, 30, 3, 0, 0, 123456789, time.UTC)
)

// live is what looking keeps: rows in a store, and whole objects in a recorder.
type live struct {
	t     testing.TB
	store *model.Store
	rec   *Recorder
	w     map[model.ClusterRef]*model.Workload
}

func newLive(t testing.TB) *live {
	t.Helper()
	rec, err := NewRecorder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rec.Close() })
	l := &live{t: t, store: model.NewStore(nil), rec: rec, w: map[model.ClusterRef]*model.Workload{}}
	l.store.SetSupervisor(model.Supervisor{
		Context: "prod", Server: "https://sv.corp.test:6443", User: "sso:ana@corp.test", Identity: "id", VKS: "3.6.1+v1.35",
		ClusterAPI: []string{"v1beta2"}, DrainRulesServed: model.Yes,
	})
	l.store.SetSource(model.Source{Name: "supervisor/machines", State: model.SourceOK, Seen: threeAM, Live: true})
	l.store.SetSource(model.Source{Name: "supervisor/virtualmachines", State: model.SourceForbidden, Detail: "user ana@corp.test may not list them"})
	return l
}

func (l *live) row(in model.Place, doc string) model.Object {
	l.t.Helper()
	var u map[string]any
	if err := yaml.Unmarshal([]byte(doc), &u); err != nil {
		l.t.Fatal(err)
	}
	before, _ := json.Marshal(u)
	l.rec.Keep(in, u)
	if after, _ := json.Marshal(u); !bytes.Equal(before, after) {
		l.t.Fatal("the recorder changed an object that is not its own")
	}
	o, err := object.Row(u)
	if err != nil {
		l.t.Fatal(err)
	}
	return o
}

// take adds an object of the Supervisor or of a workload cluster.
func (l *live) take(in model.Place, u map[string]any) {
	l.t.Helper()
	l.rec.Keep(in, u)
	o, err := object.Row(u)
	if err != nil {
		l.t.Fatal(err)
	}
	l.add(in, o)
}

func (l *live) put(docs ...string) {
	l.t.Helper()
	for _, d := range docs {
		l.store.Put(l.row(model.OnSupervisor("prod"), d))
	}
}

// inside adds an object to a workload cluster.
func (l *live) inside(ref model.ClusterRef, doc string) {
	l.t.Helper()
	in := model.InCluster("prod", ref)
	l.add(in, l.row(in, doc))
}

func (l *live) add(in model.Place, o model.Object) {
	l.t.Helper()
	if in.Kind == model.PlaceSupervisor {
		l.store.Put(o)
		return
	}
	ref := in.Cluster
	w := l.w[ref]
	if w == nil {
		ok := model.Source{State: model.SourceOK, Seen: threeAM}
		w = &model.Workload{
			NodesSource: ok, PodsSource: ok, BudgetsSource: ok, PodsOn: map[string]bool{"web-cp-1": true}, HasPinniped: model.Yes,
			NamespaceLabels: map[string]map[string]string{"app": {"a": "b"}},
			Sightings:       []model.Sighting{{Namespace: "p", Name: "agent", UID: "1", Node: "web-cp-1", First: threeAM, Last: threeAM, Gone: true}},
			Logs:            []model.LogExcerpt{{Namespace: "kube-system", Pod: "etcd", Container: "etcd", Previous: true, Restarts: 3, Read: threeAM, Text: "bind: address already in use\n\ttab: \"x\"  \n\n"}},
			Way:             "https://10.1.2.3:6443",
		}
		l.w[ref] = w
	}
	switch o := o.(type) {
	case *model.Node:
		w.Nodes = append(w.Nodes, *o)
	case *model.Pod:
		w.Pods = append(w.Pods, *o)
	case *model.Budget:
		w.Budgets = append(w.Budgets, *o)
	case *model.VolumeAttachment:
		w.Attachments = append(w.Attachments, *o)
	default:
		l.t.Fatalf("%T is not in a workload cluster", o)
	}
}

func (l *live) snapshot() *model.Snapshot {
	for ref, w := range l.w {
		l.store.SetWorkload(ref, w)
	}
	return l.store.Snapshot(threeAM)
}

func (l *live) write(o WriteOptions) string {
	l.t.Helper()
	var b bytes.Buffer
	if _, err := Write(context.Background(), &b, l.snapshot(), l.rec, o); err != nil {
		l.t.Fatal(err)
	}
	return b.String()
}

// members are the files of an archive, in its order.
func members(t testing.TB, archive string) (paths []string, content map[string]string) {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	content = map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return paths, content
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, h.Name)
		content[h.Name] = string(b)
	}
}

const clusterYAML = `apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: web, namespace: team-a, resourceVersion: "1"}
spec: {controlPlaneEndpoint: {host: 10.1.2.3, port: 6443}}
status: {initialization: {controlPlaneInitialized: true}}
`

func small(t testing.TB) *live {
	l := newLive(t)
	l.put(clusterYAML, machineYAML, strings.ReplaceAll(clusterYAML, "name: web", "name: api"))
	l.inside(web, "apiVersion: v1\nkind: Node\nmetadata: {name: web-cp-1, uid: n1}\nstatus: {addresses: [{type: InternalIP, address: 10.1.2.9}]}\n")
	l.inside(web, podYAML)
	l.inside(web, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: app}\nspec: {minAvailable: 1, selector: {matchLabels: {a: b}}}\n")
	l.inside(web, "apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: v}\nspec: {nodeName: web-cp-1, source: {persistentVolumeName: pv}}\n")
	return l
}

// What comes back is what was there, whatever way the archive took.
func TestCaptureComesBack(t *testing.T) {
	l := small(t)
	want := l.snapshot()
	archive := l.write(WriteOptions{Tool: "vksmedic 1"})
	paths, content := members(t, archive)

	folder := t.TempDir()
	for _, p := range paths {
		full := filepath.Join(folder, "ticket", filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content[p]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var backwards []string
	for _, p := range slices.Backward(paths) {
		backwards = append(backwards, "./"+p, content[p])
	}
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, []byte(archive), 0o600); err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(t.TempDir(), "y")
	if err := os.WriteFile(packed, []byte(gz(t, tarOf(t, backwards...))), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"as it was written": file, "unpacked": folder, "packed again, in another order": packed} {
		t.Run(name, func(t *testing.T) {
			d, err := Read(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := d.Snapshot(nil, time.Time{})
			if !got.Captured || got.Dump || !got.Still() || !got.At.Equal(threeAM) {
				t.Errorf("captured %v, dump %v, at %v", got.Captured, got.Dump, got.At)
			}
			if !reflect.DeepEqual(got.Supervisor, want.Supervisor) {
				t.Errorf("Supervisor %+v, want %+v", got.Supervisor, want.Supervisor)
			}
			if !reflect.DeepEqual(got.Sources, want.Sources) {
				t.Errorf("sources %+v, want %+v", got.Sources, want.Sources)
			}
			if len(got.Clusters) != len(want.Clusters) {
				t.Fatalf("%d clusters, want %d", len(got.Clusters), len(want.Clusters))
			}
			for i := range want.Clusters {
				if !reflect.DeepEqual(got.Clusters[i], want.Clusters[i]) {
					t.Errorf("%s differs:\n%+v\n%+v", want.Clusters[i].Ref, got.Clusters[i].Workload, want.Clusters[i].Workload)
				}
			}
			if y, err := d.YAML(t.Context(), model.ObjectRef{Kind: "Node", Name: "web-cp-1"}.In(model.InCluster("prod", web))); err != nil || !strings.Contains(y, "10.1.2.9") {
				t.Errorf("the node opens as %q, %v", y, err)
			}
		})
	}
}

// Two clusters' nodes and pods may have the same names.
func TestCaptureTellsClustersApart(t *testing.T) {
	api := model.ClusterRef{Namespace: "team-a", Name: "api"}
	l := newLive(t)
	l.put(clusterYAML, strings.ReplaceAll(clusterYAML, "name: web", "name: api"))
	for _, ref := range []model.ClusterRef{web, api} {
		l.inside(ref, "apiVersion: v1\nkind: Node\nmetadata: {name: node-1, labels: {of: "+ref.Name+"}}\n")
		l.inside(ref, "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: app, labels: {of: "+ref.Name+"}}\nspec: {nodeName: node-1}\n")
	}
	d := stdin(t, l.write(WriteOptions{}))
	sn := d.Snapshot(nil, time.Time{})
	for _, ref := range []model.ClusterRef{web, api} {
		w := sn.Cluster(ref).Workload
		if len(w.Nodes) != 1 || len(w.Pods) != 1 || w.Nodes[0].Labels["of"] != ref.Name || w.Pods[0].Labels["of"] != ref.Name {
			t.Errorf("%s holds %+v and %+v", ref, w.Nodes, w.Pods)
		}
		if y, err := d.YAML(t.Context(), model.ObjectRef{Kind: "Node", Name: "node-1"}.In(model.InCluster("prod", ref))); err != nil || !strings.Contains(y, "of: "+ref.Name) {
			t.Errorf("node of %s opens as %q, %v", ref, y, err)
		}
	}
}

// One cluster alone still knows its neighbours, which a drain rule reaches too.
func TestCaptureOfOneCluster(t *testing.T) {
	l := small(t)
	l.put(strings.ReplaceAll(clusterYAML, "team-a", "team-b"))
	l.store.SetSource(model.Source{Name: "workload/team-a/web/nodes", State: model.SourceOK, Seen: threeAM})
	l.store.SetSource(model.Source{Name: "workload/team-b/web/nodes", State: model.SourceOK, Seen: threeAM})
	d := stdin(t, l.write(WriteOptions{Only: func(ref model.ClusterRef) bool { return ref == web }}))
	sn := d.Snapshot(nil, time.Time{})
	if len(sn.Clusters) != 1 || sn.Clusters[0].Ref != web {
		t.Fatalf("clusters: %+v", sn.Clusters)
	}
	if got := sn.Clusters[0].Neighbours; len(got) != 1 || got[0].Name != "api" {
		t.Errorf("neighbours %v", got)
	}
	if sn.Source("workload/team-a/web/nodes") == nil || sn.Source("workload/team-b/web/nodes") != nil {
		t.Errorf("sources %v", sn.Sources)
	}
	for _, o := range d.Objects {
		if o.GetMeta().Namespace == "team-b" {
			t.Errorf("%s is none of it", o.GetMeta().Ref())
		}
	}
}

// Nothing secret is in a capture, wherever it stood; nor is it in the file in which objects are
// kept meanwhile.
func TestCaptureHoldsNoSecrets(t *testing.T) {
	dir := t.TempDir()
	l := newLive(t)
	rec, err := NewRecorder(dir)
	if err != nil {
		t.Fatal(err)
	}
	l.rec = rec
	defer func() { _ = rec.Close() }()
	jwt := "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzM2NyM3QifQ.c3MzY3IzdC1zaWc"
	l.put(`apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: web
  namespace: team-a
  managedFields: [{manager: s3cr3t-manager}]
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"s3cr3t-applied": 1}'
    cluster.x-k8s.io/conversion-data: '{"s3cr3t-conversion": 1}'
    kept: "yes"
spec:
  topology:
    classRef: {name: c}
    version: v1.35.0
    variables:
    - {name: proxy, value: {httpProxy: "http://ana:s3cr3t-proxy@proxy.corp.test:3128"}}
    - {name: adminPassword, value: s3cr3t-variable}
    - {name: user, value: {password: s3cr3t-nested, passwordSecret: {name: kept-secret-name, key: k}}}
    - {name: osConfiguration, value: {trust: {additionalTrustedCAs: [{caCert: {content: "-----BEGIN PRIVATE KEY-----\ns3cr3t-key\n-----END PRIVATE KEY-----\n"}}]}}}
`, `apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: web, namespace: team-a, labels: {cluster.x-k8s.io/cluster-name: web}}
spec:
  version: v1.35.0
  kubeadmConfigSpec:
    files: [{path: /etc/x, content: s3cr3t-file}]
    users: [{name: capv, passwd: s3cr3t-passwd}]
    preKubeadmCommands: ["curl -H s3cr3t-command"]
    joinConfiguration: {discovery: {bootstrapToken: {token: s3cr3t-token}}}
`, `apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: web-cp-1, namespace: team-a}
spec: {clusterName: web, bootstrap: {dataSecretName: kept-data-ref}}
status:
  nodeRef: {name: web-cp-1}
  conditions: [{type: Ready, status: "False", reason: R, message: "kubeadm join --token abcdef.s3cr3ts3cr3ts3cr failed; Authorization: Bearer `+jwt+`"}]
`, `apiVersion: vmoperator.vmware.com/v1alpha4
kind: VirtualMachine
metadata: {name: web-cp-1, namespace: team-a, labels: {cluster.x-k8s.io/cluster-name: web}}
spec:
  bootstrap:
    cloudInit: {cloudConfig: {runcmd: "s3cr3t-run", users: [{hashed_passwd: s3cr3t-hash}]}, rawCloudConfig: {name: kept-raw, key: value}}
    sysprep: {sysprep: {guiUnattended: {autoLogonCount: s3cr3t-sysprep}}}
    vAppConfig: {properties: [{key: a, value: {value: s3cr3t-property}}]}
  advanced: {extraConfig: s3cr3t-extra}
`, `apiVersion: vmware.infrastructure.cluster.x-k8s.io/v1beta2
kind: VSphereMachine
metadata: {name: web-cp-1, namespace: team-a, labels: {cluster.x-k8s.io/cluster-name: web}}
spec: {customVMXKeys: {guestinfo.x: s3cr3t-vmx}, providerID: "vsphere://1"}
`, `apiVersion: registry.vmware.com/v1
kind: ClusterRegistryConfig
metadata: {name: r, annotations: {a: s3cr3t-note}}
spec: {auth: s3cr3t-registry}
`)
	pod := `apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver-web-cp-1, namespace: kube-system, labels: {component: kube-apiserver}}
spec:
  nodeName: web-cp-1
  initContainers: [{name: i, image: kept-image, command: [s3cr3t-init], env: [{name: A, value: s3cr3t-env}]}]
  containers:
  - name: kube-apiserver
    image: kept-image
    command: [kube-apiserver, --s3cr3t-flag]
    args: [s3cr3t-arg]
    env: [{name: A, value: s3cr3t-env}, {name: B, valueFrom: {secretKeyRef: {name: s, key: s3cr3t-ref}}}]
    envFrom: [{secretRef: {name: s3cr3t-from}}]
    livenessProbe: {exec: {command: [s3cr3t-probe]}, httpGet: {httpHeaders: [{name: Authorization, value: s3cr3t-header}]}}
    lifecycle: {preStop: {exec: {command: [s3cr3t-hook]}}}
  ephemeralContainers: [{name: e, image: kept-image, args: [s3cr3t-debug]}]
  volumes: [{name: v, csi: {driver: d, volumeAttributes: {a: s3cr3t-attribute}}}, {name: w, persistentVolumeClaim: {claimName: kept-claim}}]
status:
  containerStatuses: [{name: kube-apiserver, restartCount: 2, state: {waiting: {reason: CrashLoopBackOff, message: kept-message}}}]
`
	l.inside(web, pod)
	l.w[web].Logs[0].Text = "token: abcdef.s3cr3ts3cr3ts3cr\nhttps://bob:s3cr3t-url@host.corp.test/x\nkept-line\n" + jwt
	// These never are rows; nothing of them may be kept even if somebody hands them over.
	for _, doc := range []string{
		"apiVersion: v1\nkind: Secret\nmetadata: {name: web-kubeconfig, namespace: team-a}\ndata: {value: s3cr3t-data}\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: team-a}\ndata: {value: s3cr3t-config}\n",
	} {
		var u map[string]any
		if err := yaml.Unmarshal([]byte(doc), &u); err != nil {
			t.Fatal(err)
		}
		rec.Keep(model.OnSupervisor("prod"), u)
		if len(hide(nil).strip(u)) == 0 {
			t.Error("strip takes all away")
		}
	}
	for name, o := range map[string]WriteOptions{"plain": {}, "redacted": {Redactor: NewRedactor()}} {
		_, content := members(t, l.write(o))
		var all strings.Builder
		for path, c := range content {
			all.WriteString(c)
			if i := strings.Index(c, "s3cr3t"); i >= 0 {
				t.Errorf("%s: %s holds %q", name, path, c[max(0, i-30):min(len(c), i+40)])
			}
			if strings.Contains(c, "c3MzY3IzdC1zaWc") {
				t.Errorf("%s: %s holds a token", name, path)
			}
		}
		for _, keep := range []string{"kept-secret-name", "kept-data-ref", "kept-raw", "kept-image", "kept-claim", "kept-message", "kept-line", `kept: "yes"`, "object.LeftOut"} {
			keep = strings.Replace(keep, "object.LeftOut", object.LeftOut, 1)
			if !strings.Contains(all.String(), keep) {
				t.Errorf("%s: %s is lost", name, keep)
			}
		}
	}
	for k := range rec.index {
		p, err := rec.get(k)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := p.json(); err != nil || bytes.Contains(b, []byte("s3cr3t")) {
			t.Errorf("%s %s is kept with a secret in it, %v", k.kind, k.name, err)
		}
		if k.kind == "Secret" || k.kind == "ConfigMap" {
			t.Errorf("a %s is kept", k.kind)
		}
	}
}

// What is left out is nothing that a row is made of.
func TestStripKeepsRows(t *testing.T) {
	n := 0
	for _, root := range []string{"../../testdata/cases"} {
		dirs, err := filepath.Glob(filepath.Join(root, "[0-9]*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			d, err := Read(t.Context(), dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range d.Objects {
				u, err := d.shelf.get(d.whole[i])
				if err != nil {
					t.Fatal(err)
				}
				if !captured(u) {
					continue
				}
				want, err1 := object.Row(u)
				got, err2 := object.Row(hide(nil).strip(u))
				if err1 != nil || err2 != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %s is another one after stripping: %v %v\n%+v\n%+v", dir, want.GetMeta().Ref(), err1, err2, want, got)
				}
				n++
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d objects: this proves little", n)
	}
}

// A file that is there is whole; one that was there before is left alone.
func TestSave(t *testing.T) {
	l := small(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "c.tar.gz")
	s, size, err := Save(t.Context(), file, l.snapshot(), l.rec, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() != size {
		t.Fatalf("%v, size %d of %v", err, size, info)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("rights %v", info.Mode())
	}
	if s.Objects != 7 || s.Clusters != 2 || len(s.Missing) != 1 || !strings.Contains(s.Missing[0], "supervisor/virtualmachines: forbidden") {
		t.Errorf("summary %+v", s)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Save(t.Context(), file, l.snapshot(), l.rec, WriteOptions{}); !errors.Is(err, ErrExists) {
		t.Errorf("over an old file: %v", err)
	}
	if err := Check(file); !errors.Is(err, ErrExists) {
		t.Errorf("checked: %v", err)
	}
	if err := Check(filepath.Join(dir, "none", "c.tar.gz")); err == nil {
		t.Error("a folder that is not there is fine")
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the old file was changed, %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := WriteOptions{Progress: func(int, int) { cancel() }, Only: func(model.ClusterRef) bool { cancel(); return true }}
	if _, _, err := Save(ctx, filepath.Join(dir, "given-up.tar.gz"), l.snapshot(), l.rec, o); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

type fullDisk struct{ left int }

func (w *fullDisk) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

func TestWriteToAFullDisk(t *testing.T) {
	l := small(t)
	whole := len(l.write(WriteOptions{}))
	for left := 0; left < whole; left += 50 {
		if _, err := Write(t.Context(), &fullDisk{left}, l.snapshot(), l.rec, WriteOptions{}); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Fatalf("with room for %d bytes: %v", left, err)
		}
	}
}

// An object that was not kept is named, and stops nothing.
func TestWriteWithoutAnObject(t *testing.T) {
	l := small(t)
	o, err := object.Row(map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": map[string]any{"name": "web-cp-2", "namespace": "team-a"}, "spec": map[string]any{"clusterName": "web"}})
	if err != nil {
		t.Fatal(err)
	}
	l.store.Put(o)
	s, err := Write(t.Context(), io.Discard, l.snapshot(), l.rec, WriteOptions{})
	if err != nil || !slices.ContainsFunc(s.Missing, func(m string) bool { return strings.HasPrefix(m, "Machine team-a/web-cp-2: ") }) {
		t.Errorf("%+v, %v", s, err)
	}
	if err := l.rec.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(t.Context(), io.Discard, l.snapshot(), l.rec, WriteOptions{}); err == nil {
		t.Error("a recorder that is closed is written from")
	}
}

// Names are no paths.
func TestPathsAreHarmless(t *testing.T) {
	for _, name := range []string{"..", ".", "a/b", `a\b`, "../../etc/passwd", "system:x", "\x1b[2J", "CON", "a%2fb", ".hidden"} {
		p := pathOf(model.InCluster("", model.ClusterRef{Namespace: name, Name: name}), "Pod", name, name)
		for part := range strings.SplitSeq(p, "/") {
			if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\:\x1b") {
				t.Errorf("%q becomes %q", name, p)
			}
		}
		if in := placeOfPath(p + ".yaml"); !in.Is(model.ClusterRef{Namespace: name, Name: name}) {
			t.Errorf("%q comes back as %+v", name, in)
		}
	}
	if n := FileName("../ana@10.0.0.1:6443\x1b", threeAM); strings.ContainsAny(n, "/\\:@\x1b") || !strings.HasPrefix(n, "vksmedic-ana-10.0.0.1-6443-20261130-030000") {
		t.Errorf("file name %q", n)
	}
}

// A capture that somebody broke is read as far as it goes.
func TestBrokenCapture(t *testing.T) {
	archive := small(t).write(WriteOptions{})
	for cut := 0; cut < len(archive); cut += 97 {
		d := stdin(t, archive[:cut])
		sn := d.Snapshot(nil, time.Time{})
		if sn == nil || cut > 20 && len(troubles(d)) == 0 {
			t.Fatalf("cut after %d bytes, and nobody says so", cut)
		}
	}
	paths, content := members(t, archive)
	var files []string
	for _, p := range paths {
		files = append(files, p, content[p])
	}
	for name, index := range map[string]string{
		"odd types":   "apiVersion: vksmedic/v1\nkind: Capture\nat: yesterday\nclusters: 7\n",
		"another one": content[paths[0]],
	} {
		d := stdin(t, gz(t, tarOf(t, append(slices.Clone(files), "second/index.yaml", index)...)))
		if len(troubles(d)) != 1 {
			t.Errorf("%s: %v", name, troubles(d))
		}
		if sn := d.Snapshot(nil, time.Time{}); len(sn.Clusters) != 2 {
			t.Errorf("%s: %d clusters", name, len(sn.Clusters))
		}
	}
}

// What other tools write is read too: a kubectl cluster-info dump, must-gather and crust-gather.
func TestReadTrees(t *testing.T) {
	podList := `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[` + podJSON + `]}`
	bare := strings.Replace(strings.Replace(podJSON, `"kind":"Pod",`, "", 1), `"apiVersion":"v1",`, "", 1)
	for name, files := range map[string]map[string]string{
		"kubectl cluster-info dump": {
			"nodes.json":             `{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[]}`,
			"app/pods.json":          strings.Replace(podList, podJSON, bare, 1),
			"app/events.json":        `{"kind":"EventList","apiVersion":"v1","metadata":{},"items":[]}`,
			"team-a/machines.json":   `{"kind":"MachineList","apiVersion":"cluster.x-k8s.io/v1beta2","items":[` + machineJSON + `]}`,
			"app/replicasets.json":   `{"kind":"ReplicaSetList","apiVersion":"apps/v1","metadata":{},"items":[]}`,
			"app/a-0/logs.txt":       "I1130 starting\n",
			"kube-system/pods.json":  `{"kind":"PodList","apiVersion":"v1","items":null}`,
			"kube-system/empty.json": `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":""},"items":[]}`,
		},
		"must-gather": {
			"quay-io-must-gather/namespaces/app/core/pods.yaml":                                  "---\napiVersion: v1\nitems:\n- metadata: {name: a-0, namespace: app}\n  spec: {nodeName: web-cp-1}\nkind: PodList\n",
			"quay-io-must-gather/namespaces/team-a/cluster.x-k8s.io/machines/web-cp-1.yaml":      "---\n" + machineYAML,
			"quay-io-must-gather/namespaces/app/pods/a-0/a/a/logs/current.log":                   "2026-11-30T03:00:00Z a line\n",
			"quay-io-must-gather/cluster-scoped-resources/config.openshift.io/proxies/c.yaml":    "---\napiVersion: config.openshift.io/v1\nkind: Proxy\nmetadata: {name: cluster}\n",
			"quay-io-must-gather/version":                                                        "must-gather\n4.1\n",
			"quay-io-must-gather/namespaces/team-a/core/secrets.yaml":                            "---\napiVersion: v1\nitems: []\nkind: SecretList\n",
			"quay-io-must-gather/namespaces/team-a/core/configmaps.yaml":                         "---\napiVersion: v1\nitems: []\nkind: ConfigMapList\n",
			"quay-io-must-gather/timestamp":                                                      "2026-11-30 03:00:00\n",
			"quay-io-must-gather/cluster-scoped-resources/core/persistentvolumes/nothing.yaml":   "---\n",
			"quay-io-must-gather/namespaces/app/apps/deployments.yaml":                           "---\napiVersion: apps/v1\nitems: []\nkind: DeploymentList\n",
			"quay-io-must-gather/namespaces/app/core/persistentvolumeclaims/with spaces in.yaml": "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: x, namespace: app}\n",
		},
		"crust-gather, Windows line ends and byte order marks": {
			"crust-gather/namespaces/team-a/machine/web-cp-1.yaml": "\ufeff" + strings.ReplaceAll(machineYAML, "\n", "\r\n"),
			"crust-gather/namespaces/app/pod/a-0.yaml":             strings.ReplaceAll(podYAML, "\n", "\r\n"),
			"crust-gather/cluster/node/version.yaml":               "\ufeffapiVersion: v1\r\nkind: ComponentStatus\r\nmetadata: {name: x}\r\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var packed []string
			for p, content := range files {
				full := filepath.Join(dir, filepath.FromSlash(p))
				if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				packed = append(packed, p, content)
			}
			folder, err := Read(t.Context(), dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			for way, d := range map[string]*Dump{"folder": folder, "packed": stdin(t, gz(t, tarOf(t, packed...)))} {
				if got := names(d); !slices.Equal(got, both) {
					t.Errorf("%s: objects %v, want %v", way, got, both)
				}
				for file := range troubles(d) {
					if strings.HasSuffix(file, ".json") || strings.HasSuffix(file, ".yaml") && !strings.Contains(file, "nothing") {
						t.Errorf("%s: not understood: %s, %s", way, file, troubles(d)[file])
					}
				}
				if sn := d.Snapshot(nil, time.Time{}); sn.Captured || len(sn.Clusters) != 1 || len(sn.Clusters[0].Workload.Pods) != 1 {
					t.Errorf("%s: %+v", way, sn.Clusters)
				}
			}
		})
	}
}
