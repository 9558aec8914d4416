package lifecycle

import (
	"slices"
	"testing"
	"time"

	"vksmedic/model"
)

func ago(d time.Duration) time.Time { return now.Add(-d) }

func TestStageOf(t *testing.T) {
	deletion := model.Meta{Kind: "Machine", Namespace: "team-a", Name: "web-cp-1", Deleting: ago(3 * time.Hour)}
	cond := func(typ, status, reason, message string, since time.Duration) model.Condition {
		c := model.Condition{Type: typ, Status: status, Reason: reason, Message: message}
		if since > 0 {
			c.Since = ago(since)
		}
		return c
	}
	const listed = "Drain not completed yet (started at 2026-08-01T10:00:00Z):\n* Pod a/b: deletionTimestamp set, but still not removed from the Node"
	for _, c := range []struct {
		name     string
		machine  model.Machine
		stage    Stage
		since    time.Duration // before now; 0 where unknown.
		exact    bool
		waitsFor []string
		failing  bool
		form     Form
	}{
		{name: "not deleting", machine: model.Machine{Phase: "Running"}},
		{name: "a condition Deleting that is False means nothing", machine: model.Machine{Conditions: model.Generations{New: model.Conditions{cond("Deleting", "False", "NotDeleting", "", 0)}}}},
		{name: "deletion timestamp alone", machine: model.Machine{Meta: deletion}, stage: Started, since: 3 * time.Hour, exact: true},
		{name: "phase alone", machine: model.Machine{Phase: "Deleting"}, stage: Started},
		{name: "condition alone", machine: model.Machine{Conditions: model.Generations{New: model.Conditions{cond("Deleting", "True", "Deleting", "Deletion started", time.Hour)}}}, stage: Started, since: time.Hour, exact: true},
		{name: "drain, new generation", stage: Draining, since: 2 * time.Hour, exact: true, form: FormPods, machine: model.Machine{Meta: deletion, Conditions: model.Generations{New: model.Conditions{cond("Deleting", "True", "DrainingNode", listed, 3*time.Hour)}}}},
		{name: "drain, start in the status", stage: Draining, since: 150 * time.Minute, exact: true, form: FormPods, machine: model.Machine{Meta: deletion, DrainStarted: ago(150 * time.Minute), Conditions: model.Generations{New: model.Conditions{cond("Deleting", "True", "DrainingNode", listed, 3*time.Hour)}}}},
		{name: "drain, new generation without a start", stage: Draining, since: 3 * time.Hour, form: FormError, failing: true, machine: model.Machine{Meta: deletion, Conditions: model.Generations{New: model.Conditions{cond("Deleting", "True", "DrainingNode", "Error draining Node, please check controller logs for errors", 3*time.Hour)}}}},
		{name: "drain, old generation, nameless", stage: Draining, since: time.Hour, exact: true, form: FormNameless, machine: model.Machine{Meta: deletion, Conditions: model.Generations{Old: model.Conditions{cond("DrainingSucceeded", "False", "Draining", "Draining the node before deletion", time.Hour)}}}},
		{name: "drain that fails: the older condition has the error", stage: Draining, since: time.Hour, exact: true, form: FormError, failing: true, machine: model.Machine{Meta: deletion, Conditions: model.Generations{
			New: model.Conditions{cond("Deleting", "True", "DrainingNode", "Error draining Node, please check controller logs for errors", 0)},
			Old: model.Conditions{cond("DrainingSucceeded", "False", "DrainingFailed", "etcdserver: request timed out", time.Hour)}}}},
		{name: "drain done, volumes", stage: VolumeDetach, since: 90 * time.Minute, exact: true, waitsFor: []string{"PersistentVolumeClaims: db/data-pg-0"}, machine: model.Machine{Meta: deletion, VolumeDetachStarted: ago(90 * time.Minute), Conditions: model.Generations{Old: model.Conditions{
			cond("DrainingSucceeded", "True", "", "", 2*time.Hour),
			cond("VolumeDetachSucceeded", "False", "WaitingForVolumeDetach", "Waiting for Node volumes to be detached (started at 2026-01-10T10:03:00Z)\n* PersistentVolumeClaims: db/data-pg-0", time.Hour)}}}},
		{name: "volumes, start in the message", stage: VolumeDetach, since: time.Hour, exact: true, machine: model.Machine{Meta: deletion, Conditions: model.Generations{New: model.Conditions{
			cond("Deleting", "True", "WaitingForVolumeDetach", "Waiting for Node volumes to be detached (started at 2026-08-01T11:00:00Z)", 0)}}}},
		{name: "drain that timed out leaves its condition at False", stage: VolumeDetach, since: time.Hour, exact: true, machine: model.Machine{Meta: deletion, Conditions: model.Generations{Old: model.Conditions{
			cond("PreDrainDeleteHookSucceeded", "True", "", "", 0), cond("DrainingSucceeded", "False", "Draining", "Draining the node before deletion", 2*time.Hour), cond("VolumeDetachSucceeded", "False", "WaitingForVolumeDetach", "", time.Hour)}}}},
		{name: "pre-drain hook, old generation", stage: PreDrainHook, since: time.Hour, exact: true, waitsFor: []string{"pre-drain.delete.hook.machine.cluster.x-k8s.io/x"}, machine: model.Machine{Meta: deletion, PreDrainHooks: []string{"pre-drain.delete.hook.machine.cluster.x-k8s.io/x"}, Conditions: model.Generations{Old: model.Conditions{cond("PreDrainDeleteHookSucceeded", "False", "WaitingExternalHook", "", time.Hour)}}}},
		{name: "pre-terminate hooks", stage: PreTerminateHook, since: time.Hour, exact: true, waitsFor: []string{"a/kcp-cleanup", "b/other"}, machine: model.Machine{Meta: deletion, PreTerminateHookStarted: ago(time.Hour), Conditions: model.Generations{New: model.Conditions{
			cond("Deleting", "True", "WaitingForPreTerminateHook", "Waiting for pre-terminate hooks to succeed (hooks: a/kcp-cleanup,b/other)", 0)}}}},
		{name: "pre-terminate hooks, old generation", stage: PreTerminateHook, since: time.Hour, exact: true, machine: model.Machine{Meta: deletion, Conditions: model.Generations{Old: model.Conditions{cond("DrainingSucceeded", "True", "", "", 0), cond("PreTerminateDeleteHookSucceeded", "False", "WaitingExternalHook", "", time.Hour)}}}},
		{name: "infrastructure", stage: Infrastructure, since: 3 * time.Hour, waitsFor: []string{"VSphereMachine web-cp-1"}, machine: model.Machine{Meta: deletion, Infra: model.ObjectRef{Kind: "VSphereMachine", Name: "web-cp-1"}, Conditions: model.Generations{New: model.Conditions{cond("Deleting", "True", "WaitingForInfrastructureDeletion", "Waiting for VSphereMachine to be deleted", 0)}}}},
		{name: "infrastructure, old generation", stage: Infrastructure, since: time.Hour, exact: true, waitsFor: []string{"VSphereMachine web-cp-1"}, machine: model.Machine{Meta: deletion, Infra: model.ObjectRef{Kind: "VSphereMachine", Name: "web-cp-1"}, Conditions: model.Generations{Old: model.Conditions{cond("PreTerminateDeleteHookSucceeded", "True", "", "", time.Hour)}}}},
		{name: "bootstrap", stage: Bootstrap, since: 3 * time.Hour, waitsFor: []string{"KubeadmConfig"}, machine: model.Machine{Meta: deletion, Conditions: model.Generations{New: model.Conditions{cond("Deleting", "True", "WaitingForBootstrapDeletion", "Waiting for KubeadmConfig to be deleted", 0)}}}},
		{name: "node", stage: DeletingNode, since: 3 * time.Hour, failing: true, machine: model.Machine{Meta: deletion, Conditions: model.Generations{New: model.Conditions{cond("Deleting", "True", "DeletingNode", "Error deleting Node, please check controller logs for errors", 0)}}}},
		{name: "internal error: where it is, the older conditions know", stage: VolumeDetach, since: time.Hour, exact: true, failing: true, machine: model.Machine{Meta: deletion, Conditions: model.Generations{
			New: model.Conditions{cond("Deleting", "True", "InternalError", "Please check controller logs for errors", 0)},
			Old: model.Conditions{cond("DrainingSucceeded", "True", "", "", 0), cond("VolumeDetachSucceeded", "False", "WaitingForVolumeDetach", "", time.Hour)}}}},
		{name: "status alone", stage: Draining, since: time.Hour, exact: true, machine: model.Machine{Meta: deletion, PreDrainHookStarted: ago(2 * time.Hour), DrainStarted: ago(time.Hour)}},
		{name: "reason of a later release", stage: Draining, since: time.Hour, exact: true, form: FormNameless, machine: model.Machine{Meta: deletion, Conditions: model.Generations{
			New: model.Conditions{cond("Deleting", "True", "SomethingNew", "", 0)},
			Old: model.Conditions{cond("DrainingSucceeded", "False", "Draining", "Draining the node before deletion", time.Hour)}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := StageOf(&c.machine)
			if d.Stage != c.stage || d.Failing != c.failing || d.Message.Form != c.form {
				t.Errorf("stage %q, failing %v, form %q; want %q, %v, %q", d.Stage, d.Failing, d.Message.Form, c.stage, c.failing, c.form)
			}
			switch {
			case c.since == 0 && !d.Since.IsZero():
				t.Errorf("since %v, want unknown", d.Since)
			case c.since != 0 && (!d.Since.Equal(ago(c.since)) || d.Exact != c.exact):
				t.Errorf("since %v, exact %v; want %v ago, %v", d.Since, d.Exact, c.since, c.exact)
			}
			if !slices.Equal(d.WaitsFor, c.waitsFor) {
				t.Errorf("waits for %q, want %q", d.WaitsFor, c.waitsFor)
			}
		})
	}
}

func TestStagesAreInOrderAndHaveWords(t *testing.T) {
	if Draining.Index() <= PreDrainHook.Index() || NotDeleting.Index() != -1 || Stage("x").Index() != -1 {
		t.Error("the stages are out of order")
	}
	for _, s := range append(Stages(), NotDeleting) {
		if s.Words() == "" || s.Words() == string(s) {
			t.Errorf("%q has no words", s)
		}
	}
}
