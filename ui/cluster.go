package ui

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// newCluster is one cluster: what was found, then its Machines by who owns them,
// then what stands around them.
func newCluster(ref model.ClusterRef) *listScreen {
	return &listScreen{
		name: clusterName(ref), at: inCluster(ref), filters: true, names: true,
		keys: offering(func(k *KeyMap) []key.Binding {
			return []key.Binding{k.Open, k.Filter, k.YAML, k.Describe, k.Copy, k.Back, k.Refresh}
		}),
		head: func(f *frame) []string { return clusterHead(f, ref) },
		rows: func(f *frame, _ string) rowList {
			c := f.cluster(ref)
			if c == nil {
				return nil
			}
			rows := append(clusterFindings(f, c), line(""))
			rows = append(rows, clusterMachines(f, c)...)
			return append(append(rows, line("")), around(f, c)...)
		},
	}
}

func clusterHead(f *frame, ref model.ClusterRef) []string {
	st := f.styles
	c := f.cluster(ref)
	if c == nil {
		return []string{st.Strong.Render(clusterName(ref)), "", "  this cluster is not there (any more)"}
	}
	head := st.Strong.Render(widget.CutMiddle(clusterName(ref), f.w/2)) + "  " + versionWords(c, " → ")
	sum := clusterSummary(f, c)
	if widget.Width(head)+widget.Gap+widget.Width(sum) <= f.w || sum == "" {
		return []string{head + "  " + sum, ""}
	}
	return []string{head, "  " + sum}
}

// clusterSummary is the state of the whole in one line.
func clusterSummary(f *frame, c *model.Cluster) string {
	st := f.styles
	var parts []string
	if lifecycle.Paused(c) {
		parts = append(parts, st.Warn.Render("paused"))
	}
	cp := lifecycle.ControlPlaneReplicas(c)
	if cp.UpToDate != nil && cp.Desired != nil {
		parts = append(parts, "control plane "+count(cp.UpToDate)+" of "+count(cp.Desired)+" up to date")
	}
	if e := etcdWords(c); e != "" {
		parts = append(parts, e)
	}
	if s := silent(c, f.now); s != "" {
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

// clusterFindings is a row for each finding, or one that says that there is none.
func clusterFindings(f *frame, c *model.Cluster) rowList {
	if len(c.Findings) > 0 {
		all := make([]*model.Finding, len(c.Findings))
		for i := range c.Findings {
			all[i] = &c.Findings[i]
		}
		model.SortFindings(all)
		return findingRows(f, all, false)
	}
	sign, words := f.styles.Ok.Render(styles.SignOk), " nothing is flagged here"
	if s := silent(c, f.now); s != "" {
		sign, words = f.styles.Muted.Render(styles.SignUnknown), " nothing is flagged of what can be seen: "+s
	}
	return rowList{line(sign + words)}
}

// clusterMachines are the Machines by who owns them.
func clusterMachines(f *frame, c *model.Cluster) rowList {
	table := widget.NewTable(
		widget.Column{Sign: true}, widget.Column{Title: "MACHINE", Least: 14}, widget.Column{Title: "PHASE"}, widget.Column{Title: "NODE"},
		widget.Column{Title: "VERSION", Least: 6}, widget.Column{Title: "VM"}, widget.Column{Title: "HOST", Least: 6},
		widget.Column{Title: "ADDRESS", Extra: 1}, widget.Column{Title: "SINCE", Right: true}, widget.Column{Least: 8, Sentence: true},
	)
	for _, x := range c.Machines {
		table.Add(machineCells(f, c, x)...)
	}
	table.Fit(f.w - 1)
	var rows rowList
	if len(c.Machines) > 0 {
		rows = append(rows, row{text: table.Head(&f.styles.Head, -1, ""), head: true})
	}
	machines := func(of func(*model.Machine) bool) {
		for i, x := range c.Machines {
			if !of(x) {
				continue
			}
			name := x.Name
			rows = append(rows, row{
				id: "machine " + name, target: &Target{Ref: x.Ref(), In: onSupervisor()},
				draw: func() string { return table.Row(i) },
				open: func(m *Model) tea.Cmd { return m.push(newMachine(c.Ref, name)) },
			})
		}
	}
	if k := c.ControlPlane; k != nil {
		rows = append(rows, owner(f, c, "control plane", k.Ref(), k.Replicas, k.Paused, k.Conditions))
	} else if slices.ContainsFunc(c.Machines, func(x *model.Machine) bool { return x.ControlPlane }) {
		rows = append(rows, line("control plane"))
	}
	machines(func(x *model.Machine) bool { return x.ControlPlane })
	known := map[string]bool{}
	for _, d := range c.Deployments {
		known[d.Name] = true
		rows = append(rows, owner(f, c, clean(d.Name), d.Ref(), d.Replicas, d.Paused, d.Conditions))
		machines(func(x *model.Machine) bool { return !x.ControlPlane && x.Deployment == d.Name })
	}
	if slices.ContainsFunc(c.Machines, func(x *model.Machine) bool { return !x.ControlPlane && !known[x.Deployment] }) {
		rows = append(rows, line("Machines of no MachineDeployment that is known"))
		machines(func(x *model.Machine) bool { return !x.ControlPlane && !known[x.Deployment] })
	}
	return rows
}

// owner is the line above the Machines that belong together.
func owner(f *frame, c *model.Cluster, name string, ref model.ObjectRef, r model.Replicas, isPaused bool, conditions model.Generations) row {
	st := f.styles
	s := st.Strong.Render(name) + "   " + replicasWords(r)
	if lifecycle.Behind(r) {
		s += st.Accent.Render("   " + count(r.UpToDate) + " of " + count(r.Desired) + " up to date")
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
		open: func(m *Model) tea.Cmd { return m.push(newObject(c.Ref, ref)) },
	}
}

func machineCells(f *frame, c *model.Cluster, x *model.Machine) []widget.Cell {
	st, now := f.styles, f.now
	sign, signStyle := "", (*styles.Style)(nil)
	var worst *model.Finding
	for i := range c.Findings {
		found := &c.Findings[i]
		if found.About(x.Ref()) && (worst == nil || found.Severity.Rank() < worst.Severity.Rank()) {
			worst = found
			sign, signStyle = severity(st, found.Severity)
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
	return []widget.Cell{
		{Text: sign, Style: signStyle}, {Text: clean(x.Name)}, {Text: clean(x.Phase), Style: phase}, {Text: node, Style: badStyle(st, nodeBad)},
		{Text: shortVersion(x.Version)}, {Text: power, Style: badStyle(st, vmBad)}, {Text: host}, {Text: address},
		{Text: started, Style: &st.Muted}, {Text: strings.Join(note, ", "), Style: &st.Muted},
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
func around(f *frame, c *model.Cluster) rowList {
	st, w := f.styles, f.w
	var rows rowList
	add := func(kind, words string, style *styles.Style, meta *model.Meta, conditions bool) {
		s := widget.Pad(kind, 16) + " "
		words = widget.CutEnd(words, max(10, w-18))
		if style != nil {
			words = style.Render(words)
		}
		r := row{text: s + words}
		if meta != nil {
			ref := meta.Ref()
			r.id, r.target = ref.String(), &Target{Ref: ref, In: onSupervisor()}
			if conditions {
				r.open = func(m *Model) tea.Cmd { return m.push(newObject(c.Ref, ref)) }
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
			text: widget.Pad("budget", 16) + " " + style.Render(widget.CutEnd(words, max(10, w-18))),
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
				text: widget.Pad("node", 16) + " " + st.Warn.Render(clean(n.Name)+"   no Machine has it"),
			})
		}
	}
	if s := c.Workload.NodesSource; s.Name != "" && s.State != model.SourceOK {
		sign, style := sourceStyle(st, s.State)
		for i, l := range widget.Wrap(clean(s.Detail), w-24) {
			if i == 0 {
				l = style.Render(sign+" "+stateName(s.State)) + "  " + l
			}
			rows = append(rows, line(widget.Pad(map[bool]string{true: "its nodes"}[i == 0], 16)+" "+l))
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
