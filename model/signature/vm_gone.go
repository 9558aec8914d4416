package signature

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

// VMGone is the id of the signature in this file.
const VMGone = "vm-gone"

func vmGone() Signature {
	return Signature{
		ID: VMGone, Title: "the VM under a node was destroyed or lost; the Supervisor still shows it running",
		Turn:         OfUnexplained,
		Needs:        []string{"machines", "virtualmachines"},
		ExplainsNode: always,
		Causes: []Relation{
			{DrainBlocked, sameMachine}, {MachineDeletionStalled, sameMachine},
			{RemediationBlockedByQuorum, func(cause, _ *model.Finding) bool { return factsOf[*VMFacts](cause).ControlPlane }},
		},
		Facts: func() any { return &VMFacts{} },
		find:  findGoneVMs,
	}
}

// VMFacts are the Facts of a finding of vm-gone.
type VMFacts struct {
	Machine, Node, Address string
	ControlPlane           bool
	// VM is the VirtualMachine's name, empty where there is none; Host, BiosUUID and MoID are its.
	VM, Host, BiosUUID, MoID string
	// State is the connection state that VM Operator named, such as orphaned; empty where none.
	State string
	// HealthCheck is the MachineHealthCheck that will act, and ActsAt when; empty where none will.
	HealthCheck string
	ActsAt      time.Time
	// QuorumRisk says that this is a control plane Machine that must not be deleted, as far as is
	// known.
	QuorumRisk bool
	Quorum     string
}

// reConnection is how VM Operator names a VM that vCenter does not show as connected: in events up
// to 8.0.x, of 9.0.0, and when it is to be deleted, of all later ones
// (vm-operator pkg/providers/vsphere/vmprovider_vm.go).
var reConnection = regexp.MustCompile(`(?i)(?:connectionState=|unsupported (?:VM )?connection state: )(orphaned|inaccessible|invalid|disconnected)`)

// findGoneVMs is vm-gone: a Machine runs and its VM is powered on, as the Supervisor has it, but
// the node is silent: its VM was destroyed or lost behind the Supervisor's back.
//
// From Kubernetes objects alone that looks like a VM that hangs or is cut off, so it is confirmed
// only with evidence about the VM itself. Several silent nodes without it are a host, a network
// or certificates: node-not-ready tells them as one.
//
// Severity: critical for a control plane node, else a warning; info while the node has been silent
// for less than Youth or a MachineHealthCheck's own time runs.
func findGoneVMs(v *view) []model.Finding {
	var out []model.Finding
	for _, n := range v.nodes() {
		if n.m == nil || !n.silent() || n.words.NeverPosted || lifecycle.Deletes(n.m) || v.explained[n] {
			continue
		}
		if f, ok := n.goneFinding(); ok {
			out = append(out, f)
		}
	}
	return out
}

func (n *nodeView) goneFinding() (model.Finding, bool) {
	v, vm := n.v, n.v.c.VM(n.m)
	evidence, state := n.checkVMEvidence(vm)
	alone := n.checkOnlyNode(evidence.Verdict == model.Yes)
	if alone.Weight == model.Deciding && alone.Verdict == model.No {
		return model.Finding{}, false // Where all are silent, this is all that has to be asked of each.
	}
	silent := n.checkNotReady()
	silent.Name, silent.Title = "node-silent", "the node's kubelet reports nothing"
	checks := []model.Check{
		n.checkRunning(), silent, n.checkPoweredOn(vm), evidence, alone,
		n.checkSameVM(vm), n.checkTools(vm), n.checkInfraMachine(), n.checkHealthCheck(), n.checkQuorumAllows(), n.checkRefusesDelete(state), v.checkPaused(n.m),
	}
	confidence, found := model.Decide(checks)
	if !found {
		return model.Finding{}, false
	}
	facts := &VMFacts{Machine: n.m.Name, Node: n.name, Address: n.address(), ControlPlane: n.m.ControlPlane, State: state}
	if vm != nil {
		facts.VM, facts.Host, facts.BiosUUID, facts.MoID = vm.Name, vm.Host, vm.BiosUUID, vm.MoID
	}
	if n.m.ControlPlane {
		q := v.quorum()
		facts.QuorumRisk, facts.Quorum = q.Spares() != model.Yes, q.Words()
	}
	f := model.Finding{
		Confidence: confidence, Severity: n.severity(), Subjects: n.subjects(), Short: "VM may be gone",
		Since: n.since, Evidence: checks, Facts: facts,
		Summary: text.Clean("node " + n.name + " is silent, and its VM may be gone: the Supervisor still shows it running"),
	}
	if vm != nil {
		f.Subjects = append(f.Subjects, v.onSupervisor("VirtualMachine", vm.Namespace, vm.Name))
	}
	if confidence == model.Confirmed {
		f.Short = "VM gone"
		f.Summary = text.Clean("the VM of " + n.name + " is " + cmp.Or(state, "gone") + ": its Machine still shows it running")
	}
	if t := n.healthCheck(); t.running(v) {
		f.Severity = model.Info
		facts.HealthCheck, facts.ActsAt = t.check.Name, t.acts
	}
	f.Advice = n.goneAdvice(facts, confidence)
	return f, true
}

func (n *nodeView) checkRunning() model.Check {
	c := model.Check{Name: "machine-running", Title: "its Machine runs and is not being deleted", Weight: model.Required, Verdict: model.No, Detail: "phase " + cmp.Or(text.Clean(n.m.Phase), "not known"), Source: "Machine " + n.m.Namespace + "/" + n.m.Name, Seen: n.v.seen("machines")}
	switch n.m.Phase {
	case "Running", "Updating":
		c.Verdict = model.Yes
	case "":
		c.Verdict = model.Unknown
	}
	return c
}

// checkPoweredOn: one that is off is started again by the Supervisor.
func (n *nodeView) checkPoweredOn(vm *model.VirtualMachine) model.Check {
	c := n.checkVMOn()
	c.Weight = model.Deciding
	if vm == nil && n.vmMissing() {
		c.Verdict, c.Detail, c.Weight = model.No, "there is no VirtualMachine of it any more", model.Supporting
	}
	return c
}

// vmMissing says that the VirtualMachine is surely not there, although the Machine had one.
func (n *nodeView) vmMissing() bool {
	v := n.v
	if v.sn.Dump || n.m.Infra.Kind != "VSphereMachine" || n.m.ProviderID == "" || v.c.VM(n.m) != nil {
		return false
	}
	s := v.source("virtualmachines")
	return s != nil && s.State == model.SourceOK
}

// checkVMEvidence is what is known about the VM itself: VM Operator's words about its connection
// to vCenter, or that the object is gone.
func (n *nodeView) checkVMEvidence(vm *model.VirtualMachine) (c model.Check, state string) {
	v := n.v
	c = model.Check{Name: "vm-evidence", Title: "something tells that the VM itself is gone", Weight: model.Deciding, Source: "events of VirtualMachine " + n.m.Name, Seen: v.seen("events"), Verdict: model.Unknown}
	if vm == nil {
		c.Source, c.Seen = "VirtualMachines in "+n.m.Namespace, v.seen("virtualmachines")
		if n.vmMissing() {
			c.Verdict, c.Detail = model.Yes, "there is no VirtualMachine of it any more"
			return c, ""
		}
		c.Detail, c.Settle = "no VirtualMachine of it is known", settleVM
		return c, ""
	}
	if e, state := v.connectionEvent(vm); e != nil && (n.since.IsZero() || e.Last.IsZero() || e.Last.After(n.since.Add(-time.Hour))) {
		c.Verdict = model.Yes
		c.Detail = "event " + text.Clean(e.Reason) + " of " + stamp(e.Last) + ": " + text.Limit(text.Clean(e.Message), 200)
		return c, state
	}
	if vm.PowerState != "" && vm.PowerState != "PoweredOn" {
		c.Verdict, c.Detail = model.No, "it is "+text.Clean(vm.PowerState)+", not gone"
		return c, ""
	}
	c.Detail, c.Settle = "nothing on the Supervisor tells: from VM Operator 9.0.1 on it is silent about a VM that is gone", settleVM
	return c, ""
}

// connectionEvent is the newest event in which VM Operator says that vCenter does not show a VM
// as connected, unless a later one says that it was updated well.
func (v *view) connectionEvent(vm *model.VirtualMachine) (e *model.Event, state string) {
	var good time.Time
	for _, x := range v.c.Events {
		if x.About.Kind != "VirtualMachine" || x.About.Name != vm.Name {
			continue
		}
		if g := reConnection.FindStringSubmatch(text.Limit(x.Message, 4096)); g != nil {
			if e == nil || x.Last.After(e.Last) {
				e, state = x, strings.ToLower(g[1])
			}
			continue
		}
		if x.Reason == "UpdateSuccess" && x.Last.After(good) {
			good = x.Last
		}
	}
	if e != nil && strings.Contains(e.Reason, "Update") && good.After(e.Last) {
		return nil, "" // It has been updated since.
	}
	return e, state
}

// checkOnlyNode keeps several silent nodes from being called several lost VMs.
func (n *nodeView) checkOnlyNode(evidence bool) model.Check {
	c := model.Check{Name: "only-this-node", Title: "no other node is silent too", Weight: model.Deciding, Verdict: model.Yes, Detail: "it is the only one", Source: "nodes of the cluster", Seen: n.seen}
	if others := n.othersSilent(); len(others) > 0 {
		c.Verdict, c.Detail = model.No, "also silent: "+strings.Join(nodeNames(others), ", ")
		if evidence {
			c.Weight = model.Supporting
		}
	}
	return c
}

// checkSameVM compares the Machine's providerID with the VM's UUID.
func (n *nodeView) checkSameVM(vm *model.VirtualMachine) model.Check {
	c := model.Check{Name: "same-vm", Title: "the VM is the one that the Machine was made with", Weight: model.Supporting, Verdict: model.Unknown, Source: "Machine and VirtualMachine " + n.m.Name, Seen: n.v.seen("virtualmachines"), Detail: "providerID or BIOS UUID is not known"}
	uuid, ok := strings.CutPrefix(n.m.ProviderID, "vsphere://")
	if vm == nil || !ok || vm.BiosUUID == "" {
		return c
	}
	c.Verdict, c.Detail = model.Yes, "BIOS UUID "+text.Clean(vm.BiosUUID)
	if !strings.EqualFold(uuid, vm.BiosUUID) {
		c.Verdict, c.Detail = model.No, text.Clean("the Machine has "+uuid+", the VM "+vm.BiosUUID)
	}
	return c
}

// checkTools: VMware Tools that run speak for a VM that lives. The status may be from before.
func (n *nodeView) checkTools(vm *model.VirtualMachine) model.Check {
	c := model.Check{Name: "tools-running", Title: "VMware Tools run in it, as its status has it", Weight: model.Supporting, Verdict: model.Unknown, Source: "VirtualMachine " + n.m.Name + ", condition VirtualMachineTools", Seen: n.v.seen("virtualmachines"), Detail: "its status does not say"}
	if vm == nil {
		return c
	}
	switch t := vm.Conditions.Get("VirtualMachineTools"); {
	case t == nil || t.Status == "Unknown":
	case t.Status == "True":
		c.Verdict, c.Detail = model.Yes, "running"
		if !t.Since.IsZero() {
			c.Detail += " since " + stamp(t.Since)
		}
		c.Detail += "; that may be what it was before the VM was lost"
	default:
		c.Verdict, c.Detail = model.No, text.Limit(text.Clean(cmp.Or(t.Message, t.Reason)), 200)
	}
	return c
}

func (n *nodeView) checkInfraMachine() model.Check {
	c := model.Check{Name: "infra-machine-there", Title: "its VSphereMachine is there", Weight: model.Supporting, Verdict: model.Unknown, Source: infraSource(n.m), Seen: n.v.seen("vspheremachines"), Detail: "it was not read"}
	i := slices.IndexFunc(n.v.c.InfraMachines, func(x *model.InfraMachine) bool { return x.Name == n.m.Infra.Name })
	switch s := n.v.source("vspheremachines"); {
	case n.m.Infra.Name == "":
	case i >= 0:
		x := n.v.c.InfraMachines[i]
		c.Verdict, c.Detail = model.Yes, "there"
		if x.FailureReason != "" {
			c.Detail = text.Clean(x.FailureReason + ": " + text.Limit(x.FailureText, 200))
		}
	case !n.v.sn.Dump && s != nil && s.State == model.SourceOK && n.m.Infra.Kind == "VSphereMachine":
		c.Verdict, c.Detail = model.No, "it is gone"
	}
	return c
}

// checkQuorumAllows is a word of caution, in numbers where they can be counted.
func (n *nodeView) checkQuorumAllows() model.Check {
	c := model.Check{Name: "quorum-allows", Title: "etcd can do without this member", Weight: model.Supporting, Source: "control plane Machines and their nodes", Seen: n.v.seen("machines")}
	if !n.m.ControlPlane {
		c.Verdict, c.Detail = model.Yes, "it is a worker"
		return c
	}
	q := n.v.quorum()
	c.Verdict, c.Detail = q.Spares(), q.Words()
	if c.Verdict == model.Unknown {
		c.Settle = "etcdctl endpoint status --cluster, on a healthy control plane node"
	}
	return c
}

// checkRefusesDelete foresees what happens once the Machine is deleted.
func (n *nodeView) checkRefusesDelete(state string) model.Check {
	c := model.Check{Name: "operator-deletes", Title: "VM Operator would delete such a VM", Weight: model.Supporting, Verdict: model.Unknown, Source: "VM Operator's version, by its words",
		Detail: "VM Operator 9.0 and later refuses to delete a VM that vCenter does not show as connected, 8.0 deletes it"}
	vm := n.v.c.VM(n.m)
	if vm == nil || state == "" {
		return c
	}
	if e, _ := n.v.connectionEvent(vm); e != nil && strings.Contains(e.Message, "unsupported") {
		c.Verdict, c.Detail = model.No, "these are the words of version 9.0 or later, which refuses: the VM has to be reconnected, or removed from vCenter's inventory"
	}
	return c
}

func (n *nodeView) goneAdvice(f *VMFacts, confidence model.Confidence) []string {
	var out []string
	if why := n.v.pausedAnywhere(n.m); why != "" {
		out = append(out, why+": nothing goes on until it is resumed.")
	}
	if f.HealthCheck != "" {
		out = append(out, "MachineHealthCheck "+f.HealthCheck+" acts at "+stamp(f.ActsAt)+": leave it to that.")
	}
	if confidence != model.Confirmed {
		out = append(out, "Make sure first: "+settleVM+"; ping "+cmp.Or(text.Clean(f.Address), "its address")+". A VM that hangs or is cut off looks the same from here.")
	}
	switch {
	case f.ControlPlane && f.QuorumRisk:
		return append(out, "Do not delete this Machine: etcd's quorum is at risk ("+f.Quorum+"). Bring members back first.")
	case f.HealthCheck == "":
		out = append(out, "Then delete the Machine, or set the annotation cluster.x-k8s.io/remediate-machine on it: a new one is made in its place.")
	}
	return append(out, "On VM Operator 9.0 and later that waits for ever while vCenter does not show the VM as connected: reconnect it, or remove it from vCenter's inventory, first.")
}
