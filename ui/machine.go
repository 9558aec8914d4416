package ui

import (
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/labels"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
	"vksmedic/ui/styles"
)

// machineView is one Machine with its VM, its node and, where they were looked at,
// the pods on it: everything that has to go when it goes.
type machineView struct {
	list    list
	ref     model.ClusterRef
	machine string
}

func (v *machineView) theList() *list                           { return &v.list }
func (v *machineView) room(_ *Model, _, h int) (top, lines int) { return 2, h - 2 }
func (v *machineView) place() model.Place                       { return inCluster(v.ref) }
func (v *machineView) click(m *Model, _, y int) tea.Cmd         { return m.clickList(v, y) }
func (v *machineView) wheel(m *Model, down bool)                { m.wheelList(v, down) }
func (v *machineView) name() string                             { return clean(v.machine) }

func (v *machineView) bindings(m *Model) []key.Binding {
	k := m.keys
	return append([]key.Binding{k.Filter, k.YAML, k.Describe, k.Copy, k.Refresh, k.Back}, k.moves()...)
}

func (v *machineView) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	if key.Matches(k, m.keys.Copy) {
		return m.copyRow(v), true
	}
	return m.onFiltered(v, k)
}

func (v *machineView) draw(m *Model, w, h int) []string {
	st := &m.styles
	head := st.Muted.Render(clusterName(v.ref)+" "+signHere+" ") + st.Strong.Render(clean(v.machine))
	return m.drawList(v, []string{cutEnd(head, w), ""}, w, h)
}

func (v *machineView) rows(m *Model, w int) []row {
	c := m.clusterNow(v.ref)
	if c == nil {
		return []row{line("  this cluster is not there (any more)")}
	}
	x := c.Machine(v.machine)
	if x == nil {
		return []row{line("  this Machine is not there any more")}
	}
	st := &m.styles
	now := m.now()
	d := details{m: m, w: w, cluster: c.Ref}
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
	m       *Model
	w       int
	cluster model.ClusterRef
	rows    []row
}

func (d *details) blank() { d.rows = append(d.rows, line("")) }

// object is the heading of an object, which can be selected to read it whole.
func (d *details) object(title, state string, t *Target) {
	s := d.m.styles.Strong.Render(title)
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
	for i, l := range wrap(value, d.w-factWidth-5) {
		lead := name
		if i > 0 {
			lead = ""
		}
		d.rows = append(d.rows, line("  "+d.m.styles.Muted.Render(pad(lead, factWidth, false))+" "+l))
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
	st := &d.m.styles
	now := d.m.now()
	for _, c := range all {
		sign, style := signQuiet, &st.Muted
		switch conditionTone(c.Type, c.Status) {
		case model.Yes:
			sign, style = signOk, &st.Ok
		case model.No:
			sign, style = signBad, &st.Danger
			if c.Severity == "Info" {
				sign, style = signQuiet, &st.Warn
			}
		case model.Unknown:
			if c.Status == "Unknown" {
				sign, style = signUnknown, &st.Warn
			}
		}
		s := style.Render(sign) + " " + pad(cutMiddle(clean(c.Type), 26), 27, false) + conditionWords(c.Type, c.Status)
		if !c.Since.IsZero() {
			s += st.Muted.Render("  " + text.Since(now, c.Since))
		}
		quiet := conditionTone(c.Type, c.Status) == model.Yes
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
	for _, l := range strings.Split(text.CleanLines(text.Limit(s, longestLine)), "\n") {
		for _, x := range wrap(l, d.w-8) {
			if n++; n > most {
				d.rows = append(d.rows, line("      "+d.m.styles.Muted.Render("… y shows all of it")))
				return
			}
			d.rows = append(d.rows, line("      "+d.m.styles.Muted.Render(x)))
		}
	}
}

// node is the Machine's node and what is on it.
func (d *details) node(c *model.Cluster, x *model.Machine) {
	if x.NodeName == "" {
		return
	}
	st := &d.m.styles
	d.blank()
	n := c.Node(x.NodeName)
	if n == nil {
		word := "not known: " + strings.ReplaceAll(string(c.Workload.NodesSource.State), "-", " ")
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
	st := &d.m.styles
	var pods []*model.Pod
	for i := range c.Workload.Pods {
		if c.Workload.Pods[i].Node == node {
			pods = append(pods, &c.Workload.Pods[i])
		}
	}
	d.blank()
	d.rows = append(d.rows, line(st.Strong.Render("Pods on it")+"   "+itoa(len(pods))))
	now := d.m.now()
	cols := []column{{least: 20}, {}, {right: true}, {least: 12, sentence: true}}
	natural := make([]int, len(cols))
	cells := make([][]cell, len(pods))
	for i, p := range pods {
		state := clean(p.Phase)
		if p.Waiting != "" {
			state = clean(p.Waiting)
		}
		note, style := podNote(st, c, p, now)
		cells[i] = []cell{{clean(p.Namespace + "/" + p.Name), nil}, {state, nil}, {text.Since(now, p.Created), &st.Muted}, {note, style}}
		measure(natural, cells[i])
	}
	widths := columnWidths(cols, natural, d.w-3)
	for i, p := range pods {
		ref := p.Ref()
		if ref.Kind == "" {
			ref.Kind = "Pod"
		}
		d.rows = append(d.rows, row{
			id: ref.String(), target: &Target{Ref: ref, In: inCluster(c.Ref)},
			draw: func() string { return "  " + drawRow(cols, widths, cells[i]) },
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

// conditionsView is an object that has conditions and no Machine: a control plane,
// a MachineDeployment, the Cluster.
type conditionsView struct {
	list   list
	ref    model.ClusterRef
	object model.ObjectRef
}

func (v *conditionsView) theList() *list                           { return &v.list }
func (v *conditionsView) room(_ *Model, _, h int) (top, lines int) { return 2, h - 2 }
func (v *conditionsView) place() model.Place                       { return inCluster(v.ref) }
func (v *conditionsView) click(m *Model, _, y int) tea.Cmd         { return m.clickList(v, y) }
func (v *conditionsView) wheel(m *Model, down bool)                { m.wheelList(v, down) }
func (v *conditionsView) name() string                             { return clean(v.object.Name) }

func (v *conditionsView) bindings(m *Model) []key.Binding {
	k := m.keys
	return append([]key.Binding{k.Filter, k.YAML, k.Describe, k.Copy, k.Refresh, k.Back}, k.moves()...)
}

func (v *conditionsView) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	if key.Matches(k, m.keys.Copy) {
		return m.copyRow(v), true
	}
	return m.onFiltered(v, k)
}

func (v *conditionsView) draw(m *Model, w, h int) []string {
	head := m.styles.Muted.Render(clusterName(v.ref)+" "+signHere+" ") + m.styles.Strong.Render(clean(v.object.Name))
	return m.drawList(v, []string{cutEnd(head, w), ""}, w, h)
}

func (v *conditionsView) rows(m *Model, w int) []row {
	c := m.clusterNow(v.ref)
	if c == nil {
		return nil
	}
	d := details{m: m, w: w, cluster: c.Ref}
	found := func(meta *model.Meta, g model.Generations, facts ...string) {
		if meta.Ref() != v.object {
			return
		}
		d.object(clean(meta.Kind)+" "+clean(meta.Name), "", &Target{Ref: v.object, In: onSupervisor()})
		for i := 0; i+1 < len(facts); i += 2 {
			d.fact(facts[i], clean(facts[i+1]))
		}
		d.fact("created", exact(meta.Created)+", "+text.Since(m.now(), meta.Created)+" ago")
		d.conditions(g)
	}
	if c.Object != nil {
		found(&c.Object.Meta, c.Object.Conditions, "phase", c.Object.Phase, "version", c.Object.Version, "class", c.Object.Class, "endpoint", c.Object.Endpoint)
	}
	if c.ControlPlane != nil {
		found(&c.ControlPlane.Meta, c.ControlPlane.Conditions, "wanted", c.ControlPlane.Version, "oldest", c.ControlPlane.OldestVersion)
	}
	for _, x := range c.Deployments {
		found(&x.Meta, x.Conditions, "phase", x.Phase, "version", x.Version)
	}
	for _, x := range c.Sets {
		found(&x.Meta, x.Conditions, "of", x.Deployment, "version", x.Version)
	}
	for _, x := range c.HealthChecks {
		found(&x.Meta, x.Conditions)
	}
	if c.InfraCluster != nil {
		found(&c.InfraCluster.Meta, c.InfraCluster.Conditions)
	}
	if len(d.rows) == 0 {
		return []row{line("  this object is not there any more")}
	}
	return d.rows
}
