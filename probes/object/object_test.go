package object

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"vksmedic/model"
)

func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	var u map[string]any
	if err := yaml.Unmarshal([]byte(text), &u); err != nil {
		t.Fatalf("the test's own YAML: %v", err)
	}
	return u
}

// row reads an object and asserts its type.
func row[T model.Object](t testing.TB, text string) T {
	t.Helper()
	o, err := Row(parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	v, ok := o.(T)
	if !ok {
		t.Fatalf("Row returned a %T", o)
	}
	return v
}

// recorded reads all objects of a file of testdata/recorded.
func recorded(t testing.TB, file string) []model.Object {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "recorded", file))
	if err != nil {
		t.Fatal(err)
	}
	var out []model.Object
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		u := parse(t, string(doc))
		items, list := u["items"].([]any)
		if !list {
			items = []any{u}
		}
		for _, i := range items {
			o, err := Row(i.(map[string]any))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			out = append(out, o)
		}
	}
	return out
}

func at(s string) time.Time {
	x, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return x
}

func n(v int32) *int32 { return &v }

func TestEveryRecordedObjectHasARow(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "recorded", "*.yaml"))
	if err != nil || len(files) < 10 {
		t.Fatalf("recorded objects: %v, %v", files, err)
	}
	for _, f := range files {
		for _, o := range recorded(t, filepath.Base(f)) {
			m := o.GetMeta()
			if _, trimmed := o.(*model.ClusterRole); trimmed && m.UID == "" {
				continue // One of them was written down without its metadata.
			}
			if m.Name == "" || m.Kind == "" || m.UID == "" || m.Created.IsZero() || m.ResourceVersion == "" {
				t.Errorf("%s: incomplete metadata %+v", filepath.Base(f), m)
			}
		}
	}
}

// The same Machines, asked for in both versions, are the same rows but for the
// version's name and the annotation and namespaces that only v1beta1 spells out.
func TestMachineReadsTheSameInBothVersions(t *testing.T) {
	newer := recorded(t, "chain-capi1.14.2-capv1.16.1-vmop9.0.0-ma.yaml")
	older := recorded(t, "chain-ma.as-v1beta1.yaml")
	if len(newer) != len(older) || len(newer) == 0 {
		t.Fatalf("%d and %d Machines", len(newer), len(older))
	}
	for i := range newer {
		a, b := *newer[i].(*model.Machine), *older[i].(*model.Machine)
		if len(a.Conditions.New) == 0 || len(a.Conditions.Old) == 0 {
			t.Fatalf("%s: conditions of a generation are missing: %+v", a.Name, a.Conditions)
		}
		a.APIVersion, b.APIVersion = "", ""
		a.Owners, b.Owners = nil, nil // carry the API version they were written in.
		if b.FailureDomain == "" {
			a.FailureDomain = "" // a worker's is in status, which v1beta1 does not have.
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("v1beta2 %+v\nv1beta1 %+v", a, b)
		}
	}
}

func TestMachineOfTheChain(t *testing.T) {
	m := recorded(t, "chain-capi1.14.2-capv1.16.1-vmop9.0.0-ma.yaml")[0].(*model.Machine)
	if !m.ControlPlane || m.Cluster != "tkc-01" || m.NodeName != "tkc-01-f6jzs" || m.Phase != "Running" || m.Version != "v1.33.1" ||
		m.FailureDomain != "zone-a" || m.Infra != (model.ObjectRef{Kind: "VSphereMachine", Namespace: "test-01", Name: "tkc-01-f6jzs"}) ||
		!reflect.DeepEqual(m.Addresses, []string{"10.10.5.5"}) {
		t.Errorf("control plane Machine: %+v", m)
	}
	if want := []string{"pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup"}; !reflect.DeepEqual(m.PreTerminateHooks, want) || m.PreDrainHooks != nil {
		t.Errorf("hooks: %v and %v", m.PreTerminateHooks, m.PreDrainHooks)
	}
	d := recorded(t, "chain-orphan-deleting-ma.yaml")[0].(*model.Machine)
	if d.Deleting != at("2026-11-30T09:46:56Z") || d.Set != "tkc-01-np-1-22mzf" || d.Deployment != "tkc-01-np-1" || d.ControlPlane {
		t.Errorf("deleting worker: %+v", d)
	}
	if c := d.Conditions.Get("Deleting"); c == nil || c.Reason != "WaitingForInfrastructureDeletion" {
		t.Errorf("its condition Deleting: %+v", c)
	}
}

func TestMachineTimeoutsAndStages(t *testing.T) {
	const old = `
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata: {name: m, namespace: ns, annotations: {machine.cluster.x-k8s.io/exclude-node-draining: "", cluster.x-k8s.io/paused: "", cluster.x-k8s.io/skip-remediation: "", pre-drain.delete.hook.machine.cluster.x-k8s.io/b: x, pre-drain.delete.hook.machine.cluster.x-k8s.io/a: x}}
spec: {nodeDrainTimeout: 15m0s, nodeVolumeDetachTimeout: 0s}
status:
  failureReason: UpdateError
  failureMessage: gone
  deletion: {nodeDrainStartTime: "2025-01-02T03:04:05Z", waitForNodeVolumeDetachStartTime: "2025-01-02T03:05:05Z"}
  addresses: [{type: Hostname, address: h}, {type: ExternalIP, address: 192.0.2.9}, {type: InternalIP, address: 192.0.2.1}]
`
	m := row[*model.Machine](t, old)
	if m.DrainTimeout == nil || *m.DrainTimeout != 15*time.Minute || m.VolumeDetachTimeout == nil || *m.VolumeDetachTimeout != 0 {
		t.Errorf("timeouts: %v, %v", m.DrainTimeout, m.VolumeDetachTimeout)
	}
	if m.DrainStarted != at("2025-01-02T03:04:05Z") || m.VolumeDetachStarted != at("2025-01-02T03:05:05Z") || !m.PreDrainHookStarted.IsZero() {
		t.Errorf("stages: %+v", m)
	}
	if !m.ExcludeDrain || !m.Paused || !m.SkipRemediate || m.WantsRemediate || m.FailureReason != "UpdateError" || m.FailureMessage != "gone" {
		t.Errorf("flags: %+v", m)
	}
	if len(m.PreDrainHooks) != 2 || !strings.HasSuffix(m.PreDrainHooks[0], "/a") {
		t.Errorf("hooks: %v", m.PreDrainHooks)
	}
	if !reflect.DeepEqual(m.Addresses, []string{"192.0.2.1", "192.0.2.9"}) {
		t.Errorf("addresses: %v", m.Addresses)
	}
	const newer = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: m, namespace: ns}
spec: {deletion: {nodeDrainTimeoutSeconds: 600, nodeVolumeDetachTimeoutSeconds: 0}}
status:
  deprecated: {v1beta1: {failureReason: CreateError}}
  deletion: {waitForPreDrainHookStartTime: "2025-01-02T03:04:05Z", waitForPreTerminateHookStartTime: "2025-01-02T03:04:06Z"}
`
	m = row[*model.Machine](t, newer)
	if m.DrainTimeout == nil || *m.DrainTimeout != 10*time.Minute || *m.VolumeDetachTimeout != 0 || m.FailureReason != "CreateError" ||
		m.PreDrainHookStarted.IsZero() || m.PreTerminateHookStarted.IsZero() {
		t.Errorf("v1beta2: %+v", m)
	}
	if m = row[*model.Machine](t, "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: m}}"); m.DrainTimeout != nil {
		t.Errorf("a timeout from nowhere: %v", *m.DrainTimeout)
	}
}

func TestConditionsInAllFourPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		yaml     string
		old, new string // types, in order.
	}{
		"v1beta1 before 1.9": {`{apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine, metadata: {name: m}, status: {conditions: [{type: DrainingSucceeded, status: "False", severity: Info}, {type: Ready, status: "True"}]}}`,
			"DrainingSucceeded Ready", ""},
		"v1beta1 from 1.9": {`{apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine, metadata: {name: m}, status: {conditions: [{type: Ready, status: "True"}], v1beta2: {conditions: [{type: Deleting, status: "True"}]}}}`,
			"Ready", "Deleting"},
		"v1beta2": {`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: m}, status: {conditions: [{type: Deleting, status: "True"}], deprecated: {v1beta1: {conditions: [{type: Ready, status: "True"}]}}}}`,
			"Ready", "Deleting"},
		"v1beta2 without the deprecated ones": {`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: m}, status: {conditions: [{type: Deleting, status: "True"}]}}`,
			"", "Deleting"},
		"newer entries in the older place": {`{apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine, metadata: {name: m}, status: {conditions: [{type: Deleting, status: "True", observedGeneration: 4, reason: DrainingNode}, {type: Ready, status: "False", severity: Error}]}}`,
			"Deleting Ready", "Deleting"},
		"a newer list of its own wins over strays": {`{apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine, metadata: {name: m}, status: {conditions: [{type: Deleting, status: "False", observedGeneration: 4}], v1beta2: {conditions: [{type: Deleting, status: "True"}]}}}`,
			"Deleting", "Deleting"},
		"older entries in the newer place": {`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: m}, status: {conditions: [{type: Ready, status: "False", severity: Warning}]}}`,
			"Ready", "Ready"},
		"odd entries": {`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: m}, status: {conditions: [7, null, {status: "True"}, {type: 3}, {type: Deleting, status: true, lastTransitionTime: yesterday}]}}`,
			"", "Deleting"},
	} {
		t.Run(name, func(t *testing.T) {
			g := row[*model.Machine](t, c.yaml).Conditions
			types := func(l model.Conditions) string {
				var s []string
				for _, x := range l {
					s = append(s, x.Type)
				}
				return strings.Join(s, " ")
			}
			if types(g.Old) != c.old || types(g.New) != c.new {
				t.Errorf("old %q, new %q; want %q and %q", types(g.Old), types(g.New), c.old, c.new)
			}
		})
	}
	g := row[*model.Machine](t, `{apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine, metadata: {name: m}, status: {conditions: [{type: Deleting, status: "False", observedGeneration: 4}], v1beta2: {conditions: [{type: Deleting, status: "True"}]}}}`).Conditions
	if g.Get("Deleting").Status != "True" {
		t.Error("the stray entry was preferred")
	}
}

func TestClusterOfTheChain(t *testing.T) {
	c := recorded(t, "chain-capi1.14.2-capv1.16.1-vmop9.0.0-cluster.yaml")[0].(*model.ClusterObject)
	want := model.Replicas{Desired: n(3), Current: n(1), Ready: n(0), Available: n(0), UpToDate: n(1)}
	if !reflect.DeepEqual(c.ControlPlaneReplicas, want) || *c.WorkerReplicas.Available != 2 {
		t.Errorf("replicas: %+v, %+v", c.ControlPlaneReplicas, c.WorkerReplicas)
	}
	if c.Endpoint != "10.20.0.10:6443" || c.ControlPlane.Name != "tkc-01" || c.Infra.Kind != "VSphereCluster" || c.Phase != "Provisioned" ||
		!c.ControlPlaneInitialized || c.Paused || c.TrustVariable {
		t.Errorf("cluster: %+v", c)
	}
	if _, ok := c.Annotations["kubectl.kubernetes.io/last-applied-configuration"]; ok {
		t.Error("the copy of the whole object was kept")
	}
}

func TestClusterTopology(t *testing.T) {
	for name, c := range map[string]struct {
		yaml           string
		class, version string
		workers        *int32
		trust, paused  bool
	}{
		"v1beta1": {`{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, metadata: {name: c}, spec: {paused: true, topology: {class: tanzukubernetescluster, version: v1.30.1, controlPlane: {replicas: 3}, workers: {machineDeployments: [{replicas: 2}, {replicas: 4}]}, variables: [{name: trust, value: {additionalTrustedCAs: [{name: x}]}}]}}}`,
			"tanzukubernetescluster", "v1.30.1", n(6), true, true},
		"v1beta2": {`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: c, annotations: {cluster.x-k8s.io/paused: "true"}}, spec: {topology: {classRef: {name: builtin-generic-v3.5.0, namespace: vmware-system-vks-public}, version: v1.34.1, controlPlane: {replicas: 3}, workers: {machineDeployments: [{replicas: 2}, {}]}, variables: [{name: osConfiguration, value: {trust: {additionalTrustedCAs: []}}}]}}}`,
			"builtin-generic-v3.5.0", "v1.34.1", nil, true, true},
		"no trust": {`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: c}, spec: {topology: {variables: [{name: osConfiguration, value: {ntp: {}}}, {name: trust, value: ""}]}}}`,
			"", "", nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := row[*model.ClusterObject](t, c.yaml)
			if o.Class != c.class || o.Version != c.version || !reflect.DeepEqual(o.WorkerReplicas.Desired, c.workers) || o.TrustVariable != c.trust || o.Paused != c.paused {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestReplicasOfEachGeneration(t *testing.T) {
	k := recorded(t, "chain-capi1.14.2-capv1.16.1-vmop9.0.0-kcp.yaml")[0].(*model.ControlPlane)
	if !reflect.DeepEqual(k.Replicas, model.Replicas{Desired: n(3), Current: n(1), Ready: n(0), Available: n(0), UpToDate: n(1)}) ||
		k.Cluster != "tkc-01" || k.Template.Name != "tkc-01-cp" || k.OldestVersion != "v1.33.1" {
		t.Errorf("v1beta2 control plane: %+v", k)
	}
	for name, c := range map[string]struct {
		yaml string
		want model.Replicas
	}{
		"v1beta1 control plane": {`{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, metadata: {name: k}, spec: {replicas: 3}, status: {observedGeneration: 1, replicas: 4, readyReplicas: 3, updatedReplicas: 1, unavailableReplicas: 1}}`,
			model.Replicas{Desired: n(3), Current: n(4), Ready: n(3), Available: n(3), UpToDate: n(1)}},
		"v1beta1 control plane of 1.9": {`{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, metadata: {name: k}, spec: {replicas: 3}, status: {observedGeneration: 1, replicas: 3, readyReplicas: 3, updatedReplicas: 3, unavailableReplicas: 0, v1beta2: {readyReplicas: 2, availableReplicas: 1, upToDateReplicas: 0}}}`,
			model.Replicas{Desired: n(3), Current: n(3), Ready: n(2), Available: n(1), UpToDate: n(0)}},
		"not reconciled yet": {`{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, metadata: {name: k}, spec: {replicas: 3}}`,
			model.Replicas{Desired: n(3)}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row[*model.ControlPlane](t, c.yaml).Replicas; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	d := row[*model.MachineDeployment](t, `{apiVersion: cluster.x-k8s.io/v1beta1, kind: MachineDeployment, metadata: {name: d, ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, name: c}]}, spec: {paused: true, replicas: 2, template: {spec: {version: v1.30.1, infrastructureRef: {kind: VSphereMachineTemplate, name: t}}}}, status: {observedGeneration: 2, replicas: 2, phase: ScalingUp}}`)
	if !reflect.DeepEqual(d.Replicas, model.Replicas{Desired: n(2), Current: n(2), Ready: n(0), Available: n(0), UpToDate: n(0)}) ||
		d.Cluster != "c" || !d.Paused || d.Version != "v1.30.1" || d.Template.Name != "t" || d.Phase != "ScalingUp" {
		t.Errorf("v1beta1 deployment, none available: %+v", d)
	}
	s := recorded(t, "chain-capi1.14.2-capv1.16.1-vmop9.0.0-machineset.yaml")[0].(*model.MachineSet)
	if s.Deployment != "tkc-01-np-1" || *s.Replicas.Available != 2 || s.Cluster != "tkc-01" {
		t.Errorf("set: %+v", s)
	}
}

func TestHealthCheckOfBothVersions(t *testing.T) {
	for _, y := range []string{
		`{apiVersion: cluster.x-k8s.io/v1beta1, kind: MachineHealthCheck, metadata: {name: h}, spec: {clusterName: c, selector: {matchLabels: {a: b}}, unhealthyConditions: [{type: Ready, status: Unknown, timeout: 5m0s}]}}`,
		`{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineHealthCheck, metadata: {name: h}, spec: {clusterName: c, selector: {matchLabels: {a: b}}, checks: {unhealthyNodeConditions: [{type: Ready, status: Unknown, timeoutSeconds: 300}]}}}`,
	} {
		h := row[*model.MachineHealthCheck](t, y)
		if !reflect.DeepEqual(h.NodeChecks, []model.NodeCheck{{Type: "Ready", Status: "Unknown", Timeout: 5 * time.Minute}}) ||
			h.Selector == nil || !h.Selector.Matches(labels.Set{"a": "b"}) || h.Selector.Matches(labels.Set{}) || h.Cluster != "c" {
			t.Errorf("%+v", h)
		}
	}
	if h := row[*model.MachineHealthCheck](t, `{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineHealthCheck, metadata: {name: h}, spec: {selector: {matchExpressions: [{key: a, operator: Nonsense}]}}}`); h.Selector != nil {
		t.Error("a selector that cannot be parsed became one")
	}
}

func TestDrainRule(t *testing.T) {
	for name, c := range map[string]struct {
		spec           string
		invalid        string // part of it.
		machines, pods int
		matches        func(r *model.DrainRule) bool
	}{
		"the article's": {`{drain: {behavior: Skip}, pods: [{selector: {matchLabels: {kube-cert-agent.pinniped.dev: v3}}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: pinniped-concierge}}}]}`, "", 0, 1,
			func(r *model.DrainRule) bool {
				return r.Behavior == "Skip" && r.Order == nil && r.Pods[0].Pod.Matches(labels.Set{"kube-cert-agent.pinniped.dev": "v3"}) && !r.Pods[0].Namespace.Matches(labels.Set{})
			}},
		"empty selectors match everything": {`{drain: {behavior: Drain, order: -5}, machines: [{selector: {}, clusterSelector: {matchLabels: {}}}], pods: []}`, "", 1, 0,
			func(r *model.DrainRule) bool {
				return *r.Order == -5 && r.Machines[0].Machine == nil && r.Machines[0].Cluster == nil && r.Pods == nil
			}},
		"bad operator":     {`{drain: {behavior: Skip}, pods: [{selector: {matchExpressions: [{key: a, operator: Is, values: [b]}]}}]}`, "spec.pods[0].selector", 0, 1, nil},
		"bad label":        {`{drain: {behavior: Skip}, machines: [{clusterSelector: {matchLabels: {"a b": c}}}]}`, "spec.machines[0].clusterSelector", 1, 0, nil},
		"pods is a word":   {`{drain: {behavior: Skip}, pods: all}`, "spec.pods is not a list", 0, 0, nil},
		"an entry is none": {`{drain: {behavior: Skip}, pods: [x]}`, "spec.pods is not a list", 0, 0, nil},
		"selector is a word": {`{drain: {behavior: Skip}, pods: [{selector: x}]}`, "spec.pods[0].selector", 0, 1,
			func(r *model.DrainRule) bool { return !r.Pods[0].Pod.Matches(labels.Set{"a": "b"}) }},
		"a label that is a number": {`{drain: {behavior: Skip}, pods: [{selector: {matchLabels: {a: 3}}}]}`, "spec.pods[0].selector", 0, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := row[*model.DrainRule](t, "{apiVersion: cluster.x-k8s.io/v1beta1, kind: MachineDrainRule, metadata: {name: r, namespace: ns}, spec: "+c.spec+"}")
			if c.invalid == "" && r.Invalid != "" || !strings.Contains(r.Invalid, c.invalid) || len(r.Machines) != c.machines || len(r.Pods) != c.pods {
				t.Errorf("%+v", r)
			}
			if c.matches != nil && !c.matches(r) {
				t.Errorf("it reads as %+v", r)
			}
		})
	}
}

func TestVirtualMachineOfEveryVersion(t *testing.T) {
	newest := recorded(t, "vmop-9.1.0-orphan-vm.yaml")[0].(*model.VirtualMachine)
	want := model.VirtualMachine{PowerState: "PoweredOn", WantPower: "PoweredOn", Host: "DC0_C0_H0", Address: "10.10.5.7", Image: "vmi-0a1b2c3d4e5f60718",
		Class: "best-effort-small", MoID: "vm-50", BiosUUID: "fa2c7ee0-f5af-441f-bfd4-d9b79e09121a", HasProbe: true, Cluster: "tkc-01"}
	for _, f := range []string{"vmop-9.1.0-orphan-vm.yaml", "vmop-9.1.0-orphan-vm.as-v1alpha1.yaml", "vmop-9.1.0-orphan-vm.as-v1alpha2.yaml"} {
		got := *recorded(t, f)[0].(*model.VirtualMachine)
		if !got.Conditions.True("Ready") || got.UID != newest.UID {
			t.Errorf("%s: %+v", f, got)
		}
		if _, ok := got.Annotations["vmoperator.vmware.com/conversion"]; ok {
			t.Errorf("%s: the copy of the whole object was kept", f)
		}
		got.Meta, got.Conditions = model.Meta{}, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", f, got)
		}
	}
	v := row[*model.VirtualMachine](t, `{apiVersion: vmoperator.vmware.com/v1alpha2, kind: VirtualMachine, metadata: {name: v, annotations: {vmoperator.vmware.com/paused: ""}, labels: {capw.vmware.com/cluster.name: c}}, spec: {imageName: photon}, status: {host: esx, image: {name: vmi-1}, powerState: suspended, network: {primaryIP6: "2001:db8::1"}}}`)
	if v.Image != "vmi-1" || v.Host != "esx" || v.PowerState != "Suspended" || v.Address != "2001:db8::1" || v.HasProbe || !v.Paused || v.Cluster != "c" {
		t.Errorf("v1alpha2: %+v", v)
	}
}

func TestServiceAndEndpoints(t *testing.T) {
	s := recorded(t, "chain-capi1.14.2-capv1.16.1-vmop9.0.0-vmservice.yaml")[0].(*model.VirtualMachineService)
	if s.Cluster != "tkc-01" || s.Type != "LoadBalancer" || !reflect.DeepEqual(s.Ingress, []string{"10.20.0.10"}) ||
		!reflect.DeepEqual(s.Ports, []model.ServicePort{{Name: "apiserver", Port: 6443, Protocol: "TCP"}}) {
		t.Errorf("%+v", s)
	}
	e := recorded(t, "vmop-9.0.0-two-ready-ep-tkc-01-control-plane-service.yaml")[0].(*model.Endpoints)
	if len(e.Subsets) != 1 || len(e.Subsets[0].Ready) != 2 || len(e.Subsets[0].NotReady) != 1 {
		t.Fatalf("%+v", e)
	}
	if a := e.Subsets[0].NotReady[0]; a.IP != "10.10.5.7" || a.UID != "da79ed50-a8ed-49c7-b1b3-dc445bebf9f6" ||
		a.Target != (model.ObjectRef{Kind: "VirtualMachine", Namespace: "test-01", Name: "tkc-01-cp-3"}) {
		t.Errorf("%+v", a)
	}
}

func TestInfrastructureOfAnyProvider(t *testing.T) {
	for _, f := range []string{"chain-capi1.14.2-capv1.16.1-vmop9.0.0-vspheremachine.yaml", "chain-vspheremachine.as-v1beta1.yaml"} {
		m := recorded(t, f)[0].(*model.InfraMachine)
		if !m.Ready || m.Image != "vmi-0a1b2c3d4e5f60718" || m.Cluster != "tkc-01" || m.ProviderID != "vsphere://16a34849-74f7-5b94-a976-703f202b9560" ||
			!m.Conditions.New.True("VirtualMachineProvisioned") || !m.Conditions.Old.True("VMProvisioned") {
			t.Errorf("%s: %+v", f, m)
		}
	}
	tpl := recorded(t, "chain-capi1.14.2-capv1.16.1-vmop9.0.0-vspheremachinetemplate.yaml")[0].(*model.InfraTemplate)
	if tpl.Image != "vmi-0a1b2c3d4e5f60718" || tpl.Class != "best-effort-small" {
		t.Errorf("%+v", tpl)
	}
	c := recorded(t, "chain-capi1.14.2-capv1.16.1-vmop9.0.0-vspherecluster.yaml")[0].(*model.InfraCluster)
	if c.Cluster != "tkc-01" || c.Conditions.Get("LoadBalancerReady") == nil {
		t.Errorf("%+v", c)
	}
	m := row[*model.InfraMachine](t, `{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: DockerMachine, metadata: {name: d, labels: {cluster.x-k8s.io/cluster-name: c}}, status: {ready: true, failureReason: UpdateError, failureMessage: no VM}}`)
	if m.Kind != "DockerMachine" || m.Cluster != "c" || !m.Ready || m.FailureReason != "UpdateError" || m.FailureText != "no VM" {
		t.Errorf("%+v", m)
	}
}

func TestEventOfBothAPIs(t *testing.T) {
	e := recorded(t, "chain-orphan-deleting-events.yaml")[0].(*model.Event)
	if e.About.Kind == "" || e.Reason == "" || e.First.IsZero() || e.Last.IsZero() || e.Count < 1 {
		t.Errorf("%+v", e)
	}
	e = row[*model.Event](t, `{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: e, namespace: ns}, regarding: {kind: Machine, name: m, namespace: ns}, note: hello, reason: R, type: Warning, eventTime: "2025-01-02T03:04:05.123456Z", series: {count: 7, lastObservedTime: "2025-01-02T03:05:05.000000Z"}}`)
	if e.About != (model.ObjectRef{Kind: "Machine", Namespace: "ns", Name: "m"}) || e.Message != "hello" || e.Count != 7 || e.Last != at("2025-01-02T03:05:05Z") || e.First.Second() != 5 {
		t.Errorf("%+v", e)
	}
}

func TestInsideOfAWorkloadCluster(t *testing.T) {
	p := row[*model.Pod](t, `
apiVersion: v1
kind: Pod
metadata: {name: agent, namespace: pinniped-concierge, deletionTimestamp: "2025-01-02T03:04:05Z", annotations: {kubernetes.io/config.mirror: x}, ownerReferences: [{kind: DaemonSet, name: d, controller: true}]}
spec: {nodeName: node, hostNetwork: true, volumes: [{name: a, persistentVolumeClaim: {claimName: data}}, {name: tmp, ephemeral: {}}, {name: c, configMap: {}}]}
status:
  phase: Pending
  conditions: [{type: Ready, status: "False"}]
  initContainerStatuses: [{restartCount: 2, state: {terminated: {}}}]
  containerStatuses: [{restartCount: 1, state: {waiting: {reason: ContainerCreating}}}, {state: {waiting: {reason: ImagePullBackOff, message: no such image}}}]
`)
	if p.Node != "node" || p.Phase != "Pending" || p.Waiting != "ImagePullBackOff" || p.WaitingMessage != "no such image" || !p.Mirror || !p.DaemonSet ||
		p.Ready || !p.HostNetwork || p.Restarts != 3 || !reflect.DeepEqual(p.Claims, []string{"data", "agent-tmp"}) || p.Deleting.IsZero() {
		t.Errorf("%+v", p)
	}
	nd := row[*model.Node](t, `{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {unschedulable: true, providerID: "vsphere://x", taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}, status: {addresses: [{type: InternalIP, address: 192.0.2.1}], conditions: [{type: Ready, status: "True"}], nodeInfo: {kubeletVersion: v1.33.1}}}`)
	if !nd.Unschedulable || len(nd.Taints) != 1 || nd.Ready() != "True" || nd.Version != "v1.33.1" || len(nd.Addresses) != 1 {
		t.Errorf("%+v", nd)
	}
	v := row[*model.VolumeAttachment](t, `{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: v}, spec: {nodeName: n1, source: {persistentVolumeName: pv}}, status: {attached: true, detachError: {message: busy}}}`)
	if v.Node != "n1" || v.Volume != "pv" || !v.Attached || v.Error != "busy" {
		t.Errorf("%+v", v)
	}
	if ns := row[*model.Namespace](t, `{apiVersion: v1, kind: Namespace, metadata: {name: app, labels: {a: b}}}`); ns.Labels["a"] != "b" {
		t.Errorf("%+v", ns)
	}
}

func TestBudgetSelectors(t *testing.T) {
	app := labels.Set{"app": "db"}
	for name, c := range map[string]struct {
		version, selector string
		matches, parsed   bool
	}{
		"labels":              {"v1", "{matchLabels: {app: db}}", true, true},
		"empty, v1":           {"v1", "{}", true, true},
		"empty, v1beta1":      {"v1beta1", "{}", false, true},
		"absent":              {"v1", "null", false, true},
		"not to be parsed":    {"v1", "{matchExpressions: [{key: app, operator: Like, values: [d]}]}", false, false},
		"expression, v1beta1": {"v1beta1", "{matchExpressions: [{key: app, operator: Exists}]}", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := row[*model.Budget](t, "{apiVersion: policy/"+c.version+", kind: PodDisruptionBudget, metadata: {name: b, namespace: ns}, spec: {minAvailable: 1, maxUnavailable: 50%, selector: "+c.selector+"}, status: {currentHealthy: 1, desiredHealthy: 1, expectedPods: 2}}")
			if (b.Selector != nil) != c.parsed || c.parsed && b.Selector.Matches(app) != c.matches {
				t.Errorf("selector %v", b.Selector)
			}
			if b.MinAvailable != "1" || b.MaxUnavailable != "50%" || b.CurrentHealthy != 1 || b.ExpectedPods != 2 || b.DisruptionsAllowed != 0 {
				t.Errorf("%+v", b)
			}
		})
	}
}

func TestWhatIsNoRow(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		want error
	}{
		"nothing":                   {"{}", ErrNotObject},
		"no kind":                   {"{metadata: {name: x}}", ErrNotObject},
		"kind is a number":          {"{kind: 7, metadata: {name: x}}", ErrNotObject},
		"no metadata":               {"{apiVersion: v1, kind: Pod}", ErrNotObject},
		"metadata is a list":        {"{apiVersion: v1, kind: Pod, metadata: [x]}", ErrNotObject},
		"a secret":                  {"{apiVersion: v1, kind: Secret, metadata: {name: x}}", ErrUnknownKind},
		"another product's Cluster": {"{apiVersion: postgresql.cnpg.io/v1, kind: Cluster, metadata: {name: x}}", ErrUnknownKind},
		"another product's Machine": {"{apiVersion: machine.openshift.io/v1beta1, kind: Machine, metadata: {name: x}}", ErrUnknownKind},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := Row(parse(t, c.yaml))
			if !errors.Is(err, c.want) || o != nil {
				t.Errorf("%v, %v", o, err)
			}
		})
	}
	if reader("vmoperator.vmware.com/v1alpha9", "VirtualMachine") == nil || reader("v1", "Secret") != nil || reader("", "Machine") == nil {
		t.Error("a kind of an API version to come is read, a Secret is not, and a kind may stand alone")
	}
}

// Every field of every kind is replaced, one at a time and at every depth, by values of
// all other types: nothing may panic or fail.
func TestOddFieldsNeverHurt(t *testing.T) {
	odd := []any{nil, "x", "", 3.5, float64(1e300), int64(-1), true, []any{}, []any{nil, "x", map[string]any{"x": nil}}, map[string]any{}, map[string]any{"x": []any{}}}
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "recorded", "*.yaml"))
	seen := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		u := parse(t, string(text))
		items, list := u["items"].([]any)
		if !list {
			items = []any{u}
		}
		for _, i := range items {
			o := i.(map[string]any)
			key, _ := o["kind"].(string)
			v, _ := o["apiVersion"].(string)
			if seen[key+v] {
				continue
			}
			seen[key+v] = true
			spoil(o, func(set func(any)) {
				for _, x := range odd {
					set(x)
					if _, err := Row(o); err != nil && !errors.Is(err, ErrNotObject) && !errors.Is(err, ErrUnknownKind) {
						t.Errorf("%s: %v", key, err)
					}
				}
			})
		}
	}
	if len(seen) < 10 {
		t.Fatalf("only %d kinds were tried", len(seen))
	}
}

// spoil calls f for every field below v, with a function that replaces it, and restores it after.
func spoil(v any, f func(set func(any))) {
	switch x := v.(type) {
	case map[string]any:
		for k, old := range x {
			f(func(n any) { x[k] = n })
			x[k] = old
			spoil(old, f)
		}
	case []any:
		for i, old := range x {
			f(func(n any) { x[i] = n })
			x[i] = old
			spoil(old, f)
		}
	}
}

func TestHugeMessageIsCut(t *testing.T) {
	huge := strings.Repeat("ü", 1_000_000)
	m := row[*model.Machine](t, `{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: m}, status: {conditions: [{type: Deleting, status: "True", message: "`+huge+`"}]}}`)
	got := m.Conditions.Get("Deleting").Message
	if len(got) > MessageLimit+len("…") || !strings.HasSuffix(got, "ü…") {
		t.Errorf("%d bytes kept, ending in %q", len(got), got[len(got)-8:])
	}
}

func TestRowLeavesTheMapAlone(t *testing.T) {
	const text = `{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: m, annotations: {cluster.x-k8s.io/conversion-data: x, a: b}, labels: {l: v}}}`
	u := parse(t, text)
	if _, err := Row(u); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(u, parse(t, text)) {
		t.Errorf("changed to %v", u)
	}
}

func BenchmarkMachineRow(b *testing.B) {
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "recorded", "chain-orphan-deleting-ma.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	u := parse(b, string(text))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Row(u); err != nil {
			b.Fatal(err)
		}
	}
}
