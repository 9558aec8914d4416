package signature

import (
	"cmp"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

// MachineUnhealthy is the id of the signature in this file.
const MachineUnhealthy = "machine-unhealthy"

func machineUnhealthy() Signature {
	return Signature{
		ID: MachineUnhealthy, Title: "a Machine is Failed, has lost its Node, or does not get beyond Pending, Provisioning or Provisioned",
		Needs:  []string{"machines"},
		Causes: []Relation{{DrainBlocked, sameMachine}, {MachineDeletionStalled, sameMachine}},
		// A node that nobody can reach through the load balancer does not get to register.
		CausedBy: []Relation{{EndpointsMissing, func(_, effect *model.Finding) bool {
			return factsOf[*MachineFacts](effect).Phase == "Provisioned" && effect.Severity == model.Critical
		}}},
		Facts: func() any { return &MachineFacts{} },
		find:  findUnhealthyMachines,
	}
}

// SlowStart is how long a Machine may take to become a node before it is an alarm: a VM is made,
// an image may have to be copied, and the node joins.
const SlowStart = 30 * time.Minute

// MachineFacts are the Facts of a finding of machine-unhealthy.
type MachineFacts struct {
	Machine, Phase string
	// WaitsFor is what its conditions say it waits for.
	WaitsFor string
	// NodeGone is the Node that was deleted under it, empty where none was.
	NodeGone string
}

// findUnhealthyMachines is machine-unhealthy: a Machine is Failed, has not become a node for too
// long, or has lost its Node object.
//
// Severity: critical for a control plane Machine, else a warning; info while a lost Node is younger
// than Youth.
func findUnhealthyMachines(v *view) []model.Finding {
	var out []model.Finding
	for _, m := range v.c.Machines {
		if lifecycle.Deletes(m) {
			continue
		}
		if f, ok := v.unhealthyFinding(m); ok {
			out = append(out, f)
		}
	}
	return out
}

func (v *view) unhealthyFinding(m *model.Machine) (model.Finding, bool) {
	wrong := v.checkMachine(m)
	if wrong.Verdict != model.Yes {
		return model.Finding{}, false
	}
	waits := v.checkMachineWaits(m)
	checks := []model.Check{wrong, waits, v.checkProviderSays(m), v.checkMachineVM(m), v.checkRemediated(m), v.checkPaused(m)}
	confidence, found := model.Decide(checks)
	if !found {
		return model.Finding{}, false
	}
	facts := &MachineFacts{Machine: m.Name, Phase: m.Phase, WaitsFor: waits.Detail}
	f := model.Finding{
		Confidence: confidence, Severity: model.Warning,
		Subjects: []model.ObjectRef{v.machineRef(m)}, Since: m.Created, Evidence: checks, Facts: facts,
		Short: "Machine " + text.Clean(m.Phase), Summary: text.Clean(m.Name + " is " + m.Phase + ": " + text.Limit(wrong.Detail, 300)),
	}
	if m.ControlPlane {
		f.Severity = model.Critical
	}
	switch n := v.nodeOf(m.NodeName); {
	case m.Phase == "Failed":
		f.Since = time.Time{}
		f.Advice = append(f.Advice, "Cluster API leaves a Failed Machine alone. Find the reason; then delete it, unless etcd's quorum is at risk, or let a MachineHealthCheck replace it.")
		if removed(m) {
			f.Short, f.Summary = "VM removed", text.Clean("the VM of "+m.Name+" was removed, as its provider reports: "+text.Limit(m.FailureMessage, 250))
		}
	case n != nil && n.gone:
		facts.NodeGone = n.name
		f.Short, f.Since = "Node gone", n.since
		f.Summary = text.Clean("the Node " + n.name + " was deleted while its Machine lives on")
		f.Subjects = append(f.Subjects, v.nodeRef(n.name))
		f.Advice = append(f.Advice, "Find out who deleted the Node (its events; the cloud provider does when it cannot find the VM, or cannot log in to vCenter). If the VM lives, its kubelet registers again once it is restarted.")
		if v.young(f.Since) {
			f.Severity = model.Info
		}
	default:
		f.Advice = append(f.Advice, "Look at what it waits for: "+waits.Detail+".")
	}
	if m.ControlPlane {
		f.Advice = append(f.Advice, "Quorum: "+v.quorum().Words()+".")
	}
	if why := v.pausedAnywhere(m); why != "" {
		f.Advice = append([]string{why + ": nothing goes on until it is resumed."}, f.Advice...)
	}
	return f, true
}

// removed says that the provider itself noticed that the VM is gone
// (cluster-api-provider-vsphere in its vCenter mode).
func removed(m *model.Machine) bool {
	return strings.Contains(m.FailureMessage, "The vm was removed from infra") || strings.Contains(m.FailureMessage, "Unable to find VM by BIOS UUID")
}

// checkMachine asks what is wrong with a Machine.
func (v *view) checkMachine(m *model.Machine) model.Check {
	c := model.Check{Name: "machine-unwell", Title: "the Machine is not well", Weight: model.Required, Verdict: model.No, Source: "Machine " + m.Namespace + "/" + m.Name, Seen: v.seen("machines")}
	n := v.nodeOf(m.NodeName)
	switch m.Phase {
	case "Failed":
		c.Verdict, c.Detail = model.Yes, text.Clean(strings.TrimSuffix(cmp.Or(m.FailureReason, "Failed")+": "+text.Limit(m.FailureMessage, 500), ": "))
	case "Pending", "Provisioning", "Provisioned":
		since := m.Created
		if since.IsZero() || v.now.IsZero() {
			c.Detail = m.Phase + ", since when is not known"
			return c
		}
		v.at(since.Add(SlowStart))
		if v.now.Before(since.Add(SlowStart)) || v.waitsItsTurn(m) {
			c.Detail = m.Phase + ", made at " + stamp(since)
			return c
		}
		c.Verdict, c.Detail = model.Yes, "it was made at "+stamp(since)+" and is no node yet"
	default:
		if n != nil && n.gone {
			c.Verdict, c.Detail = model.Yes, "its Node "+text.Clean(n.name)+" was deleted"
		}
	}
	return c
}

// waitsItsTurn: a Pending Machine of a cluster whose control plane is not there yet waits as it
// should; so does one that is paused, which is told elsewhere.
func (v *view) waitsItsTurn(m *model.Machine) bool {
	return m.Phase == "Pending" && !m.ControlPlane && v.c.Object != nil && !v.c.Object.ControlPlaneInitialized && v.now.Before(v.c.Object.Created.Add(2*SlowStart))
}

// checkMachineWaits is what the Machine's conditions say it waits for.
func (v *view) checkMachineWaits(m *model.Machine) model.Check {
	c := model.Check{Name: "waits-for", Title: "its conditions say what for", Weight: model.Supporting, Verdict: model.Unknown, Source: "Machine " + m.Namespace + "/" + m.Name + ", conditions", Seen: v.seen("machines"), Detail: "they do not say"}
	for _, typ := range []string{"InfrastructureReady", "BootstrapConfigReady", "BootstrapReady", "NodeReady", "NodeHealthy"} {
		x := m.Conditions.Get(typ)
		if x == nil || x.Status == "True" || x.Message == "" && x.Reason == "" {
			continue
		}
		c.Verdict, c.Detail = model.Yes, text.Clean(typ+": "+strings.TrimSpace(text.Limit(cmp.Or(x.Message, x.Reason), 300)))
		return c
	}
	return c
}

// checkProviderSays is what the infrastructure machine says.
func (v *view) checkProviderSays(m *model.Machine) model.Check {
	c := model.Check{Name: "provider-says", Title: "the infrastructure provider says what is wrong", Weight: model.Supporting, Verdict: model.Unknown, Source: infraSource(m), Seen: v.seen("vspheremachines"), Detail: "it was not read"}
	for _, i := range v.c.InfraMachines {
		if i.Name != m.Infra.Name || m.Infra.Name == "" {
			continue
		}
		c.Verdict, c.Detail = model.No, "it says nothing"
		if i.FailureReason != "" || i.FailureText != "" {
			c.Verdict, c.Detail = model.Yes, text.Clean(i.FailureReason+": "+text.Limit(i.FailureText, 300))
			return c
		}
		for _, typ := range []string{"VirtualMachineProvisioned", "VMProvisioned", "Ready"} {
			if p := i.Conditions.Get(typ); p != nil && p.Status != "True" {
				c.Verdict, c.Detail = model.Yes, text.Clean(strings.TrimSpace(typ+": "+p.Reason+" "+text.Limit(p.Message, 300)))
				return c
			}
		}
	}
	return c
}

// checkMachineVM is what the VirtualMachine says of why it is not there yet.
func (v *view) checkMachineVM(m *model.Machine) model.Check {
	c := model.Check{Name: "vm-says", Title: "its VirtualMachine is made and powered on", Weight: model.Supporting, Verdict: model.Unknown, Source: "VirtualMachine " + m.Name, Seen: v.seen("virtualmachines"), Detail: "it was not read"}
	vm := v.c.VM(m)
	if vm == nil {
		return c
	}
	c.Verdict, c.Detail = model.Yes, cmp.Or(text.Clean(vm.PowerState), "no power state")+", "+cmp.Or(text.Clean(vm.Address), "no address")
	for _, x := range vm.Conditions {
		if x.Status == "False" && (strings.HasPrefix(x.Type, "VirtualMachine") && x.Type != "VirtualMachineTools") {
			c.Verdict, c.Detail = model.No, text.Clean(x.Type+": "+strings.TrimSpace(x.Reason+" "+text.Limit(x.Message, 250)))
			return c
		}
	}
	if vm.PowerState != "PoweredOn" || vm.Address == "" {
		c.Verdict = model.No
	}
	return c
}

// checkRemediated says what the owner does about it.
func (v *view) checkRemediated(m *model.Machine) model.Check {
	c := model.Check{Name: "owner-remediates", Title: "its owner replaces it", Weight: model.Supporting, Verdict: model.Unknown, Source: "Machine " + m.Namespace + "/" + m.Name + ", condition OwnerRemediated", Seen: v.seen("machines"), Detail: "nothing says so"}
	o := m.Conditions.Get("OwnerRemediated")
	if o == nil {
		return c
	}
	c.Verdict, c.Detail = model.Yes, text.Clean(o.Reason+": "+text.Limit(o.Message, 300))
	if _, refused := lifecycle.Refusal(o); refused || m.SkipRemediate {
		c.Verdict = model.No
	}
	return c
}
