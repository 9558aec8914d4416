package signature

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/kubelet"
	"vksmedic/model/text"
)

// ContainerRuntimeDown is the id of the signature in this file.
const ContainerRuntimeDown = "container-runtime-down"

func containerRuntimeDown() Signature {
	return Signature{
		ID: ContainerRuntimeDown, Title: "a node is NotReady: its kubelet says that the container runtime is down or PLEG is not healthy",
		Needs:        []string{"machines"},
		ExplainsNode: always,
		Causes: []Relation{
			{DrainBlocked, sameMachine}, {MachineDeletionStalled, sameMachine},
			{RemediationBlockedByQuorum, func(cause, _ *model.Finding) bool { return factsOf[*RuntimeFacts](cause).ControlPlane }},
		},
		Facts: func() any { return &RuntimeFacts{} },
		find:  findRuntimeDown,
	}
}

// StartingUp is how long a kubelet may not have heard of its container runtime yet after it
// started. It says so for some seconds after every start.
const StartingUp = 5 * time.Minute

// RuntimeFacts are the Facts of a finding of container-runtime-down.
type RuntimeFacts struct {
	Machine, Node, Address string
	ControlPlane           bool
	Words                  kubelet.Words
	// DrainWaits says that the Machine is being deleted and its drain waits for pods that
	// cannot end on this node.
	DrainWaits bool
}

// findRuntimeDown is container-runtime-down: a node is NotReady, and its kubelet says that the
// container runtime is down or PLEG is not healthy.
//
// Severity: critical for a control plane node, warning for a worker; info while the node has been
// NotReady for less than Youth.
func findRuntimeDown(v *view) []model.Finding {
	var out []model.Finding
	for _, n := range v.nodes() {
		if n.leaving || n.status == "True" || !n.words.Down() && !n.words.JustStarted() {
			continue
		}
		if f, ok := n.runtimeFinding(); ok {
			out = append(out, f)
		}
	}
	return out
}

func (n *nodeView) runtimeFinding() (model.Finding, bool) {
	v := n.v
	checks := []model.Check{
		n.checkNotReady(), n.checkRuntimeWords(), n.checkBothHalves(), n.checkKubeletUp(), n.checkKubeletReports(),
		n.checkContainerd(), v.checkPushed(n.since), v.checkTrust(), v.checkAvailable(), v.checkReplicas(), v.checkVKSAffected(),
		n.checkHealthCheck(), v.checkPaused(n.m),
	}
	confidence, found := model.Decide(checks)
	if !found {
		return model.Finding{}, false
	}
	f := model.Finding{
		Confidence: confidence, Severity: n.severity(), Subjects: n.subjects(),
		Short: "runtime down", Since: n.since, Evidence: checks,
		Summary: text.Clean("the container runtime of " + n.name + " is down: " + n.words.Text),
	}
	if !n.words.RuntimeDown {
		f.Short = "PLEG not healthy"
		f.Summary = text.Clean("the container runtime of " + n.name + " does not answer its kubelet in time: " + n.words.Text)
	}
	facts := &RuntimeFacts{Node: n.name, Address: n.address(), ControlPlane: n.controlPlane(), Words: n.words}
	if n.m != nil {
		facts.Machine = n.m.Name
		for _, x := range v.draining() {
			facts.DrainWaits = facts.DrainWaits || x.m == n.m
		}
	}
	f.Facts = facts
	f.Advice = n.runtimeAdvice(facts)
	return f, true
}

func (n *nodeView) checkRuntimeWords() model.Check {
	c := model.Check{Name: "kubelet-says-runtime", Title: "the kubelet says that the container runtime does not answer", Weight: model.Required, Verdict: model.Yes, Detail: n.words.Text, Source: n.source, Seen: n.seen}
	if n.words.RuntimeNotReady {
		c.Detail += " (the runtime also says itself that it is not ready)"
	}
	return c
}

// checkBothHalves asks for both pieces of the text: the runtime is missed after 30 s, PLEG only
// after three minutes, so that both together are beyond doubt and each alone is not.
func (n *nodeView) checkBothHalves() model.Check {
	c := model.Check{Name: "both-halves", Title: "it names both the runtime and PLEG", Weight: model.Deciding, Source: n.source, Seen: n.seen}
	w := n.words
	switch {
	case w.Both():
		c.Verdict, c.Detail = model.Yes, "container runtime is down, and PLEG is not healthy"
		if w.PLEGSilent > 0 {
			c.Detail += ": it was last active " + text.Age(w.PLEGSilent) + " before"
		}
		return c
	case w.RuntimeDown && w.PLEG:
		c.Detail = "the runtime is down; PLEG has listed nothing since the kubelet started"
	case w.RuntimeDown:
		c.Detail = "only the runtime: PLEG is named after three minutes without a list"
	case w.Starting:
		c.Detail = "the kubelet has had no good answer since it started"
	default:
		c.Detail = "only PLEG: the runtime may be slow or hang, and not be down"
	}
	c.Verdict, c.Settle = model.Unknown, n.onNode("sudo systemctl status containerd and sudo crictl ps -a")
	return c
}

// checkKubeletUp leaves a kubelet that has just been started alone.
func (n *nodeView) checkKubeletUp() model.Check {
	c := model.Check{Name: "kubelet-long-up", Title: "the kubelet was not started just now", Weight: model.Deciding, Source: n.source, Seen: n.seen}
	switch end := n.since.Add(StartingUp); {
	case !n.words.JustStarted():
		c.Verdict, c.Detail = model.Yes, "it has heard of the runtime before"
	case n.since.IsZero() || n.v.now.IsZero():
		c.Verdict, c.Detail = model.Unknown, "it has not heard of the runtime since it started; when that was is not known"
		c.Settle = n.onNode("systemctl show kubelet -p ActiveEnterTimestamp")
	case n.v.now.Before(end):
		n.v.at(end)
		c.Verdict, c.Detail = model.No, "it may have been started at "+stamp(n.since)+", and says so for a while after every start"
	default:
		c.Verdict, c.Detail = model.Unknown, "it has not heard of the runtime since it started, and the node has been NotReady since "+stamp(n.since)
		c.Settle = n.onNode("systemctl show kubelet -p ActiveEnterTimestamp")
	}
	return c
}

// checkKubeletReports: words that stand under Unknown are the last that were heard.
func (n *nodeView) checkKubeletReports() model.Check {
	c := model.Check{Name: "kubelet-reports", Title: "the kubelet still reports", Weight: model.Deciding, Source: n.source, Seen: n.seen}
	switch {
	case n.status == "False" && n.stale == "":
		c.Verdict, c.Detail = model.Yes, "Ready is False, which only the kubelet itself writes"
	case n.stale != "":
		c.Verdict, c.Detail = model.Unknown, n.stale
		c.Settle = "kubectl get node " + n.name + ", in the workload cluster"
	default:
		c.Verdict, c.Detail = model.Unknown, "Ready is "+cmp.Or(n.status, "not known")+": these are its last words"
		c.Settle = n.onNode("sudo systemctl status kubelet containerd")
	}
	return c
}

// checkContainerd is what only the node can tell.
func (n *nodeView) checkContainerd() model.Check {
	return model.Check{
		Name: "containerd-failed", Title: "systemd refuses to start containerd", Weight: model.Supporting, Verdict: model.Unknown,
		Detail: "look at the node: only systemd on it tells a start limit from a runtime that hangs, was stopped, or cannot start",
		Source: "systemd on " + n.name, Settle: n.onNode("sudo systemctl status containerd"),
	}
}

// checkPushed asks whether something was there that makes the Supervisor change its nodes in
// place, and whether that came before the node went NotReady.
func (v *view) checkPushed(since time.Time) model.Check {
	c := model.Check{Name: "change-pushed", Title: "a registry or name resolution was pushed to the nodes before", Weight: model.Supporting, Source: strings.Join(model.NodeConfigKinds(), ", ")}
	var before, after, undated []string
	for _, o := range v.sn.NodeConfigs {
		s := o.Kind + " " + o.Name
		switch {
		case o.Created.IsZero() || since.IsZero():
			undated = append(undated, s)
		case o.Created.After(since):
			after = append(after, s+" of "+stamp(o.Created))
		default:
			before = append(before, s+" of "+stamp(o.Created))
		}
	}
	slices.Sort(before)
	slices.Sort(after)
	slices.Sort(undated)
	switch unread := v.configsUnread(); {
	case len(before) > 0:
		c.Verdict, c.Detail = model.Yes, text.List(before, 4)
	case len(undated) > 0:
		c.Verdict, c.Detail = model.Unknown, "there is "+text.List(undated, 4)+"; which came first is not known"
	case len(after) > 0:
		c.Verdict, c.Detail = model.No, "only after it: "+text.List(after, 4)
	case v.sn.Dump:
		c.Verdict, c.Detail = model.Unknown, "the dump holds none"
		c.Settle = "kubectl get clusterregistryconfig,registryconfig,clusterdomainresolutionentry -A"
	case unread != "":
		c.Verdict, c.Detail = model.Unknown, unread
		c.Settle = "kubectl get clusterregistryconfig,registryconfig,clusterdomainresolutionentry -A"
	default:
		c.Verdict, c.Detail = model.No, "there is none"
	}
	c.Detail = text.Clean(c.Detail)
	return c
}

// configsUnread says why those objects could not be read; empty where they could, or where the
// Supervisor serves none of their kinds.
func (v *view) configsUnread() string {
	for _, resource := range []string{"clusterregistryconfigs", "registryconfigs", "clusterdomainresolutionentries"} {
		if s := v.source(resource); s != nil && !s.Readable() && s.State != model.SourceNotServed {
			return "the " + resource + " could not be read: " + describe(s)
		}
	}
	return ""
}

func (v *view) checkTrust() model.Check {
	c := model.Check{Name: "trust-set", Title: "trusted certificates are set on the Cluster", Weight: model.Supporting, Source: "Cluster " + v.c.Ref.String() + ", variable osConfiguration", Seen: v.seen("clusters")}
	switch {
	case v.c.Object == nil:
		c.Verdict, c.Detail = model.Unknown, "the Cluster was not read"
	case v.c.Object.TrustVariable:
		c.Verdict, c.Detail = model.Yes, "additional trusted certificates are set; when they were changed last is not known"
		c.Settle = "look for who changed the Cluster's variables, and when, in its managedFields (kubectl get cluster --show-managed-fields -o yaml)"
	default:
		c.Verdict, c.Detail = model.No, "there are none"
	}
	return c
}

// checkAvailable is the article's AVAILABLE column. It can be True with a control plane node
// down: only the quorum of etcd and one API server are asked for.
func (v *view) checkAvailable() model.Check {
	c := model.Check{Name: "cluster-unavailable", Title: "the Cluster is not Available", Weight: model.Supporting, Source: "Cluster " + v.c.Ref.String() + ", condition Available", Seen: v.seen("clusters")}
	if v.c.Object == nil {
		c.Verdict, c.Detail = model.Unknown, "the Cluster was not read"
		return c
	}
	a := v.c.Object.Conditions.New.Get("Available")
	switch {
	case a == nil:
		c.Verdict, c.Detail = model.Unknown, "this Cluster API version has no such condition (before 1.9)"
	case a.Status == "False":
		c.Verdict, c.Detail = model.Yes, text.Limit(text.Clean(a.Message), 300)
	case a.Status == "True":
		c.Verdict, c.Detail = model.No, "Available is True, which it can be with a node down"
	default:
		c.Verdict, c.Detail = model.Unknown, "Available is "+text.Clean(a.Status)
	}
	return c
}

// checkReplicas compares the desired with the available replicas.
func (v *view) checkReplicas() model.Check {
	c := model.Check{Name: "replicas-missing", Title: "fewer replicas are available than desired", Weight: model.Supporting, Source: "Cluster " + v.c.Ref.String() + ", replicas", Seen: v.seen("clusters")}
	if v.c.Object == nil {
		c.Verdict, c.Detail = model.Unknown, "the Cluster was not read"
		return c
	}
	var parts []string
	missing, known := false, false
	for _, p := range []struct {
		name string
		r    model.Replicas
	}{{"control plane", v.c.Object.ControlPlaneReplicas}, {"workers", v.c.Object.WorkerReplicas}} {
		if p.r.Desired == nil || p.r.Available == nil {
			continue
		}
		known = true
		missing = missing || *p.r.Available < *p.r.Desired
		parts = append(parts, fmt.Sprintf("%s %d of %d", p.name, *p.r.Available, *p.r.Desired))
	}
	c.Detail = strings.Join(parts, ", ")
	switch {
	case missing:
		c.Verdict = model.Yes
	case known:
		c.Verdict = model.No
	default:
		c.Verdict, c.Detail = model.Unknown, "this Cluster API version does not count them on the Cluster"
	}
	return c
}

func (n *nodeView) runtimeAdvice(f *RuntimeFacts) []string {
	var out []string
	if why := n.v.pausedAnywhere(n.m); why != "" {
		out = append(out, why+": nothing goes on until it is resumed.")
	}
	out = append(out,
		"Look at the node: "+n.onNode("sudo systemctl status containerd")+".",
		"Only if it failed with start-limit-hit: sudo systemctl reset-failed containerd, sudo systemctl start containerd, and look at its status again. If it runs, or cannot start for another reason, that does not help; its journal says why (sudo journalctl -u containerd).",
	)
	if f.DrainWaits {
		out = append(out, "The Machine is being deleted already and its drain waits for pods that cannot end without a runtime: it goes on once the runtime runs.")
	}
	if n.controlPlane() {
		out = append(out, "Quorum: "+n.v.quorum().Words()+". Work on one control plane node at a time.")
	}
	return out
}
