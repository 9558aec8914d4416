package signature

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

// MachineDeletionStalled is the id of the signature in this file.
const MachineDeletionStalled = "machine-deletion-stalled"

func machineDeletionStalled() Signature {
	return Signature{
		ID: MachineDeletionStalled, Title: "a Machine has been Deleting for too long; the stage is named",
		Needs: []string{"machines"},
		Facts: func() any { return &DeletionFacts{} },
		find:  findStalledDeletions,
	}
}

// StalledAfter is how long a deletion may take before it is an alarm, by default.
const StalledAfter = time.Hour

// DeletionFacts are the Facts of a finding of machine-deletion-stalled.
type DeletionFacts struct {
	Machine, Node string
	Stage         lifecycle.Stage
	Begun         time.Time
	// WaitsFor names what the stage waits for.
	WaitsFor []string
	// Refusal is VM Operator's refusal to delete the VM, empty where there is none.
	Refusal string
}

// findStalledDeletions is machine-deletion-stalled: a Machine has been Deleting for too long. The
// stage is named, and what it waits for.
//
// Severity: critical for a control plane Machine, else a warning.
func findStalledDeletions(v *view) []model.Finding {
	var out []model.Finding
	for _, m := range v.c.Machines {
		if !lifecycle.Deletes(m) {
			continue
		}
		if f, ok := v.stalledFinding(m); ok {
			out = append(out, f)
		}
	}
	return out
}

func (v *view) stalledFinding(m *model.Machine) (model.Finding, bool) {
	d := lifecycle.StageOf(m)
	after := v.opts.StalledAfter
	if d.Begun.IsZero() || v.now.IsZero() {
		return model.Finding{}, false // How long is not known.
	}
	if v.now.Before(d.Begun.Add(after)) {
		v.at(d.Begun.Add(after))
		return model.Finding{}, false
	}
	x := &stalled{v: v, m: m, d: d}
	waits, waitsFor := x.checkWaitsFor()
	refusal := x.checkOperator()
	checks := []model.Check{x.checkLong(after), x.checkStage(), waits, refusal, x.checkInfra(), x.checkNode(), x.checkHolds(), v.checkPaused(m)}
	confidence, found := model.Decide(checks)
	if !found {
		return model.Finding{}, false
	}
	facts := &DeletionFacts{Machine: m.Name, Node: m.NodeName, Stage: d.Stage, Begun: d.Begun, WaitsFor: waitsFor}
	f := model.Finding{
		Confidence: confidence, Severity: model.Warning,
		Subjects: []model.ObjectRef{v.machineRef(m)}, Short: "deletion stalled", Since: d.Begun, Evidence: checks, Facts: facts,
	}
	if refusal.Verdict == model.No {
		facts.Refusal = refusal.Detail
	}
	if m.ControlPlane {
		f.Severity = model.Critical
	}
	s := m.Name + " has been Deleting since " + stamp(d.Begun) + ": it " + d.Stage.Words()
	if len(waitsFor) > 0 {
		s += " (" + text.List(waitsFor, 3) + ")"
	}
	f.Summary = text.Clean(text.Limit(s, 500))
	f.Advice = x.advice(facts)
	return f, true
}

type stalled struct {
	v *view
	m *model.Machine
	d lifecycle.Deletion
}

func (x *stalled) source() string {
	return "Machine " + x.m.Namespace + "/" + x.m.Name + ", " + x.d.Condition
}

func (x *stalled) checkLong(after time.Duration) model.Check {
	return model.Check{
		Name: "deleting-long", Title: "it has been Deleting for more than " + text.Age(after), Weight: model.Required, Verdict: model.Yes,
		Detail: "since " + stamp(x.d.Begun), Source: "Machine " + x.m.Namespace + "/" + x.m.Name, Seen: x.v.seen("machines"),
	}
}

func (x *stalled) checkStage() model.Check {
	c := model.Check{Name: "stage", Title: "how far it is", Weight: model.Supporting, Verdict: model.Yes, Source: x.source(), Seen: x.v.seen("machines")}
	c.Detail = "stage: " + string(x.d.Stage)
	if !x.d.Since.IsZero() {
		word := " since "
		if !x.d.Exact {
			word = " not before "
		}
		c.Detail += "," + word + stamp(x.d.Since)
	}
	if x.d.Stage == lifecycle.Started {
		c.Verdict = model.Unknown
		c.Detail += "; no condition says more"
	}
	return c
}

// checkWaitsFor names what the stage waits for.
func (x *stalled) checkWaitsFor() (model.Check, []string) {
	c := model.Check{Name: "waits-for", Title: "what it waits for is known", Weight: model.Supporting, Verdict: model.Yes, Source: x.source(), Seen: x.v.seen("machines")}
	list := slices.Clone(x.d.WaitsFor)
	if x.d.Stage == lifecycle.Draining {
		for _, y := range x.v.draining() {
			if y.m != x.m {
				continue
			}
			for _, a := range y.agents {
				list = append(list, a.Namespace+"/"+a.Name)
			}
			for _, b := range y.sureBlockers() {
				list = append(list, b.String())
			}
		}
	}
	if x.d.Stage == lifecycle.VolumeDetach {
		list = append(list, x.attachments()...)
	}
	for i := range list {
		list[i] = text.Clean(list[i])
	}
	c.Detail = text.List(list, 10)
	if len(list) == 0 {
		c.Verdict = model.Unknown
		c.Detail = "nothing names it"
		if x.d.Text != "" {
			c.Detail += ": " + x.d.Text
		}
	}
	return c, list
}

// attachments are the volumes that are still attached to the node.
func (x *stalled) attachments() []string {
	var out []string
	for i := range x.v.c.Workload.Attachments {
		a := &x.v.c.Workload.Attachments[i]
		if a.Node != x.m.NodeName || !a.Attached && a.Error == "" {
			continue
		}
		s := "VolumeAttachment " + a.Name + " of " + cmp.Or(a.Volume, "a volume")
		if a.Error != "" {
			s += " (" + text.Limit(text.Clean(a.Error), 150) + ")"
		}
		out = append(out, s)
	}
	return out
}

// checkOperator is what VM Operator says of the VM that it should delete.
func (x *stalled) checkOperator() model.Check {
	c := model.Check{Name: "operator-deletes", Title: "VM Operator deletes the VM", Weight: model.Supporting, Verdict: model.Unknown, Source: "VirtualMachine " + x.m.Name + " and its events", Seen: x.v.seen("virtualmachines")}
	vm := x.v.c.VM(x.m)
	if vm == nil {
		c.Detail = "no VirtualMachine of it is known"
		if s := x.v.source("virtualmachines"); !x.v.sn.Dump && s != nil && s.State == model.SourceOK {
			c.Verdict, c.Detail = model.Yes, "its VirtualMachine is gone"
		}
		return c
	}
	if vm.Deleting.IsZero() {
		c.Verdict, c.Detail = model.No, "its VirtualMachine is not asked to go yet"
		if x.d.Stage.Index() < lifecycle.Infrastructure.Index() {
			c.Verdict, c.Detail = model.Unknown, "its turn comes after this stage"
		}
		return c
	}
	if e := x.deleteFailure(vm); e != nil {
		c.Verdict, c.Detail = model.No, "event "+text.Clean(e.Reason)+" of "+stamp(e.Last)+": "+text.Limit(text.Clean(e.Message), 250)
		return c
	}
	c.Detail = "it has been asked to go at " + stamp(vm.Deleting) + ", and nothing says why it does not"
	if len(vm.Finalizers) > 0 {
		c.Detail += " (finalizers: " + text.List(vm.Finalizers, 3) + ")"
	}
	c.Detail = text.Clean(c.Detail)
	c.Settle = settleVM + "; kubectl get events -n " + vm.Namespace + " --field-selector involvedObject.name=" + vm.Name
	return c
}

func (x *stalled) deleteFailure(vm *model.VirtualMachine) *model.Event {
	var found *model.Event
	for _, e := range x.v.c.Events {
		if e.About.Kind == "VirtualMachine" && e.About.Name == vm.Name && e.Reason == "DeleteFailure" && (found == nil || e.Last.After(found.Last)) {
			found = e
		}
	}
	return found
}

// checkInfra is what the infrastructure provider says.
func (x *stalled) checkInfra() model.Check {
	c := model.Check{Name: "infrastructure-says", Title: "the infrastructure machine is being deleted", Weight: model.Supporting, Verdict: model.Unknown, Source: infraSource(x.m), Seen: x.v.seen("vspheremachines"), Detail: "it was not read"}
	for _, i := range x.v.c.InfraMachines {
		if i.Name != x.m.Infra.Name || x.m.Infra.Name == "" {
			continue
		}
		c.Verdict, c.Detail = model.No, "it is not asked to go yet"
		if !i.Deleting.IsZero() {
			c.Verdict, c.Detail = model.Yes, "since "+stamp(i.Deleting)
		}
		for _, typ := range []string{"VirtualMachineProvisioned", "VMProvisioned"} {
			if p := i.Conditions.Get(typ); p != nil && p.Status != "True" {
				c.Detail += ", " + text.Clean(strings.TrimSpace(p.Reason+" "+text.Limit(p.Message, 200)))
				break
			}
		}
	}
	return c
}

func (x *stalled) checkNode() model.Check {
	c := model.Check{Name: "node-ready", Title: "its node is Ready", Weight: model.Supporting, Verdict: model.Unknown, Source: "Node " + x.m.NodeName, Detail: "it was not read"}
	n := x.v.nodeOf(x.m.NodeName)
	if n == nil || n.status == "" {
		if n != nil && n.gone {
			c.Verdict, c.Detail = model.No, "the Node is gone"
		}
		return c
	}
	c.Source, c.Seen, c.Detail = n.source, n.seen, n.saying()
	c.Verdict = model.No
	if n.status == "True" {
		c.Verdict = model.Yes
	}
	if n.leaving {
		c.Detail += "; its VM is being destroyed"
	}
	return c
}

// checkHolds says whether replacement waits too: a MachineSet counts a Machine that is being
// deleted.
func (x *stalled) checkHolds() model.Check {
	c := model.Check{Name: "replacement-waits", Title: "a replacement waits for it", Weight: model.Supporting, Verdict: model.Unknown, Source: "owner of the Machine", Seen: x.v.seen("machinesets")}
	switch {
	case x.m.ControlPlane:
		c.Verdict, c.Detail = model.Yes, "the control plane changes one Machine at a time"
	case x.m.Set != "":
		c.Verdict, c.Detail = model.Yes, text.Clean("MachineSet "+x.m.Set+" counts it, and makes none in its place before it is gone")
	default:
		c.Detail = "nothing says who owns it"
	}
	return c
}

func (x *stalled) advice(f *DeletionFacts) []string {
	var out []string
	if why := x.v.pausedAnywhere(x.m); why != "" {
		out = append(out, why+": nothing goes on until it is resumed.")
	}
	switch x.d.Stage {
	case lifecycle.Draining:
		out = append(out, "See what holds the drain.")
	case lifecycle.VolumeDetach:
		out = append(out, "Look at the VolumeAttachments of the node and the storage driver: kubectl get volumeattachments, in the workload cluster. If the node is surely dead, the annotation machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach on its Machine skips the wait.")
	case lifecycle.PreDrainHook, lifecycle.PreTerminateHook:
		out = append(out, "A hook is given up by who set it; look at that controller's log.")
		if x.m.ControlPlane && x.d.Stage == lifecycle.PreTerminateHook {
			out = append(out, "The hook kcp-cleanup waits for the KubeadmControlPlane to take the member out of etcd: look at its conditions and log. It cannot with fewer than two control plane nodes.")
		}
	case lifecycle.Infrastructure:
		if f.Refusal != "" {
			out = append(out, "VM Operator refuses until vCenter shows the VM as connected or no longer knows it: reconnect or restore it, or remove it from vCenter's inventory.", "Then touch the VirtualMachine with an annotation: VM Operator may otherwise take half an hour to look again.")
		} else {
			out = append(out, "Look in vCenter at the VM: its tasks, and whether it is connected.")
		}
	case lifecycle.DeletingNode:
		out = append(out, "The Node does not go: look whether the workload cluster's API answers.")
	case lifecycle.Started, lifecycle.Bootstrap, lifecycle.DeletionCompleted, lifecycle.NotDeleting:
		out = append(out, "Look at the finalizers of the Machine and at Cluster API's log.")
	}
	return append(out, "Do not delete the Machine again or take its finalizers away: it is being deleted already, and what it waits for is there for a reason.")
}
