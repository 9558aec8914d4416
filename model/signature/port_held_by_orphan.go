package signature

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/component"
	"vksmedic/model/text"
)

// PortHeldByOrphan is the id of the signature in this file.
const PortHeldByOrphan = "port-held-by-orphan"

func portHeldByOrphan() Signature {
	return Signature{
		ID: PortHeldByOrphan, Title: "a system pod cannot start: its port is held by a process that containerd lost",
		Needs:        []string{"machines"},
		ExplainsNode: func(f *model.Finding) bool { return f.Confidence == model.Confirmed },
		Causes: []Relation{
			{DrainBlocked, sameMachine}, {MachineDeletionStalled, sameMachine}, {EndpointsMissing, sameMachine}, {NodeNotReady, sameNode},
			{RemediationBlockedByQuorum, func(cause, _ *model.Finding) bool { return factsOf[*OrphanFacts](cause).Component.Static }},
		},
		Facts: func() any { return &OrphanFacts{} },
		find:  findOrphans,
	}
}

// OrphanFacts are the Facts of a finding of port-held-by-orphan.
type OrphanFacts struct {
	Machine, Node, Address    string
	Namespace, Pod, Container string
	Component                 component.Component
	// Port is the one that the log names, 0 where no log was read; Binds are all it names of
	// the component's own.
	Port  int
	Binds []component.Bind
}

// findOrphans is port-held-by-orphan: a system pod of the article's port table cannot start,
// since its own port is held, by a process that containerd has lost.
//
// The log decides. Where none was read, only a component on a node that is NotReady is worth a
// suspicion: system pods fail for many reasons.
//
// Severity: critical for a component of the control plane, else a warning; info while the pod has
// failed for less than Youth.
func findOrphans(v *view) []model.Finding {
	var out []model.Finding
	for i := range v.c.Workload.Pods {
		p := &v.c.Workload.Pods[i]
		comp, ok := component.Of(p)
		if !ok || p.Node == "" || !p.Deleting.IsZero() {
			continue
		}
		x := &orphanView{v: v, pod: p, comp: comp, node: v.nodeOf(p.Node)}
		if f, ok := x.finding(); ok {
			out = append(out, f)
		}
	}
	return out
}

// orphanView is a failing component with what is known of it.
type orphanView struct {
	v    *view
	pod  *model.Pod
	comp component.Component
	node *nodeView // nil where it was not read.

	binds []component.Bind
}

func (x *orphanView) finding() (model.Finding, bool) {
	fails := x.checkFails()
	if fails.Verdict != model.Yes || x.node != nil && x.node.leaving {
		return model.Finding{}, false
	}
	log := x.checkLog()
	if log.Verdict == model.Unknown && !x.suspicious() {
		return model.Finding{}, false
	}
	checks := []model.Check{x.checkIdentity(), fails, log, x.checkExit(), x.checkNode(), x.checkHolder(), x.v.checkVKSAffected()}
	confidence, found := model.Decide(checks)
	if !found {
		return model.Finding{}, false
	}
	facts := &OrphanFacts{Node: x.pod.Node, Namespace: x.pod.Namespace, Pod: x.pod.Name, Container: x.comp.Name, Component: x.comp, Binds: x.binds}
	f := model.Finding{
		Confidence: confidence, Severity: model.Warning,
		Short: "port held", Since: x.since(), Evidence: checks, Facts: facts,
	}
	if x.node != nil {
		facts.Address = x.node.address()
		f.Subjects = x.node.subjects()
		if x.node.m != nil {
			facts.Machine = x.node.m.Name
		}
	} else {
		f.Subjects = []model.ObjectRef{x.v.nodeRef(x.pod.Node)}
	}
	f.Subjects = append([]model.ObjectRef{x.v.podRef(x.pod.Namespace, x.pod.Name)}, f.Subjects...)
	switch {
	case x.v.young(f.Since):
		f.Severity = model.Info
	case x.comp.Static || x.node != nil && x.node.controlPlane():
		f.Severity = model.Critical
	}
	f.Summary = text.Clean(x.comp.Name + " on " + x.pod.Node + " does not start, and may find its port held")
	if len(x.binds) > 0 {
		facts.Port = x.binds[0].Port
		f.Short = "port " + strconv.Itoa(facts.Port) + " held"
		f.Summary = text.Clean(fmt.Sprintf("%s on %s does not start: its port %d is held by another process", x.comp.Name, x.pod.Node, facts.Port))
	}
	f.Advice = x.advice(facts)
	return f, true
}

// suspicious says whether a component whose log was not read is worth a word: it fails again
// and again, on a node that is NotReady and not just joining.
func (x *orphanView) suspicious() bool {
	const again = 3
	if x.node == nil || !x.node.down() {
		return false
	}
	k := x.container()
	return k == nil || k.Waiting == "CrashLoopBackOff" || k.Restarts >= again && !k.Running
}

// container is the component's own container in its pod; nil where its status is not known.
func (x *orphanView) container() *model.Container {
	for i := range x.pod.Containers {
		if c := &x.pod.Containers[i]; c.Name == x.comp.Name && !c.Init {
			return c
		}
	}
	return nil
}

func (x *orphanView) checkIdentity() model.Check {
	how := "a static pod of the kubelet, by its mirror mark, label and name"
	if !x.comp.Static {
		how = "by its labels and the controller that made it"
	}
	return model.Check{
		Name: "is-system-component", Title: "the pod is " + x.comp.Name + " itself", Weight: model.Required, Verdict: model.Yes,
		Detail: how, Source: x.podSource(), Seen: x.v.c.Workload.PodsSource.Seen,
	}
}

func (x *orphanView) podSource() string { return "Pod " + x.pod.Namespace + "/" + x.pod.Name }

// checkFails asks whether the component's container ended and waits to be started again.
func (x *orphanView) checkFails() model.Check {
	c := model.Check{Name: "pod-fails", Title: "it does not start", Weight: model.Required, Source: x.podSource(), Seen: x.v.c.Workload.PodsSource.Seen}
	k := x.container()
	switch {
	case k == nil && x.pod.Waiting == "CrashLoopBackOff":
		c.Verdict, c.Detail = model.Yes, "a container of it is in CrashLoopBackOff"
	case k == nil:
		c.Verdict, c.Detail = model.No, "no container of it is known to fail"
	case k.Ready:
		c.Verdict, c.Detail = model.No, "its container is Ready"
	case k.Running && k.Last == nil:
		c.Verdict, c.Detail = model.No, "its container runs and has not ended before"
	case k.Waiting == "CrashLoopBackOff" || k.Ended != nil && k.Ended.ExitCode != 0 || k.Last != nil && k.Last.ExitCode != 0:
		c.Verdict = model.Yes
		c.Detail = cmp.Or(k.Waiting, "ended") + ", restarted " + strconv.Itoa(int(k.Restarts)) + " times"
		if e := k.Ending(); e != nil {
			c.Detail += ", last exit code " + strconv.Itoa(int(e.ExitCode))
			if !e.At.IsZero() {
				c.Detail += " at " + stamp(e.At)
			}
		}
	default:
		c.Verdict, c.Detail = model.No, "its container waits for something else: "+cmp.Or(k.Waiting, "it has not been started")
	}
	c.Detail = text.Clean(c.Detail)
	return c
}

// since is when the container ended last, for want of when it first failed.
func (x *orphanView) since() time.Time {
	k := x.container()
	if k == nil || k.Ending() == nil {
		return time.Time{}
	}
	if k.Restarts > 2 && x.node != nil && !x.node.since.IsZero() && x.node.status != "True" {
		return x.node.since
	}
	if k.Restarts > 2 {
		return time.Time{} // It has failed for a while; since when is not known.
	}
	return k.Ending().At
}

// checkLog asks what the component says itself: it must name a port of its own.
func (x *orphanView) checkLog() model.Check {
	c := model.Check{Name: "own-port-in-use", Title: "its log says that its own port is in use", Weight: model.Deciding, Source: "log of container " + x.comp.Name + " of " + x.podSource(), Seen: x.v.c.Workload.PodsSource.Seen}
	logs, why := x.logs()
	var foreign []string
	read, unclear := false, ""
	for _, l := range logs {
		read = read || l.Text != ""
		if l.Text != "" && !l.Read.IsZero() {
			c.Seen = l.Read
		}
		for _, b := range component.Binds(l.Text) {
			if !x.comp.Has(b.Port) {
				foreign = append(foreign, strconv.Itoa(b.Port))
				continue
			}
			if !slices.ContainsFunc(x.binds, func(o component.Bind) bool { return o.Port == b.Port && o.Address == b.Address }) {
				x.binds = append(x.binds, b)
			}
		}
		if line, ok := component.Unclear(l.Text); ok && unclear == "" {
			unclear = line
		}
	}
	switch {
	case len(x.binds) > 0:
		c.Verdict, c.Detail = model.Yes, x.binds[0].Line
	case unclear != "":
		c.Verdict, c.Detail = model.Unknown, "it is not clear which port is meant: "+unclear
		c.Settle = x.settle()
	case len(foreign) > 0:
		c.Verdict, c.Detail = model.No, "it cannot have port "+text.List(foreign, 3)+", which is none of its own"
	case read:
		c.Verdict, c.Detail = model.No, "it ends for another reason"
	default:
		c.Verdict, c.Detail, c.Settle = model.Unknown, cmp.Or(why, "no log was read"), x.settle()
	}
	return c
}

// logs are the excerpts of the component's own container, and its last words.
func (x *orphanView) logs() (out []model.LogExcerpt, why string) {
	for _, l := range x.v.c.Workload.Logs {
		if l.Namespace != x.pod.Namespace || l.Pod != x.pod.Name || l.Container != x.comp.Name {
			continue
		}
		if l.PodUID != "" && x.pod.UID != "" && l.PodUID != x.pod.UID {
			continue
		}
		out = append(out, l)
		if why == "" {
			why = text.Clean(l.Why)
		}
	}
	if k := x.container(); k != nil {
		for _, e := range []*model.Ending{k.Ended, k.Last} {
			if e != nil && e.Message != "" {
				out = append(out, model.LogExcerpt{Text: e.Message})
			}
		}
	}
	if x.v.sn.Dump && why == "" {
		why = "the dump holds no log of it"
	}
	return out, why
}

func (x *orphanView) settle() string {
	s := "kubectl logs -n " + x.pod.Namespace + " " + x.pod.Name + " -c " + x.comp.Name + " --previous"
	if x.node != nil {
		s += "; or " + x.node.onNode("sudo crictl ps -a and sudo crictl logs of the container that exited")
	}
	return s
}

// checkExit: a process that could not listen ends by itself. One that was killed did not.
func (x *orphanView) checkExit() model.Check {
	c := model.Check{Name: "ended-by-itself", Title: "it ended by itself", Weight: model.Deciding, Source: x.podSource(), Seen: x.v.c.Workload.PodsSource.Seen}
	k := x.container()
	if k == nil || k.Ending() == nil {
		c.Verdict, c.Detail, c.Weight = model.Unknown, "how it ended is not known", model.Supporting
		return c
	}
	const firstSignal = 128 // 128+n: ended by signal n.
	switch e := k.Ending(); {
	case e.Reason == "OOMKilled" || e.ExitCode > firstSignal && e.ExitCode != 255:
		c.Verdict, c.Detail = model.No, "it was killed: "+strings.TrimSpace(text.Clean(e.Reason)+" exit code "+strconv.Itoa(int(e.ExitCode)))
	default:
		c.Verdict, c.Detail = model.Yes, "exit code "+strconv.Itoa(int(e.ExitCode))
	}
	return c
}

func (x *orphanView) checkNode() model.Check {
	c := model.Check{Name: "node-affected", Title: "its node is NotReady", Weight: model.Supporting, Source: "Node " + x.pod.Node}
	if x.node == nil {
		c.Verdict, c.Detail = model.Unknown, "the Node was not read"
		return c
	}
	c.Source, c.Seen = x.node.source, x.node.seen
	switch x.node.status {
	case "False", "Unknown":
		c.Verdict, c.Detail = model.Yes, x.node.saying()
	case "True":
		c.Verdict, c.Detail = model.No, "it is Ready; the component is down all the same"
	default:
		c.Verdict, c.Detail = model.Unknown, "nothing tells"
	}
	return c
}

// checkHolder is what only the node can tell, and what has to be known before any process is ended.
func (x *orphanView) checkHolder() model.Check {
	c := model.Check{Name: "holder-is-orphan", Title: "a process that containerd lost holds the port", Weight: model.Supporting, Verdict: model.Unknown, Source: "processes on " + x.pod.Node,
		Detail: "look at the node: the holder may also be a healthy container, and ending that would do harm"}
	port := x.comp.Ports[0]
	if len(x.binds) > 0 {
		port = x.binds[0].Port
	}
	look := fmt.Sprintf("sudo ss -H -tlnp 'sport = :%d', and whether the container in /proc/PID/cgroup is among sudo crictl ps", port)
	c.Settle = "on " + x.pod.Node + ": " + look
	if x.node != nil {
		c.Settle = x.node.onNode(look)
	}
	return c
}

func (x *orphanView) advice(f *OrphanFacts) []string {
	out := []string{
		"Find out on the node who holds the port, and end nothing before it is proven an orphan: " + x.checkHolder().Settle + ".",
	}
	if f.Port == 0 {
		out = []string{"Read the log first: " + x.settle() + "."}
	}
	if x.comp.Static {
		out = append(out, "Quorum: "+x.v.quorum().Words()+". Work on one control plane node at a time.")
	}
	return out
}
