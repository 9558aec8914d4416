package signature

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

// EndpointsMissing is the id of the signature in this file.
const EndpointsMissing = "endpoints-missing"

func endpointsMissing() Signature {
	return Signature{
		ID: EndpointsMissing, Title: "healthy control plane nodes are not in the control plane Service's Endpoints",
		Needs: []string{"machines", "virtualmachines", "virtualmachineservices", "endpoints"},
		Facts: func() any { return &EndpointsFacts{} },
		find:  findMissingEndpoints,
	}
}

// EndpointsFacts are the Facts of a finding of endpoints-missing.
type EndpointsFacts struct {
	// Namespace and Name are the Endpoints' and its Service's.
	Namespace, Name string
	PortName        string
	Port            int32
	// VMs are the control plane's, sorted by name.
	VMs []EndpointVM
	// Missing are the addresses of healthy nodes that are not listed as ready; Keep those that
	// are listed and stay. Both are sorted.
	Missing, Keep []string
}

// EndpointVM is a control plane VM as its Service sees it.
type EndpointVM struct {
	Name, Address, Image string
	Deleting, HasProbe   bool
	// Ready is VM Operator's own probe, and Why its words.
	Ready model.Verdict
	Why   string
	// Listed says where the address stands in the Endpoints.
	Listed Listing
	// Healthy says whether the API server on it is well, as far as anything but the probe tells,
	// and How what tells it.
	Healthy model.Verdict
	How     string
	since   time.Time // when it became as it is, zero where unknown.
	unsure  bool
}

// Listing is where an address stands in Endpoints.
type Listing string

// The places of an address.
const (
	ListedReady    Listing = "ready"
	ListedNotReady Listing = "not ready"
	NotListed      Listing = "missing"
)

// findMissingEndpoints is endpoints-missing: a healthy control plane node is not among the ready
// addresses of the control plane's Service.
//
// VM Operator lists a VM by its labels, its address and its probe (vm-operator
// virtualmachineservice_controller.go): one that is being deleted or has no address is left out,
// one whose probe fails stands under notReadyAddresses, one without a probe is always ready. So
// a VM that VM Operator itself calls Ready and does not list is proof; one whose probe fails is
// only a finding where its node says that it is well.
//
// Severity: critical where no address is left, else a warning; nothing while a VM has been Ready
// for less than Youth.
func findMissingEndpoints(v *view) []model.Finding {
	x := &endpointsView{v: v}
	if !x.look() {
		return nil
	}
	f, ok := x.finding()
	if !ok {
		return nil
	}
	return []model.Finding{f}
}

// endpointsView is the control plane's Service with its VMs.
type endpointsView struct {
	v       *view
	service *model.VirtualMachineService // nil where only the Endpoints are known.
	eps     *model.Endpoints             // nil where there are none.
	vms     []EndpointVM
	missing []EndpointVM
	keep    []string
}

// controlPlaneRole says whether labels or a selector are those of a control plane's VMs.
func controlPlaneRole(l map[string]string) bool {
	return l["capv.vmware.com/cluster.role"] == "controlplane" || l["capw.vmware.com/cluster.role"] == "controlplane"
}

// look finds the Service by owner or selector, the Endpoints by its name, and the VMs; false
// where there is nothing to compare.
func (x *endpointsView) look() bool {
	c := x.v.c
	for _, s := range c.Services {
		owned := slices.ContainsFunc(s.Owners, func(o model.Owner) bool { return o.Kind == "VSphereCluster" })
		if !owned && !controlPlaneRole(s.Selector) {
			continue // Somebody's own VirtualMachineService.
		}
		if x.service == nil || x.endpointsOf(x.service.Name) == nil && x.endpointsOf(s.Name) != nil {
			x.service = s
		}
	}
	if x.service != nil {
		x.eps = x.endpointsOf(x.service.Name)
	} else {
		x.eps = x.orphanedEndpoints()
	}
	if x.service == nil && x.eps == nil {
		return false
	}
	if x.eps == nil && x.v.unread("endpoints") != "" {
		return false // A dump without them says nothing.
	}
	if o := c.Object; o != nil && o.ControlPlaneUninitialized {
		return false // The first control plane node is still on its way, and has no probe yet.
	}
	for _, vm := range c.VMs {
		if x.selects(vm) {
			x.vms = append(x.vms, x.vm(vm))
		}
	}
	slices.SortFunc(x.vms, func(a, b EndpointVM) int { return strings.Compare(a.Name, b.Name) })
	return len(x.vms) > 0
}

func (x *endpointsView) endpointsOf(name string) *model.Endpoints {
	for _, e := range x.v.c.Endpoints {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// orphanedEndpoints are those of a dump that lacks the VirtualMachineService: owned by one, and
// called as the control plane's are.
func (x *endpointsView) orphanedEndpoints() *model.Endpoints {
	for _, e := range x.v.c.Endpoints {
		owned := slices.ContainsFunc(e.Owners, func(o model.Owner) bool { return o.Kind == "VirtualMachineService" })
		named := x.v.c.Ref.Name == "" || e.Name == x.v.c.Ref.Name || e.Name == x.v.c.Ref.Name+"-control-plane-service"
		if owned && named {
			return e
		}
	}
	return nil
}

// selects says whether the Service selects a VM.
func (x *endpointsView) selects(vm *model.VirtualMachine) bool {
	if x.service != nil && len(x.service.Selector) > 0 {
		for k, want := range x.service.Selector {
			if vm.Labels[k] != want {
				return false
			}
		}
		return true
	}
	if controlPlaneRole(vm.Labels) {
		return true
	}
	m := x.machine(vm)
	return m != nil && m.ControlPlane
}

// machine is the Machine over a VM, or nil.
func (x *endpointsView) machine(vm *model.VirtualMachine) *model.Machine {
	if m := x.v.c.Machine(vm.Name); m != nil {
		return m
	}
	for _, m := range x.v.c.Machines {
		if m.Infra.Name != "" && slices.ContainsFunc(vm.Owners, func(o model.Owner) bool { return o.Name == m.Infra.Name }) {
			return m
		}
	}
	return nil
}

func (x *endpointsView) vm(vm *model.VirtualMachine) EndpointVM {
	m := x.machine(vm)
	e := EndpointVM{Name: vm.Name, Address: vm.Address, Image: vm.Image, HasProbe: vm.HasProbe, Ready: model.Unknown, Listed: x.listed(vm)}
	e.Deleting = !vm.Deleting.IsZero() || m != nil && lifecycle.Deletes(m)
	if c := vm.Conditions.Get("Ready"); c != nil {
		e.Why, e.since = text.Limit(text.Clean(c.Message), 200), c.Since
		switch c.Status {
		case "True":
			e.Ready = model.Yes
		case "False":
			e.Ready = model.No
		}
	}
	e.Healthy, e.How = x.health(vm, m, e)
	return e
}

// listed says where a VM stands: by its address, or by the object its address points to (which a
// VM that changed its address still does).
func (x *endpointsView) listed(vm *model.VirtualMachine) Listing {
	if x.eps == nil {
		return NotListed
	}
	place := NotListed
	for _, s := range x.eps.Subsets {
		for _, a := range s.NotReady {
			if isOf(a.IP, vm) {
				place = ListedNotReady
			}
		}
	}
	for _, s := range x.eps.Subsets {
		for _, a := range s.Ready {
			if isOf(a.IP, vm) {
				return ListedReady
			}
		}
	}
	return place
}

// isOf says whether an address is one of a VM's, of either family (VM Operator lists one, by the
// families of its Service).
func isOf(ip string, vm *model.VirtualMachine) bool {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return ip != "" && ip == vm.Address
	}
	for _, s := range []string{vm.Address, vm.Address6} {
		if b, err := netip.ParseAddr(s); err == nil && a == b {
			return true
		}
	}
	return false
}

// health is what tells that the API server on a VM is well: VM Operator's probe, the API
// server's own pod, or, weaker, the Node.
func (x *endpointsView) health(vm *model.VirtualMachine, m *model.Machine, e EndpointVM) (h model.Verdict, how string) {
	n := x.node(vm, m)
	switch {
	case vm.PowerState != "" && vm.PowerState != "PoweredOn":
		return model.No, "its VM is " + text.Clean(vm.PowerState)
	case n != nil && n.stale == "" && (n.status == "False" || n.status == "Unknown" && e.Ready != model.Yes):
		// A kubelet falls silent, too, when nobody is listed: it reaches the API through them.
		return model.No, "its node is NotReady: " + cmp.Or(n.words.Text, n.status)
	case e.Ready == model.Yes:
		return model.Yes, "VM Operator's own probe reaches its API server"
	}
	refused := strings.Contains(e.Why, "connection refused")
	pod := x.apiServerReady(m, n)
	switch {
	case pod == model.Yes && !refused:
		return model.Yes, "its kube-apiserver is Ready"
	case pod == model.Yes:
		return model.Unknown, "its kube-apiserver is Ready, and VM Operator finds its port closed"
	case refused:
		return model.No, "nothing listens on its port: " + e.Why
	case n != nil && n.status == "True":
		return model.Unknown, "its node is Ready; whether its API server answers was not asked"
	}
	return model.Unknown, ""
}

// node is the view of the node that runs on a VM, by the Machine, the name or the address.
func (x *endpointsView) node(vm *model.VirtualMachine, m *model.Machine) *nodeView {
	for _, n := range x.v.nodes() {
		switch {
		case m != nil && n.m == m, n.name == vm.Name:
			return n
		case n.node != nil && vm.Address != "" && slices.Contains(n.node.Addresses, vm.Address):
			return n
		}
	}
	return nil
}

// apiServerReady asks the mirror pod of the API server on a node, then the provider's view of it.
func (x *endpointsView) apiServerReady(m *model.Machine, n *nodeView) model.Verdict {
	w := x.v.c.Workload
	if n != nil && n.stale == "" && (w.PodsSource.State == model.SourceOK || x.v.sn.Dump) {
		for i := range w.Pods {
			p := &w.Pods[i]
			if p.Node == n.name && p.Namespace == "kube-system" && p.Labels["component"] == "kube-apiserver" {
				if p.Ready {
					return model.Yes
				}
				return model.No
			}
		}
	}
	if m == nil {
		return model.Unknown
	}
	switch c := m.Conditions.Get("APIServerPodHealthy"); {
	case c == nil || c.Status == "Unknown":
		return model.Unknown
	case c.Status == "True":
		return model.Yes
	}
	return model.No
}

// sort out which VMs are missing and which addresses stay.
func (x *endpointsView) sort() (ready int) {
	gone := map[string]bool{}
	for i := range x.vms {
		e := &x.vms[i]
		if e.Deleting {
			gone[e.Address] = true
			continue
		}
		if e.Address == "" || e.Listed == ListedReady {
			continue
		}
		if x.v.young(e.since) || x.tooNew(e) {
			continue
		}
		if e.Healthy == model.Unknown && e.How == "" {
			e.unsure = true
		}
		x.missing = append(x.missing, *e)
	}
	if x.eps == nil {
		return 0
	}
	kept := map[string]bool{}
	for _, s := range x.eps.Subsets {
		for _, a := range s.Ready {
			ready++
			if !gone[a.IP] && !kept[a.IP] {
				kept[a.IP] = true
				x.keep = append(x.keep, a.IP)
			}
		}
	}
	slices.Sort(x.keep)
	return ready
}

// tooNew: a VM whose probe has not said anything yet, or that has none, needs its time.
func (x *endpointsView) tooNew(e *EndpointVM) bool {
	for _, vm := range x.v.c.VMs {
		if vm.Name != e.Name || vm.Created.IsZero() || x.v.now.IsZero() || !e.since.IsZero() {
			continue
		}
		x.v.at(vm.Created.Add(Joining))
		return x.v.now.Before(vm.Created.Add(Joining))
	}
	return false
}

func (x *endpointsView) finding() (model.Finding, bool) {
	ready := x.sort()
	v := x.v
	checks := []model.Check{x.checkService(), x.checkMissing(), x.checkHealthy(ready)}
	for i := range x.vms {
		checks = append(checks, x.checkVM(&x.vms[i]))
	}
	checks = append(checks, x.checkImages(), x.checkDuplicates(), v.checkRoleHolds(), v.checkRollout(), v.checkPaused(nil))
	confidence, found := model.Decide(checks)
	if !found {
		return model.Finding{}, false
	}
	facts := x.facts()
	f := model.Finding{
		Confidence: confidence, Severity: model.Warning, Short: "endpoints missing",
		Evidence: checks, Facts: facts,
		Subjects: []model.ObjectRef{x.v.onSupervisor("Endpoints", facts.Namespace, facts.Name)},
	}
	var names []string
	for _, e := range x.missing {
		names = append(names, e.Address)
		f.Subjects = append(f.Subjects, x.v.onSupervisor("VirtualMachine", facts.Namespace, e.Name))
		if !e.since.IsZero() && (f.Since.IsZero() || e.since.Before(f.Since)) {
			f.Since = e.since
		}
	}
	f.Summary = text.Clean(fmt.Sprintf("%d of %s missing from the Endpoints %s: %s", len(names), text.Plural(len(x.vms), "control plane VM"), facts.Name, text.List(names, 3)))
	if ready == 0 {
		f.Severity = model.Critical
		f.Short = "no endpoints"
		f.Summary += "; no address is left"
	}
	f.Advice = x.advice(ready)
	return f, true
}

func (x *endpointsView) facts() *EndpointsFacts {
	f := &EndpointsFacts{VMs: x.vms, Keep: x.keep}
	switch {
	case x.eps != nil:
		f.Namespace, f.Name = x.eps.Namespace, x.eps.Name
	default:
		f.Namespace, f.Name = x.service.Namespace, x.service.Name
	}
	f.PortName, f.Port = "apiserver", 6443 // What CAPV sets, where neither tells.
	var ports []model.ServicePort
	if x.service != nil {
		ports = x.service.Ports
	}
	if x.eps != nil {
		for _, s := range x.eps.Subsets {
			ports = append(ports, s.Ports...)
		}
	}
	if len(ports) > 0 {
		f.PortName, f.Port = ports[0].Name, ports[0].Port
	}
	for _, e := range x.missing {
		if e.Healthy != model.No {
			f.Missing = append(f.Missing, e.Address)
		}
	}
	slices.Sort(f.Missing)
	return f
}

func (x *endpointsView) checkService() model.Check {
	c := model.Check{Name: "service-known", Title: "the control plane's Service is known", Weight: model.Required, Verdict: model.Yes, Seen: x.v.seen("endpoints")}
	if x.service != nil {
		c.Source = "VirtualMachineService " + x.service.Namespace + "/" + x.service.Name
		c.Detail = "by its owner or its selector"
		return c
	}
	c.Source = "Endpoints " + x.eps.Namespace + "/" + x.eps.Name
	c.Detail = "Endpoints that a VirtualMachineService owns"
	return c
}

func (x *endpointsView) checkMissing() model.Check {
	c := model.Check{Name: "address-missing", Title: "a control plane VM is not listed as ready", Weight: model.Required, Verdict: model.No, Source: "Endpoints", Seen: x.v.seen("endpoints")}
	if x.eps != nil {
		c.Source += " " + x.eps.Namespace + "/" + x.eps.Name
	}
	var said []string
	for _, e := range x.missing {
		said = append(said, e.Name+" ("+e.Address+") is "+string(e.Listed))
	}
	c.Detail = "every VM that has an address and is not being deleted is listed"
	if len(said) > 0 {
		c.Verdict, c.Detail = model.Yes, text.Clean(text.List(said, 6))
	}
	return c
}

// checkHealthy decides: what is missing must be well, or VM Operator does right to leave it out.
func (x *endpointsView) checkHealthy(ready int) model.Check {
	c := model.Check{Name: "missing-is-healthy", Title: "the node that is missing is healthy", Weight: model.Deciding, Source: "VM Operator's probe, pods and nodes of the workload cluster", Verdict: model.No, Seen: x.v.seen("virtualmachines")}
	var said []string
	unsure := false
	for _, e := range x.missing {
		said = append(said, e.Name+": "+cmp.Or(e.How, "nothing tells"))
		switch e.Healthy {
		case model.Yes:
			c.Verdict = model.Yes
		case model.Unknown:
			unsure = unsure || e.How != "" || ready == 0 && e.Ready != model.Yes && !x.v.sn.Dump
		case model.No:
		}
	}
	if c.Verdict != model.Yes && unsure {
		c.Verdict = model.Unknown
		c.Settle = "ask the API server on its own address: curl -k https://ADDRESS:6443/readyz, from a place that reaches the node network"
	}
	c.Detail = text.Clean(text.List(said, 6))
	return c
}

func (x *endpointsView) checkVM(e *EndpointVM) model.Check {
	c := model.Check{Name: "control-plane-vm/" + text.Clean(e.Name), Title: text.Clean(e.Name) + " is listed as ready", Weight: model.Supporting, Verdict: model.No, Source: "VirtualMachine " + e.Name, Seen: x.v.seen("virtualmachines")}
	if e.Listed == ListedReady {
		c.Verdict = model.Yes
	}
	var parts []string
	if e.Deleting {
		parts = append(parts, "being deleted")
	}
	parts = append(parts, cmp.Or(e.Address, "no address"))
	switch {
	case !e.HasProbe:
		parts = append(parts, "no readiness probe")
	case e.Ready == model.Yes:
		parts = append(parts, "probe: Ready")
	case e.Ready == model.No:
		parts = append(parts, "probe: not Ready: "+cmp.Or(e.Why, "no words"))
	default:
		parts = append(parts, "probe: nothing said yet")
	}
	parts = append(parts, "listed: "+string(e.Listed))
	c.Detail = text.Clean(strings.Join(parts, ", "))
	return c
}

// checkImages compares the VMs' image with the template's. The article calls a mismatch the
// cause; the public code compares none, and after every change of the template the old VMs
// differ. So it corroborates, no more.
func (x *endpointsView) checkImages() model.Check {
	c := model.Check{Name: "image-differs", Title: "its image is not the template's", Weight: model.Supporting, Verdict: model.Unknown, Source: "VirtualMachines and the template of the KubeadmControlPlane", Seen: x.v.seen("virtualmachines")}
	want := ""
	if k := x.v.c.ControlPlane; k != nil {
		for _, t := range x.v.c.Templates {
			if t.Name == k.Template.Name {
				want = t.Image
			}
		}
	}
	if want == "" {
		c.Detail = "the template was not read"
		return c
	}
	c.Verdict, c.Detail = model.No, "all have "+want
	for _, e := range x.missing {
		if e.Image != "" && e.Image != want {
			c.Verdict = model.Yes
			c.Detail = e.Name + " has " + e.Image + ", the template has " + want + "; so it is after every change of the template, too"
		}
	}
	c.Detail = text.Clean(c.Detail)
	return c
}

// checkDuplicates looks for images that stand for the same thing twice.
func (x *endpointsView) checkDuplicates() model.Check {
	c := model.Check{Name: "duplicate-images", Title: "there are duplicate VirtualMachineImages", Weight: model.Supporting, Verdict: model.No, Source: "VirtualMachineImages", Seen: x.v.seen("clustervirtualmachineimages"), Detail: "none of the same name"}
	if len(x.v.sn.Images) == 0 {
		c.Verdict, c.Detail = model.Unknown, "no image was read"
		return c
	}
	names := map[string][]string{}
	for _, i := range x.v.sn.Images {
		if i.DisplayName != "" && (i.Namespace == "" || i.Namespace == x.v.c.Ref.Namespace) {
			names[i.DisplayName] = append(names[i.DisplayName], i.Name)
		}
	}
	for _, display := range slices.Sorted(maps.Keys(names)) {
		if len(names[display]) > 1 {
			c.Verdict, c.Detail = model.Yes, text.Clean(display+": "+text.List(names[display], 4))
			return c
		}
	}
	return c
}

// checkRollout says whether a control plane Machine waits to join.
func (v *view) checkRollout() model.Check {
	c := model.Check{Name: "rollout-waits", Title: "a new control plane Machine waits to join", Weight: model.Supporting, Verdict: model.No, Source: "Machines of the control plane", Seen: v.seen("machines"), Detail: "none waits"}
	for _, m := range v.c.Machines {
		if m.ControlPlane && m.NodeName == "" && !lifecycle.Deletes(m) {
			c.Verdict, c.Detail = model.Yes, text.Clean(m.Name+" has no node yet ("+m.Phase+")")
		}
	}
	if len(v.c.Machines) == 0 {
		c.Verdict, c.Detail = model.Unknown, "no Machine was read"
	}
	return c
}

func (x *endpointsView) advice(ready int) []string {
	var out []string
	if why := x.v.pausedAnywhere(nil); why != "" {
		out = append(out, why+": nothing goes on until it is resumed.")
	}
	if x.v.roleLacks() == model.Yes {
		out = append(out, "VM Operator may not patch Endpoints at all: give that privilege back first (endpoints-privilege-missing).")
	}
	out = append(out, "Make sure first that each missing node's API server answers on its own address.")
	if ready > 0 {
		out = append(out, "A patch of the Endpoints must list the addresses that are there as well: it replaces the whole list.")
	}
	return append(out, "While VM Operator may not patch Endpoints, those of every cluster of this Supervisor stand still: give the privilege back as soon as the nodes have joined.")
}
