package signature

import (
	"slices"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/kubelet"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

// Joining is how long a node that was never Ready may take: it starts its network, and its
// add-ons come one by one. NodeStartup of a MachineHealthCheck is ten minutes by default.
const Joining = 10 * time.Minute

// nodeView is a node with all that tells of its health: the Node itself, or, where the
// workload cluster cannot be read, what its Machine repeats of it.
type nodeView struct {
	v    *view
	name string
	m    *model.Machine // nil for a node that no Machine names.
	node *model.Node    // nil where it was not read.

	// status is that of the Ready condition: True, False, Unknown, or empty where nothing tells.
	status  string
	reason  string
	message string
	words   kubelet.Words
	// since is when the condition became what it is, zero where unknown.
	since  time.Time
	source string
	seen   time.Time
	// stale says why what is known of it may be old; empty where it is not.
	stale string
	// gone says that the Node object was deleted while its Machine lives on.
	gone bool
	// joining says that it has not been Ready yet and is young enough for that.
	joining bool
	// leaving says that its Machine's deletion has got past the drain: the machine under it is
	// being destroyed, and that it falls silent is how it should be.
	leaving bool
}

// nodes are the nodes of the cluster, once for all signatures.
func (v *view) nodes() []*nodeView {
	if v.nodesRead {
		return v.nodeViews
	}
	v.nodesRead = true
	read := make(map[string]*model.Node, len(v.c.Workload.Nodes))
	for i := range v.c.Workload.Nodes {
		x := &v.c.Workload.Nodes[i]
		read[x.Name] = x
	}
	v.nodesBy = make(map[string]*nodeView, len(read))
	add := func(n *nodeView) {
		n.read()
		v.nodeViews = append(v.nodeViews, n)
		v.nodesBy[n.name] = n
	}
	for _, m := range v.c.Machines {
		if m.NodeName != "" {
			add(&nodeView{v: v, name: m.NodeName, m: m, node: read[m.NodeName]})
		}
	}
	for i := range v.c.Workload.Nodes {
		x := &v.c.Workload.Nodes[i]
		if v.nodesBy[x.Name] == nil {
			add(&nodeView{v: v, name: x.Name, node: x})
		}
	}
	return v.nodeViews
}

// nodeOf is the view of a node by its name, or nil.
func (v *view) nodeOf(name string) *nodeView {
	v.nodes()
	return v.nodesBy[name]
}

func (n *nodeView) read() {
	nodes := n.v.c.Workload.NodesSource
	// A Node that was read a while ago yields to what its Machine says now.
	switch {
	case n.node != nil && (nodes.State == model.SourceOK && !n.machineKnowsLater(nodes.Seen) || n.v.sn.Dump):
		n.readNode()
	case n.m != nil && n.readMachine():
	case n.node != nil:
		n.readNode()
		n.stale = "the workload cluster does not answer now: " + describe(&nodes)
	}
	if n.status != "True" {
		n.words = kubelet.Parse(n.message)
	}
	n.joining = n.isJoining()
	if n.m != nil && lifecycle.Deletes(n.m) {
		n.leaving = lifecycle.StageOf(n.m).Stage.Index() >= lifecycle.Infrastructure.Index()
	}
}

// machineKnowsLater: a cluster that seems well is looked into seldom, and its Machines, which are
// watched, may know of a change since.
func (n *nodeView) machineKnowsLater(seen time.Time) bool {
	if n.m == nil || seen.IsZero() {
		return false
	}
	c := n.m.Conditions.New.Get("NodeReady")
	return c != nil && c.Since.After(seen)
}

func (n *nodeView) readNode() {
	n.source, n.seen = "Node "+n.name+", condition Ready", n.v.c.Workload.NodesSource.Seen
	c := n.node.Conditions.Get("Ready")
	if c == nil {
		return
	}
	n.status, n.reason, n.message, n.since = c.Status, c.Reason, c.Message, c.Since
}

// readMachine reads what Cluster API repeats of the node: since 1.9 with the kubelet's own
// words, before that only that it is not well (machine_controller_status.go and
// machine_controller_noderef.go). Reasons that speak of the connection, or of Cluster API
// itself, say nothing about the node.
func (n *nodeView) readMachine() bool {
	m := n.m
	for _, typ := range []string{"NodeReady", "NodeHealthy"} {
		c := m.Conditions.New.Get(typ)
		if c == nil {
			continue
		}
		switch c.Reason {
		case "NodeDeleted", "NodeDoesNotExist":
			n.gone = strings.Contains(c.Message, "has been deleted")
		case "ConnectionDown", "InspectionFailed", "InternalError":
			continue
		}
		if n.gone || c.Status == "True" || c.Reason == "NodeNotReady" || c.Reason == "NodeNotHealthy" || c.Reason == "NodeReadyUnknown" || c.Reason == "NodeHealthyUnknown" {
			n.take(c, typ)
			if typ == "NodeHealthy" && otherCondition(c) && !n.gone {
				n.status = "" // Another condition of the node is bad.
				continue
			}
			return true
		}
	}
	c := m.Conditions.Old.Get("NodeHealthy")
	if c == nil {
		return n.status != ""
	}
	switch {
	case c.Reason == "NodeNotFound":
		n.gone = true
	case c.Status == "True":
	case c.Reason == "NodeConditionsFailed" && (c.Status == "Unknown" || strings.Contains(c.Message, "Ready is")):
	default:
		return n.status != ""
	}
	n.take(c, "NodeHealthy")
	if c.Reason == "NodeConditionsFailed" && c.Status == "Unknown" {
		// Written only where all conditions of the node are Unknown: its kubelet is silent.
		n.reason = "NodeStatusUnknown"
	}
	return true
}

// otherCondition says that a NodeHealthy condition speaks of other conditions of the node than Ready.
func otherCondition(c *model.Condition) bool {
	switch {
	case strings.Contains(c.Message, "Node.Ready"), strings.Contains(c.Message, "Node.AllConditions"):
		return false
	case c.Status == "Unknown":
		return strings.Contains(c.Message, "Node.")
	}
	return c.Status == "False"
}

func (n *nodeView) take(c *model.Condition, typ string) {
	n.status, n.reason, n.message, n.since = c.Status, c.Reason, c.Message, c.Since
	n.source, n.seen = "Machine "+n.m.Namespace+"/"+n.m.Name+", condition "+typ, n.v.seen("machines")
	if n.gone {
		n.status = ""
	}
}

// isJoining: its Ready condition has never changed since the node was made.
func (n *nodeView) isJoining() bool {
	v := n.v
	if v.now.IsZero() || n.status != "False" {
		return false
	}
	made := time.Time{}
	switch {
	case n.node != nil && !n.node.Created.IsZero():
		made = n.node.Created
	case n.m != nil:
		made = n.m.Created
	}
	if made.IsZero() || n.node != nil && !n.since.IsZero() && n.since.Sub(made) > time.Minute {
		return false
	}
	v.at(made.Add(Joining))
	return v.now.Before(made.Add(Joining))
}

// down says that the node is NotReady in a way that counts: not while it joins or leaves.
func (n *nodeView) down() bool {
	return (n.status == "False" || n.status == "Unknown") && !n.joining && !n.leaving
}

// silent says that the node's kubelet reports nothing any more.
func (n *nodeView) silent() bool {
	return n.status == "Unknown" && !n.leaving
}

// controlPlane says whether it is one of the control plane's: by its Machine, else by the
// label that kubeadm puts on the Node.
func (n *nodeView) controlPlane() bool {
	if n.m != nil {
		return n.m.ControlPlane
	}
	for _, l := range []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"} {
		if _, ok := n.node.Labels[l]; ok {
			return true
		}
	}
	return false
}

// severity of what is wrong with a node: critical for one of the control plane, else a
// warning; info while it is young.
func (n *nodeView) severity() model.Severity {
	switch {
	case n.v.young(n.since):
		return model.Info
	case n.controlPlane():
		return model.Critical
	}
	return model.Warning
}

// subjects are the Machine first, then the Node.
func (n *nodeView) subjects() []model.ObjectRef {
	var out []model.ObjectRef
	if n.m != nil {
		out = append(out, n.v.machineRef(n.m))
	}
	return append(out, n.v.nodeRef(n.name))
}

// address is where the node can be reached: its own, its Machine's or its VM's.
func (n *nodeView) address() string {
	if n.node != nil && len(n.node.Addresses) > 0 {
		return n.node.Addresses[0]
	}
	if n.m == nil {
		return ""
	}
	if len(n.m.Addresses) > 0 {
		return n.m.Addresses[0]
	}
	if vm := n.v.c.VM(n.m); vm != nil {
		return vm.Address
	}
	return ""
}

// onNode are commands that a person runs on the node, as an advice.
func (n *nodeView) onNode(command string) string {
	at := n.address()
	if at == "" {
		at = "ADDRESS"
	}
	return "ssh vmware-system-user@" + text.Clean(at) + ", then " + command
}

// checkNotReady is the check that the node is NotReady, in the kubelet's words.
func (n *nodeView) checkNotReady() model.Check {
	c := model.Check{Name: "node-not-ready", Title: "the node is NotReady", Weight: model.Required, Source: n.source, Seen: n.seen}
	switch n.status {
	case "False", "Unknown":
		c.Verdict, c.Detail = model.Yes, n.saying()
	case "True":
		c.Verdict, c.Detail = model.No, "it is Ready"
	default:
		c.Verdict, c.Detail = model.Unknown, "nothing tells of its Ready condition"
		c.Settle = "kubectl get node " + n.name + " -o yaml, in the workload cluster"
	}
	if n.stale != "" {
		c.Detail += "; " + n.stale
	}
	return c
}

// saying is the Ready condition in one line.
func (n *nodeView) saying() string {
	s := "Ready is " + n.status
	if !n.since.IsZero() {
		s += " since " + stamp(n.since)
	}
	if n.words.Text != "" {
		s += ": " + n.words.Text
	}
	return s
}

// othersSilent are up to six of the other nodes of the cluster that are silent too.
func (n *nodeView) othersSilent() []*nodeView {
	const enough = 6
	var out []*nodeView
	for _, o := range n.v.nodes() {
		if o != n && o.silent() {
			if out = append(out, o); len(out) == enough {
				break
			}
		}
	}
	return out
}

func nodeNames(list []*nodeView) []string {
	var out []string
	for _, n := range list {
		out = append(out, text.Clean(n.name))
	}
	slices.Sort(out)
	return out
}

// checkVMOn says what the VirtualMachine says of itself, which may be old news.
func (n *nodeView) checkVMOn() model.Check {
	c := model.Check{Name: "vm-powered-on", Title: "its VM is powered on", Weight: model.Supporting, Source: "VirtualMachine of Machine " + n.m.Name, Seen: n.v.seen("virtualmachines")}
	vm := n.v.c.VM(n.m)
	switch {
	case vm == nil:
		c.Verdict, c.Detail = model.Unknown, "no VirtualMachine of it is known"
	case vm.PowerState == "PoweredOn":
		c.Verdict, c.Detail = model.Yes, "VM Operator says so, which it also does of a VM that is gone"
	case vm.PowerState == "":
		c.Verdict, c.Detail = model.Unknown, "it does not say"
	default:
		c.Verdict, c.Detail = model.No, text.Clean(vm.PowerState)
		if vm.WantPower == "PoweredOn" {
			c.Detail += "; the Supervisor starts it again by itself"
		}
	}
	return c
}
