package describe

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"vksmedic/model"
)

const machine = `
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata:
  name: m
  namespace: ns
  creationTimestamp: "2026-01-02T03:00:00Z"
  deletionTimestamp: "2026-01-02T03:04:00Z"
  labels: {b: "2", a: "1"}
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: "{}"
    cluster.x-k8s.io/conversion-data: "{}"
  managedFields: [{manager: x}]
  finalizers: [machine.cluster.x-k8s.io]
  ownerReferences: [{apiVersion: v1, kind: MachineSet, name: set, uid: u}]
spec: {clusterName: c}
status:
  phase: Deleting
  conditions: [{type: Ready, status: "False", reason: Draining, message: "first\nsecond", lastTransitionTime: "2026-01-02T03:05:00Z"}, 7]
  v1beta2: {conditions: [{type: Deleting, status: "True", reason: DrainingNode}]}
`

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestYAMLLeavesOutWhatOnlyMachinesNeed(t *testing.T) {
	o := parse(t, machine)
	s, err := YAML(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, no := range []string{"managedFields", "last-applied", "conversion-data", "annotations"} {
		if strings.Contains(s, no) {
			t.Errorf("%s is in\n%s", no, s)
		}
	}
	if !strings.Contains(s, "clusterName: c") {
		t.Error(s)
	}
	if o["metadata"].(map[string]any)["managedFields"] == nil {
		t.Error("the object was changed")
	}
}

func TestText(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 10, 0, 0, time.UTC)
	events := []*model.Event{{Type: "Warning", Reason: "FailedDrainNode", Message: "no", Count: 3, Last: now.Add(-time.Minute)}}
	s := Text(parse(t, machine), events, "", now)
	for _, want := range []string{
		"Name:         m\n", "(6m ago)", "Labels:       a=1\n              b=2\n", "Owner:        MachineSet set",
		"Conditions:\n  Ready is False: Draining, since", "      first\n      second\n", "Conditions (v1beta2):\n  Deleting is True: DrainingNode\n",
		"Spec:\n  clusterName: c\n", "Status:\n  phase: Deleting\n", "Warning FailedDrainNode (3 times)\n      no\n",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not in\n%s", want, s)
		}
	}
	if strings.Contains(s, "last-applied") {
		t.Errorf("a copy of the object is in\n%s", s)
	}
	if s := Text(parse(t, machine), nil, "user x may not list events", now); !strings.Contains(s, "Events: not known: user x may not list events") {
		t.Error(s)
	}
	if s := Text(parse(t, "{apiVersion: v1, kind: Pod, metadata: {name: p}, status: 7}"), nil, "", time.Time{}); !strings.Contains(s, "Events: none") || strings.Contains(s, "ago") {
		t.Error(s)
	}
}
