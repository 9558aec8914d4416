package ui

import (
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"k8s.io/apimachinery/pkg/labels"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// newMachine is one Machine with its VM, its node and, where they were looked at,
// the pods on it: everything that has to go when it goes.
func newMachine(ref model.ClusterRef, name string) *listScreen {
	s := newDetails(ref, clean(name))
	s.rows = func(f *frame, _ string) rowList { return machineRows(f, ref, name) }
	return s
}

// newDetails is a screen that tells about objects of a cluster.
func newDetails(ref model.ClusterRef, name string) *listScreen {
	return &listScreen{
		name: name, at: inCluster(ref), filters: true, names: true,
		keys: offering(func(k *KeyMap) []key.Binding {
			return []key.Binding{k.Filter, k.YAML, k.Describe, k.Copy, k.Refresh, k.Back}
		}),
		head: func(f *frame) []string {
			return []string{f.styles.Muted.Render(clusterName(ref)+" "+styles.SignHere+" ") + f.styles.Strong.Render(name), ""}
		},
	}
}

func machineRows(f *frame, ref model.ClusterRef, name string) rowList {
	c := f.cluster(ref)
	if c == nil {
		return rowList{line("  this cluster is not there (any more)")}
	}
	x := c.Machine(name)
	if x == nil {
		return rowList{line("  this Machine is not there any more")}
	}
	st, now := f.styles, f.now
	d := details{f: f}
	d.object("Machine "+clean(x.Name), clean(x.Phase), &Target{Ref: x.Ref(), In: onSupervisor()})
	if del := lifecycle.StageOf(x); del.Stage != lifecycle.NotDeleting {
		d.fact("deletion", st.Accent.Render(del.Stage.Words())+" since "+exact(del.Since)+", "+text.Since(now, del.Since)+"; deleted "+text.Since(now, del.Begun)+" ago")
	}
	d.fact("version", clean(x.Version))
	d.fact("owner", clean(strings.TrimSpace(x.Deployment+" "+x.Set)))
	d.fact("failure", clean(strings.TrimSpace(x.FailureReason+" "+x.FailureMessage)))
	d.fact("provider", clean(x.ProviderID))
	d.fact("addresses", clean(strings.Join(x.Addresses, ", ")))
	d.fact("created", exact(x.Created)+", "+text.Since(now, x.Created)+" ago")
	d.fact("marks", strings.Join(machineMarks(x), ", "))
	d.conditions(x.Conditions)
	if vm := c.VM(x); vm != nil {
		power, _ := vmWords(vm)
		d.blank()
		d.object("VirtualMachine "+clean(vm.Name), power, &Target{Ref: vm.Ref(), In: onSupervisor()})
		d.fact("host", clean(vm.Host))
		d.fact("address", clean(vm.Address))
		d.fact("id", clean(strings.TrimSpace(vm.MoID+"  BIOS "+vm.BiosUUID)))
		d.fact("image", clean(vm.Image))
		if vm.Paused {
			d.fact("paused", "VM Operator leaves it alone")
		}
		d.list(vm.Conditions)
	}
	for _, im := range c.InfraMachines {
		if im.Name == x.Infra.Name {
			d.blank()
			d.object(clean(im.Kind)+" "+clean(im.Name), clean(im.Phase), &Target{Ref: im.Ref(), In: onSupervisor()})
			d.fact("failure", clean(strings.TrimSpace(im.FailureReason+" "+im.FailureText)))
			d.conditions(im.Conditions)
		}
	}
	d.node(c, x)
	return d.rows
}

// machineMarks are the things about a Machine that change what Cluster API does with it.
func machineMarks(x *model.Machine) []string {
	var out []string
	add := func(is bool, s string) {
		if is {
			out = append(out, s)
		}
	}
	add(x.Paused, "paused")
	add(x.ExcludeDrain, "drain excluded")
	add(x.SkipRemediate, "never remediated")
	add(x.WantsRemediate, "remediation asked for")
	for _, h := range x.PreDrainHooks {
		out = append(out, "pre-drain hook "+clean(h))
	}
	for _, h := range x.PreTerminateHooks {
		out = append(out, "pre-terminate hook "+clean(h))
	}
	if t := x.DrainTimeout; t != nil && *t > 0 {
		out = append(out, "drain given up after "+text.Age(*t))
	}
	if t := x.VolumeDetachTimeout; t != nil && *t > 0 {
		out = append(out, "volumes given up after "+text.Age(*t))
	}
	return out
}

// details collects the rows of a screen that tells about objects.
type details struct {
	f    *frame
	rows rowList
}

func (d *details) blank() { d.rows = append(d.rows, line("")) }

// object is the heading of an object, which can be selected to read it whole.
func (d *details) object(title, state string, t *Target) {
	s := d.f.styles.Strong.Render(title)
	if state != "" {
		s += "   " + state
	}
	d.rows = append(d.rows, row{id: t.Ref.String(), text: s, target: t})
}

const factWidth = 12

// fact is one thing about it; nothing is said of what is not known.
func (d *details) fact(name, value string) {
	if value == "" {
		return
	}
	for i, l := range widget.Wrap(value, d.f.w-factWidth-5) {
		lead := name
		if i > 0 {
			lead = ""
		}
		d.rows = append(d.rows, line("  "+d.f.styles.Muted.Render(widget.Pad(lead, factWidth))+" "+l))
	}
}

// conditions are those of the newer generation, else the older ones.
func (d *details) conditions(g model.Generations) {
	all := slices.Clone(g.New)
	for _, c := range g.Old {
		if all.Get(c.Type) == nil && (len(g.New) == 0 || c.Status != "True") {
			all = append(all, c)
		}
	}
	d.list(all)
}

func (d *details) list(all model.Conditions) {
	st := d.f.styles
	now := d.f.now
	for _, c := range all {
		sign, style := styles.SignQuiet, &st.Muted
		switch lifecycle.ConditionNews(c.Type, c.Status) {
		case model.Yes:
			sign, style = styles.SignOk, &st.Ok
		case model.No:
			sign, style = styles.SignBad, &st.Danger
			if c.Severity == "Info" {
				sign, style = styles.SignQuiet, &st.Warn
			}
		case model.Unknown:
			if c.Status == "Unknown" {
				sign, style = styles.SignUnknown, &st.Warn
			}
		}
		s := style.Render(sign) + " " + widget.Pad(widget.CutMiddle(clean(c.Type), 26), 27) + lifecycle.ConditionWords(c.Type, c.Status)
		if !c.Since.IsZero() {
			s += st.Muted.Render("  " + text.Since(now, c.Since))
		}
		quiet := lifecycle.ConditionNews(c.Type, c.Status) == model.Yes
		if c.Reason != "" && !quiet {
			s += st.Muted.Render("  " + clean(c.Reason))
		}
		d.rows = append(d.rows, line("  "+s))
		if c.Message != "" && !quiet {
			d.message(c.Message)
		}
	}
}

// message shows a condition's own words, line by line, not more than can be taken in.
func (d *details) message(s string) {
	const most = 12
	n := 0
	for _, l := range strings.Split(text.CleanLines(text.Limit(s, widget.LongestLine)), "\n") {
		for _, x := range widget.Wrap(l, d.f.w-8) {
			if n++; n > most {
				d.rows = append(d.rows, line("      "+d.f.styles.Muted.Render("… y shows all of it")))
				return
			}
			d.rows = append(d.rows, line("      "+d.f.styles.Muted.Render(x)))
		}
	}
}

// node is the Machine's node and what is on it.
func (d *details) node(c *model.Cluster, x *model.Machine) {
	if x.NodeName == "" {
		return
	}
	st := d.f.styles
	d.blank()
	n := c.Node(x.NodeName)
	if n == nil {
		word := "not known: " + stateName(c.Workload.NodesSource.State)
		if c.Workload.NodesSource.Readable() {
			word = st.Danger.Render("gone from the cluster")
		} else if c.Workload.NodesSource.State == "" {
			word = "not looked at yet"
		}
		d.rows = append(d.rows, line(st.Strong.Render("Node "+clean(x.NodeName))+"   "+word))
		d.fact("why", clean(c.Workload.NodesSource.Detail))
		return
	}
	word, bad := nodeWords(c, x)
	if bad {
		word = st.Danger.Render(word)
	}
	ref := n.Ref()
	if ref.Kind == "" {
		ref.Kind = "Node"
	}
	d.object("Node "+clean(n.Name), word, &Target{Ref: ref, In: inCluster(c.Ref)})
	if n.Unschedulable {
		d.fact("cordoned", "no new pods are scheduled on it")
	}
	var taints []string
	for _, t := range n.Taints {
		taints = append(taints, clean(t.Key+":"+t.Effect))
	}
	d.fact("taints", strings.Join(taints, ", "))
	d.fact("kubelet", clean(n.Version))
	d.list(n.Conditions)
	d.pods(c, n.Name)
}

func (d *details) pods(c *model.Cluster, node string) {
	if !c.Workload.PodsOn[node] {
		return
	}
	st := d.f.styles
	var pods []*model.Pod
	for i := range c.Workload.Pods {
		if c.Workload.Pods[i].Node == node {
			pods = append(pods, &c.Workload.Pods[i])
		}
	}
	d.blank()
	d.rows = append(d.rows, line(st.Strong.Render("Pods on it")+"   "+itoa(len(pods))))
	now := d.f.now
	table := widget.NewTable(widget.Column{Least: 20}, widget.Column{}, widget.Column{Right: true}, widget.Column{Least: 12, Sentence: true})
	for _, p := range pods {
		state := clean(p.Phase)
		if p.Waiting != "" {
			state = clean(p.Waiting)
		}
		note, style := podNote(st, c, p, now)
		table.Add(widget.Cell{Text: clean(p.Namespace + "/" + p.Name)}, widget.Cell{Text: state}, widget.Cell{Text: text.Since(now, p.Created), Style: &st.Muted},
			widget.Cell{Text: note, Style: style})
	}
	table.Fit(d.f.w - 3)
	for i, p := range pods {
		ref := p.Ref()
		if ref.Kind == "" {
			ref.Kind = "Pod"
		}
		d.rows = append(d.rows, row{
			id: ref.String(), target: &Target{Ref: ref, In: inCluster(c.Ref)},
			draw: func() string { return "  " + table.Row(i) },
		})
	}
}

// podNote says what a drain does with a pod, as far as it can be told from here.
func podNote(st *styles.Styles, c *model.Cluster, p *model.Pod, now time.Time) (string, *styles.Style) {
	switch {
	case !p.Deleting.IsZero():
		return "terminating since " + text.Since(now, p.Deleting), &st.Warn
	case p.Mirror:
		return "static, not drained", &st.Muted
	case p.DaemonSet:
		return "DaemonSet, not drained", &st.Muted
	}
	for i := range c.Workload.Budgets {
		b := &c.Workload.Budgets[i]
		if b.Namespace == p.Namespace && b.Selector != nil && b.Selector.Matches(labels.Set(p.Labels)) && b.DisruptionsAllowed <= 0 {
			return "held by budget " + clean(b.Name), &st.Warn
		}
	}
	return "", nil
}

// nodeWords says how a Machine's node is.
func nodeWords(c *model.Cluster, x *model.Machine) (string, bool) {
	if x.NodeName == "" {
		return "—", false
	}
	n := c.Node(x.NodeName)
	if n == nil {
		if c.Workload.NodesSource.Readable() {
			return "gone", true
		}
		return "?", false
	}
	word, bad := "Ready", false
	switch n.Ready() {
	case "True":
	case "False":
		word, bad = "NotReady", true
	case "":
		word = "?"
	default:
		word, bad = "Unknown", true
	}
	if n.Unschedulable {
		word += ",sd"
	}
	return word, bad
}

// vmWords says whether the VM runs, as the Supervisor shows it.
func vmWords(v *model.VirtualMachine) (string, bool) {
	if v == nil {
		return "—", false
	}
	state := clean(v.PowerState)
	switch strings.ToLower(state) {
	case "poweredon":
		return "on", false
	case "poweredoff":
		return "off", true
	case "suspended":
		return "susp", true
	case "":
		return "?", false
	}
	return state, true
}
