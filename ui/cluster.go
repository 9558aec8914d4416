package ui

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
	"vksmedic/ui/styles"
)

// clusterView is one cluster: what was found, then its Machines by who owns them,
// then what stands around them.
type clusterView struct {
	list list
	ref  model.ClusterRef
}

func (v *clusterView) theList() *list                           { return &v.list }
func (v *clusterView) room(_ *Model, _, h int) (top, lines int) { return 2, h - 2 }
func (v *clusterView) place() model.Place                       { return inCluster(v.ref) }
func (v *clusterView) click(m *Model, _, y int) tea.Cmd         { return m.clickList(v, y) }
func (v *clusterView) wheel(m *Model, down bool)                { m.wheelList(v, down) }
func (v *clusterView) name() string                             { return clusterName(v.ref) }

func (v *clusterView) bindings(m *Model) []key.Binding {
	k := m.keys
	return append([]key.Binding{k.Open, k.Filter, k.YAML, k.Describe, k.Copy, k.Back, k.Refresh}, k.moves()...)
}

func (v *clusterView) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	if key.Matches(k, m.keys.Copy) {
		return m.copyRow(v), true
	}
	return m.onFiltered(v, k)
}

// copyRow copies the name of the object that one is on.
func (m *Model) copyRow(s listed) tea.Cmd {
	if r := s.theList().selected(m.rowsOf(s, lay(m.w, m.h).body.w)); r != nil && r.target != nil {
		return m.copy("its name", r.target.Ref.Name)
	}
	return m.say(false, "there is no name on this line")
}

func (v *clusterView) draw(m *Model, w, h int) []string {
	st := &m.styles
	c := m.clusterNow(v.ref)
	if c == nil {
		return []string{st.Strong.Render(clusterName(v.ref)), "", "  this cluster is not there (any more)"}
	}
	head := st.Strong.Render(cutMiddle(clusterName(v.ref), w/2)) + "  " + versionWords(c, " → ")
	sum := v.summary(m, c)
	if width(head)+gap+width(sum) <= w || sum == "" {
		return m.drawList(v, []string{head + "  " + sum, ""}, w, h)
	}
	return m.drawList(v, []string{head, "  " + sum}, w, h)
}

func (m *Model) clusterNow(ref model.ClusterRef) *model.Cluster {
	if m.snap == nil {
		return nil
	}
	return m.snap.Cluster(ref)
}

// summary is the state of the whole in one line.
func (v *clusterView) summary(m *Model, c *model.Cluster) string {
	st := &m.styles
	var parts []string
	if lifecycle.Paused(c) {
		parts = append(parts, st.Warn.Render("paused"))
	}
	cp := lifecycle.ControlPlaneReplicas(c)
	if cp.UpToDate != nil && cp.Desired != nil {
		parts = append(parts, "control plane "+count32(cp.UpToDate)+" of "+count32(cp.Desired)+" up to date")
	}
	if e := etcdWords(c); e != "" {
		parts = append(parts, e)
	}
	if s := silent(c, m.now()); s != "" {
		parts = append(parts, st.Warn.Render(s))
	}
	return strings.Join(parts, st.Muted.Render(" · "))
}

// etcdWords is how many etcd members are healthy and how many are needed.
func etcdWords(c *model.Cluster) string {
	healthy, all, needed := lifecycle.EtcdMembers(c)
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("etcd %d of %d, %d needed", healthy, all, needed)
}

func machineColumns() []column {
	return []column{
		{sign: true}, {title: "MACHINE", least: 14}, {title: "PHASE"}, {title: "NODE"}, {title: "VERSION", least: 6}, {title: "VM"},
		{title: "HOST", least: 6}, {title: "ADDRESS", extra: 1}, {title: "SINCE", right: true}, {title: "", least: 8, sentence: true},
	}
}

func (v *clusterView) rows(m *Model, w int) []row {
	c := m.clusterNow(v.ref)
	if c == nil {
		return nil
	}
	st := &m.styles
	now := m.now()
	var rows []row
	if len(c.Findings) > 0 {
		all := make([]*model.Finding, len(c.Findings))
		for i := range c.Findings {
			all[i] = &c.Findings[i]
		}
		model.SortFindings(all)
		rows = append(rows, m.findingRows(all, w, false)...)
	} else {
		sign, words := st.Ok.Render(signOk), " nothing is flagged here"
		if s := silent(c, m.now()); s != "" {
			sign, words = st.Muted.Render(signUnknown), " nothing is flagged of what can be seen: "+s
		}
		rows = append(rows, line(sign+words))
	}
	rows = append(rows, line(""))

	cols := machineColumns()
	natural := make([]int, len(cols))
	cells := make([][]cell, len(c.Machines))
	for i, x := range c.Machines {
		cells[i] = v.machineCells(m, c, x, now)
		measure(natural, cells[i])
	}
	widths := columnWidths(cols, natural, w-1)
	if len(c.Machines) > 0 {
		rows = append(rows, row{text: drawHead(cols, widths, &st.Head), head: true})
	}
	machines := func(of func(*model.Machine) bool) {
		for i, x := range c.Machines {
			if !of(x) {
				continue
			}
			name := x.Name
			rows = append(rows, row{
				id: "machine " + name, target: &Target{Ref: x.Ref(), In: onSupervisor()},
				draw: func() string { return drawRow(cols, widths, cells[i]) },
				open: func(m *Model) tea.Cmd { return m.push(&machineView{ref: c.Ref, machine: name}) },
			})
		}
	}
	if c.ControlPlane != nil {
		rows = append(rows, v.owner(m, c, "control plane", c.ControlPlane.Ref(), c.ControlPlane.Replicas, c.ControlPlane.Paused, c.ControlPlane.Conditions))
	} else if slices.ContainsFunc(c.Machines, func(x *model.Machine) bool { return x.ControlPlane }) {
		rows = append(rows, line("control plane"))
	}
	machines(func(x *model.Machine) bool { return x.ControlPlane })
	known := map[string]bool{}
	for _, d := range c.Deployments {
		known[d.Name] = true
		rows = append(rows, v.owner(m, c, clean(d.Name), d.Ref(), d.Replicas, d.Paused, d.Conditions))
		machines(func(x *model.Machine) bool { return !x.ControlPlane && x.Deployment == d.Name })
	}
	if slices.ContainsFunc(c.Machines, func(x *model.Machine) bool { return !x.ControlPlane && !known[x.Deployment] }) {
		rows = append(rows, line("Machines of no MachineDeployment that is known"))
		machines(func(x *model.Machine) bool { return !x.ControlPlane && !known[x.Deployment] })
	}
	rows = append(rows, line(""))
	return append(rows, v.around(m, c, w)...)
}

// owner is the line above the Machines that belong together.
func (v *clusterView) owner(m *Model, c *model.Cluster, name string, ref model.ObjectRef, r model.Replicas, isPaused bool, conditions model.Generations) row {
	st := &m.styles
	s := st.Strong.Render(name) + "   " + replicasWords(r)
	if lifecycle.Behind(r) {
		s += st.Accent.Render("   " + count32(r.UpToDate) + " of " + count32(r.Desired) + " up to date")
	}
	if isPaused {
		s += st.Warn.Render("   paused")
	}
	if k := conditions.Get("ScalingUp"); k != nil && k.Status == "True" {
		s += st.Muted.Render("   growing")
	}
	if k := conditions.Get("Remediating"); k != nil && k.Status == "True" {
		s += st.Warn.Render("   remediating")
	}
	return row{
		id: ref.String(), text: s, target: &Target{Ref: ref, In: onSupervisor()},
		open: func(m *Model) tea.Cmd { return m.push(&conditionsView{ref: c.Ref, object: ref}) },
	}
}

func (v *clusterView) machineCells(m *Model, c *model.Cluster, x *model.Machine, now time.Time) []cell {
	st := &m.styles
	sign, signStyle := "", (*styles.Style)(nil)
	var worst *model.Finding
	for i := range c.Findings {
		f := &c.Findings[i]
		if f.About(x.Ref()) && (worst == nil || f.Severity.Rank() < worst.Severity.Rank()) {
			worst = f
			sign, signStyle = m.severity(f.Severity)
		}
	}
	node, nodeBad := nodeWords(c, x)
	vm := c.VM(x)
	power, vmBad := vmWords(vm)
	host, address := "", ""
	if vm != nil {
		host, address = hostName(vm.Host), clean(vm.Address)
	}
	if len(x.Addresses) > 0 {
		address = clean(x.Addresses[0])
	}
	started, note := text.Since(now, x.Created), []string{}
	if d := lifecycle.StageOf(x); d.Stage != lifecycle.NotDeleting {
		started, note = text.Since(now, d.Begun), append(note, d.Stage.Words())
		if a := text.Since(now, d.Since); a != started && a != "?" {
			note[0] += " " + a
		}
	}
	if x.Paused || (vm != nil && vm.Paused) {
		note = append(note, "paused")
	}
	if x.FailureMessage != "" || x.FailureReason != "" {
		note = append(note, clean(strings.TrimSpace(x.FailureReason+" "+x.FailureMessage)))
	}
	phase := (*styles.Style)(nil)
	switch x.Phase {
	case "Deleting":
		phase = &st.Accent
	case "Failed":
		phase = &st.Danger
	case "Running":
	default:
		phase = &st.Warn
	}
	return []cell{
		{sign, signStyle}, {clean(x.Name), nil}, {clean(x.Phase), phase}, {node, badStyle(st, nodeBad)}, {shortVersion(x.Version), nil},
		{power, badStyle(st, vmBad)}, {host, nil}, {address, nil}, {started, &st.Muted}, {strings.Join(note, ", "), &st.Muted},
	}
}

// hostName is a host without its domain, which all hosts share and which would be the
// first to need room; the Machine's own screen has it whole.
func hostName(s string) string {
	if _, err := netip.ParseAddr(s); err == nil {
		return clean(s)
	}
	name, _, _ := strings.Cut(s, ".")
	return clean(name)
}

func badStyle(st *styles.Styles, bad bool) *styles.Style {
	if bad {
		return &st.Danger
	}
	return nil
}

// around is what stands beside the Machines.
func (v *clusterView) around(m *Model, c *model.Cluster, w int) []row {
	st := &m.styles
	var rows []row
	add := func(kind, words string, style *styles.Style, meta *model.Meta, conditions bool) {
		s := pad(kind, 16, false) + " "
		words = cutEnd(words, max(10, w-18))
		if style != nil {
			words = style.Render(words)
		}
		r := row{text: s + words}
		if meta != nil {
			ref := meta.Ref()
			r.id, r.target = ref.String(), &Target{Ref: ref, In: onSupervisor()}
			if conditions {
				r.open = func(m *Model) tea.Cmd { return m.push(&conditionsView{ref: c.Ref, object: ref}) }
			}
		}
		rows = append(rows, r)
	}
	if o := c.Object; o != nil {
		words := clean(o.Name) + "   " + clean(o.Phase)
		if o.Class != "" {
			words += "   class " + clean(o.Class)
		}
		if o.Endpoint != "" {
			words += "   " + clean(o.Endpoint)
		}
		add("Cluster", words, nil, &o.Meta, true)
	}
	for _, e := range c.Endpoints {
		words, style := endpointsWords(st, e)
		add("Endpoints", words, style, &e.Meta, false)
	}
	for _, s := range c.Services {
		add("Service", clean(s.Name)+"   "+clean(strings.Join(s.Ingress, ", ")), nil, &s.Meta, false)
	}
	for _, x := range c.Sets {
		words := clean(x.Name) + "   " + replicasWords(x.Replicas) + "   " + shortVersion(x.Version)
		style := (*styles.Style)(nil)
		if x.Replicas.Desired != nil && *x.Replicas.Desired == 0 {
			style = &st.Muted
		}
		add("MachineSet", words, style, &x.Meta, true)
	}
	if x := c.InfraCluster; x != nil {
		add(clean(x.Kind), clean(x.Name), nil, &x.Meta, true)
	}
	for _, x := range c.Templates {
		add("VM template", clean(x.Name)+"   "+clean(strings.TrimSpace(x.Class+"  "+x.Image)), &st.Muted, &x.Meta, false)
	}
	for _, x := range c.HealthChecks {
		words := clean(x.Name)
		if x.Paused {
			words += "   paused"
		}
		add("health check", words, nil, &x.Meta, true)
	}
	if len(c.DrainRules) == 0 {
		add("drain rules", "none in "+clean(c.Ref.Namespace), &st.Muted, nil, false)
	}
	for _, x := range c.DrainRules {
		words, style := clean(x.Name)+"   "+clean(x.Behavior), (*styles.Style)(nil)
		if x.Machines == nil {
			words += "   every Machine in " + clean(c.Ref.Namespace)
		}
		if x.Pods == nil {
			words += "   every pod"
		}
		if x.Invalid != "" {
			words, style = words+"   invalid: "+clean(x.Invalid), &st.Danger
		}
		add("drain rule", words, style, &x.Meta, false)
	}
	for i := range c.Workload.Budgets {
		b := &c.Workload.Budgets[i]
		words, style := clean(b.Namespace+"/"+b.Name)+"   "+budgetWords(b), &st.Muted
		if b.DisruptionsAllowed <= 0 {
			style = &st.Warn
		}
		ref := b.Ref()
		if ref.Kind == "" {
			ref.Kind = "PodDisruptionBudget"
		}
		rows = append(rows, row{
			id: "budget " + ref.String(), target: &Target{Ref: ref, In: inCluster(c.Ref)},
			text: pad("budget", 16, false) + " " + style.Render(cutEnd(words, max(10, w-18))),
		})
	}
	have := map[string]bool{}
	for _, x := range c.Machines {
		have[x.NodeName] = true
	}
	for i := range c.Workload.Nodes {
		n := &c.Workload.Nodes[i]
		if !have[n.Name] {
			ref := n.Ref()
			rows = append(rows, row{
				id: "node " + n.Name, target: &Target{Ref: ref, In: inCluster(c.Ref)},
				text: pad("node", 16, false) + " " + st.Warn.Render(clean(n.Name)+"   no Machine has it"),
			})
		}
	}
	if s := c.Workload.NodesSource; s.Name != "" && s.State != model.SourceOK {
		sign, style := m.sourceStyle(s.State)
		for i, l := range wrap(clean(s.Detail), w-24) {
			if i == 0 {
				l = style.Render(sign+" "+strings.ReplaceAll(string(s.State), "-", " ")) + "  " + l
			}
			rows = append(rows, line(pad(map[bool]string{true: "its nodes"}[i == 0], 16, false)+" "+l))
		}
	}
	return rows
}

// budgetWords says whether a disruption budget lets a pod go.
func budgetWords(b *model.Budget) string {
	words := "lets no pod go"
	if b.DisruptionsAllowed > 0 {
		words = "lets " + plural(int(b.DisruptionsAllowed), "pod", "pods") + " go"
	}
	if b.ExpectedPods > 0 {
		words += fmt.Sprintf(": needs %d of %d, has %d", b.DesiredHealthy, b.ExpectedPods, b.CurrentHealthy)
	}
	return words
}

// endpointsWords says how many addresses stand in Endpoints.
func endpointsWords(st *styles.Styles, e *model.Endpoints) (string, *styles.Style) {
	ready, not := 0, 0
	for _, s := range e.Subsets {
		ready += len(s.Ready)
		not += len(s.NotReady)
	}
	words := clean(e.Name) + "   " + itoa(ready) + " listed"
	if not > 0 {
		return words + ", " + itoa(not) + " not ready", &st.Warn
	}
	if ready == 0 {
		return words, &st.Warn
	}
	return words, nil
}
