package ui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// fleet is the first screen: a line for each cluster, what is flagged first.
type fleet struct {
	*listScreen
	narrow    string // only clusters with this text are shown; empty: all.
	namespace string // empty: all.
	sort      fleetSort
	all       bool // the healthy ones too, however many.

	// What follows is made from a snapshot and the settings above; made is their key.
	made    fleetKey
	entries []fleetEntry
	table   *widget.Table
	healthy int // entries from here on are in good health.
}

func newFleet() *fleet {
	v := &fleet{}
	v.listScreen = &listScreen{
		head: v.headLines, rows: v.clusterRows, keys: v.offered, on: v.press, foot: v.narrowed, names: true,
		footRoom: func(*frame) int {
			if v.narrow != "" || v.namespace != "" {
				return 2
			}
			return 0
		},
	}
	return v
}

type fleetSort int

const (
	sortWorst fleetSort = iota
	sortName
	sortVersion
	sortSince
	sorts
)

func (s fleetSort) String() string {
	switch s {
	case sortWorst:
		return "the worst first"
	case sortName:
		return "by name"
	case sortVersion:
		return "by version, the oldest first"
	case sortSince:
		return "by how long, the longest first"
	case sorts:
	}
	return ""
}

type fleetKey struct {
	snap      *model.Snapshot
	second    int64 // what is measured are ages, too: they grow.
	narrow    string
	namespace string
	sort      fleetSort
}

// fleetEntry is a cluster with what does not change while its key stands.
type fleetEntry struct {
	c       *model.Cluster
	moves   lifecycle.Movement
	rank    int
	from    []int
	since   time.Time
	version string
	id      string
}

// Ranks of clusters without findings, after those of severities.
const (
	rankSilent = 3 + iota
	rankPaused
	rankMoving
	rankWell
)

// fleetRank orders clusters, the worst first; moves is what moves in this one.
func fleetRank(c *model.Cluster, moves lifecycle.Movement, now time.Time) int {
	if w := c.Worst(); w != nil {
		return w.Severity.Rank()
	}
	switch {
	case silent(c, now) != "":
		return rankSilent
	case lifecycle.AnyPaused(c):
		return rankPaused
	case moves.Words != "" || lifecycle.Lacking(lifecycle.ControlPlaneReplicas(c)) || lifecycle.Lacking(lifecycle.WorkerReplicas(c)):
		return rankMoving
	}
	return rankWell
}

func newFleetTable() *widget.Table {
	return widget.NewTable(
		widget.Column{Sign: true},
		widget.Column{Title: "CLUSTER", Least: 14},
		widget.Column{Title: "CP", Right: true},
		widget.Column{Title: "WORKERS", Right: true},
		widget.Column{Title: "VERSION", Least: 10},
		widget.Column{Title: "ROLLOUT", Least: 9, Sentence: true},
		widget.Column{Title: "FINDING", Least: 16, Sentence: true},
		widget.Column{Title: "SINCE", Right: true, Extra: 2},
		widget.Column{Title: "CLASS", Extra: 4},
		widget.Column{Title: "ENDPOINT", Extra: 3},
		widget.Column{Title: "AGE", Right: true, Extra: 1},
	)
}

// make makes the entries anew where the snapshot or a setting changed.
func (v *fleet) make(f *frame) {
	k := fleetKey{f.snap, f.now.Unix(), v.narrow, v.namespace, v.sort}
	if k == v.made || f.snap == nil {
		return
	}
	v.made = k
	v.entries = v.entries[:0]
	want := strings.ToLower(v.narrow)
	for _, c := range f.snap.Clusters {
		if v.namespace != "" && c.Ref.Namespace != v.namespace {
			continue
		}
		if want != "" && !fleetMatches(c, want) {
			continue
		}
		moves := lifecycle.MovementOf(c)
		e := fleetEntry{c: c, moves: moves, rank: fleetRank(c, moves, f.now), version: versionWords(c, "→"), id: c.Ref.String() + "/"}
		if w := c.Worst(); w != nil {
			e.since = w.Since
		}
		if v.sort == sortVersion {
			from, _ := lifecycle.Versions(c)
			e.from = lifecycle.VersionNumbers(from)
		}
		v.entries = append(v.entries, e)
	}
	slices.SortStableFunc(v.entries, func(a, b fleetEntry) int { return v.compare(&a, &b) })
	v.table = newFleetTable()
	v.healthy = len(v.entries)
	for i := range v.entries {
		v.table.Add(fleetCells(f, &v.entries[i])...)
		if v.entries[i].rank == rankWell && v.sort == sortWorst {
			v.healthy = min(v.healthy, i)
		}
	}
}

func fleetMatches(c *model.Cluster, want string) bool {
	if strings.Contains(strings.ToLower(c.Ref.String()), want) {
		return true
	}
	for i := range c.Findings {
		f := &c.Findings[i]
		if strings.Contains(strings.ToLower(f.Summary), want) || strings.Contains(strings.ToLower(f.Short), want) ||
			strings.Contains(f.Signature, want) {
			return true
		}
	}
	return strings.Contains(versionWords(c, " "), want)
}

func (v *fleet) compare(a, b *fleetEntry) int {
	byName := cmp.Or(strings.Compare(a.c.Ref.Namespace, b.c.Ref.Namespace), strings.Compare(a.c.Ref.Name, b.c.Ref.Name))
	switch v.sort {
	case sortName, sorts:
		return byName
	case sortVersion:
		return cmp.Or(slices.Compare(a.from, b.from), byName)
	case sortSince:
		return cmp.Or(sinceOrder(a.since, b.since), byName)
	case sortWorst:
	}
	aw, bw := a.c.Worst(), b.c.Worst()
	suspected := 0
	if aw != nil && bw != nil {
		suspected = cmp.Compare(confidenceRank(aw), confidenceRank(bw))
	}
	return cmp.Or(cmp.Compare(a.rank, b.rank), suspected, sinceOrder(a.since, b.since), byName)
}

func confidenceRank(f *model.Finding) int {
	if f.Confidence == model.Confirmed {
		return 0
	}
	return 1
}

// sinceOrder puts the earliest first and what is not known last.
func sinceOrder(a, b time.Time) int {
	switch {
	case a.Equal(b):
		return 0
	case !a.IsZero() && (b.IsZero() || a.Before(b)):
		return -1
	}
	return 1
}

func fleetCells(f *frame, e *fleetEntry) []widget.Cell {
	st, now, c := f.styles, f.now, e.c
	sign, style := styles.SignOk, &st.Ok
	findingStyle := &st.Muted
	words := findingWords(c)
	if w := c.Worst(); w != nil {
		sign, style = severity(st, w.Severity)
		findingStyle = style
	} else {
		switch e.rank {
		case rankSilent:
			sign, style = styles.SignQuiet, &st.Muted
		case rankPaused:
			sign, style = styles.SignQuiet, &st.Warn
			words, findingStyle = "paused: nothing mends itself", &st.Warn
		case rankMoving:
			sign, style = styles.SignQuiet, &st.Accent
		}
		if s := silent(c, now); s != "" {
			words = s
		}
	}
	if c.Worst() != nil && lifecycle.AnyPaused(c) {
		words += ", paused"
	}
	cp, workers := lifecycle.ControlPlaneReplicas(c), lifecycle.WorkerReplicas(c)
	cpStyle, workersStyle := (*styles.Style)(nil), (*styles.Style)(nil)
	if lifecycle.Lacking(cp) {
		cpStyle = &st.Warn
	}
	if lifecycle.Lacking(workers) {
		workersStyle = &st.Warn
	}
	moving, movingStyle := movementWords(e.moves, now), (*styles.Style)(nil)
	if moving == "" {
		moving, movingStyle = "—", &st.Muted
	}
	class, endpoint := "", ""
	if c.Object != nil {
		class, endpoint = clean(c.Object.Class), clean(c.Object.Endpoint)
	}
	started := ""
	if w := c.Worst(); w != nil {
		started = text.Since(now, w.Since)
	}
	return []widget.Cell{
		{Text: sign, Style: style}, {Text: clusterName(c.Ref)}, {Text: replicasWords(cp), Style: cpStyle}, {Text: replicasWords(workers), Style: workersStyle},
		{Text: e.version}, {Text: moving, Style: movingStyle}, {Text: words, Style: findingStyle}, {Text: started, Style: &st.Muted},
		{Text: class, Style: &st.Muted}, {Text: endpoint, Style: &st.Muted}, {Text: knownAge(f.snap, c, now), Style: &st.Muted},
	}
}

// knownAge is how old the oldest is that is known of a cluster: its inside, or its objects
// on the Supervisor where those are not watched at the moment.
func knownAge(sn *model.Snapshot, c *model.Cluster, now time.Time) string {
	a := time.Duration(-1)
	if s := c.Workload.NodesSource; !s.Seen.IsZero() {
		a = s.Age(now)
	}
	if sn != nil && !sn.Still() {
		for i := range sn.Sources {
			s := &sn.Sources[i]
			if (s.State == model.SourceStale || s.State == model.SourceUnreachable) && !s.Seen.IsZero() && aboutMachines(s.Name, c.Ref.Namespace) {
				a = max(a, s.Age(now))
			}
		}
	}
	if a < 0 {
		return "—"
	}
	return text.Age(a)
}

// aboutMachines says whether a source of the Supervisor is one that a cluster's line in
// the fleet rests on.
func aboutMachines(source model.SourceName, namespace string) bool {
	name, in, _ := source.Supervisor()
	if in != "" && in != namespace {
		return false
	}
	switch name {
	case "clusters", "kubeadmcontrolplanes", "machinedeployments", "machines":
		return true
	}
	return false
}

func (v *fleet) clusterRows(f *frame, _ string) rowList {
	if f.snap == nil {
		return nil
	}
	v.make(f)
	general := v.general(f)
	shown := v.shown(f.h - 1 - v.footRoom(f) - len(general))
	v.table.Fit(f.w - 1)
	table := v.table
	out := slices.Grow(general, shown+1)
	for i := range v.entries[:shown] {
		c := v.entries[i].c
		out = append(out, row{
			id:     v.entries[i].id,
			draw:   func() string { return table.Row(i) },
			target: clusterTarget(c),
			open:   func(m *Model) tea.Cmd { return m.push(newCluster(c.Ref)) },
		})
	}
	if rest := len(v.entries) - shown; rest > 0 {
		words := itoa(rest) + " more in good health"
		out = append(out, row{
			id:   "more",
			text: f.styles.Ok.Render(styles.SignOk) + " " + words + f.styles.Muted.Render("   a shows all"),
			open: func(*Model) tea.Cmd { v.all = true; return nil },
		})
	}
	return out
}

// general are the findings about the Supervisor as a whole, above the clusters.
func (v *fleet) general(f *frame) rowList {
	if v.narrow != "" || v.namespace != "" {
		return nil
	}
	var all []*model.Finding
	for i := range f.snap.General {
		all = append(all, &f.snap.General[i])
	}
	return findingRows(f, all, true)
}

// shown is how many entries stand on the screen: all that are flagged, and as many
// of the healthy ones as fit, unless all are asked for.
func (v *fleet) shown(room int) int {
	n := len(v.entries)
	if v.all || v.narrow != "" || v.sort != sortWorst || n <= room {
		return n
	}
	return min(n, max(v.healthy, room-1))
}

func clusterTarget(c *model.Cluster) *Target {
	if c.Object == nil {
		return nil
	}
	return &Target{Ref: c.Object.Ref(), In: onSupervisor()}
}

func (v *fleet) offered(f *frame) []key.Binding {
	k := f.keys
	var out []key.Binding
	if f.snap != nil && len(f.snap.Clusters)+len(f.snap.General) > 0 {
		out = append(out, k.Open)
	}
	out = append(out, k.Filter, k.Namespace, k.Sort)
	if f.captures {
		out = append(out, k.Capture)
	}
	// The line above the last says what shows all, where there is more.
	return append(out, k.Quit, k.All, k.Refresh, k.Command, k.YAML, k.Describe, k.Copy)
}

func (v *fleet) press(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch {
	case key.Matches(k, m.keys.Quit):
		return m.quit(), true
	case key.Matches(k, m.keys.Back): // esc: what narrows the view goes first.
		v.narrow, v.namespace, v.all = "", "", false
		return nil, true
	case key.Matches(k, m.keys.Filter):
		return m.askFilter(&v.narrow), true
	case key.Matches(k, m.keys.Namespace):
		return m.push(newNamespaces(v)), true
	case key.Matches(k, m.keys.Sort):
		v.sort = (v.sort + 1) % sorts
		return m.say(false, "sorted "+v.sort.String()), true
	case key.Matches(k, m.keys.All):
		v.all = !v.all
		return nil, true
	case key.Matches(k, m.keys.Capture):
		return m.takeCapture(), true
	}
	return nil, false
}

// headLines are the heads of the columns, or, before the first snapshot, what is being asked.
func (v *fleet) headLines(f *frame) []string {
	if f.snap == nil {
		return asking(f)
	}
	marked := -1
	switch v.sort {
	case sortName:
		marked = 1
	case sortVersion:
		marked = 4
	case sortSince:
		marked = 7
	case sortWorst, sorts:
	}
	return []string{" " + v.table.Head(&f.styles.Head, marked, "↓")}
}

// narrowed says what narrows the view, or why there is nothing.
func (v *fleet) narrowed(f *frame) []string {
	if f.snap == nil {
		return nil
	}
	var by []string
	if v.namespace != "" {
		by = append(by, "namespace "+clean(v.namespace))
	}
	if v.narrow != "" {
		by = append(by, "filter "+clean(v.narrow))
	}
	switch {
	case len(v.entries) == 0:
		return append([]string{""}, noClusters(f, by)...)
	case len(by) > 0:
		return []string{"", f.styles.Muted.Render(" " + strings.Join(by, ", ") + ": " + itoa(len(v.entries)) + " of " +
			plural(len(f.snap.Clusters), "cluster", "clusters") + "   esc shows all")}
	}
	return nil
}

// noClusters says why there are none.
func noClusters(f *frame, narrowed []string) []string {
	st := f.styles
	if len(narrowed) > 0 && len(f.snap.Clusters) > 0 {
		return []string{"   no cluster with " + strings.Join(narrowed, ", ") + st.Muted.Render("   esc shows all")}
	}
	type trouble struct {
		state  model.SourceState
		detail string
		names  []string
	}
	var troubles []*trouble
	waiting, seen := 0, false
	for _, x := range allSources(f.snap, f.now) {
		switch x.State {
		case model.SourceWaiting:
			waiting++
		case model.SourceOK:
			seen = seen || f.snap.Dump || x.Name.Of("clusters")
		case model.SourceStale, model.SourceForbidden, model.SourceUnreachable, model.SourceNotServed, model.SourceNotUnderstood:
			i := slices.IndexFunc(troubles, func(t *trouble) bool { return t.state == x.State && t.detail == x.Detail })
			if i < 0 {
				troubles = append(troubles, &trouble{state: x.State, detail: x.Detail})
				i = len(troubles) - 1
			}
			troubles[i].names = append(troubles[i].names, clean(x.Name.Short()))
		}
	}
	first := "   no clusters can be seen here"
	switch {
	case waiting > 0 || len(f.snap.Sources) == 0:
		first = "   waiting for the first answer: " + plural(waiting, "source", "sources") + " asked"
	case seen:
		first = "   no clusters here"
	}
	out := []string{first, ""}
	const most = 6
	for i, t := range troubles {
		if i == most {
			return append(out, "   "+st.Muted.Render("and more: :sources has all of it"))
		}
		sign, style := sourceStyle(st, t.state)
		names := t.names[0]
		if n := len(t.names) - 1; n > 0 {
			names += " and " + itoa(n) + " more"
		}
		out = append(out, "   "+style.Render(sign+" "+stateName(t.state))+"  "+names)
		for _, l := range widget.Wrap(clean(t.detail), f.w-6) {
			out = append(out, "     "+st.Muted.Render(l))
		}
	}
	return out
}

// asking is the very first frame.
func asking(f *frame) []string {
	who := clean(host(f.where.Server))
	if f.where.Dump != "" {
		who = clean(f.where.Dump)
	}
	return []string{"", "   asking " + who + " …", "", f.styles.Muted.Render("   clusters appear as they are found; :sources says what is being looked at")}
}
