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
)

// fleet is the first screen: a line for each cluster, what is flagged first.
type fleet struct {
	list      list
	filter    string
	namespace string // empty: all.
	sort      fleetSort
	all       bool // the healthy ones too, however many.

	// What follows is made from a snapshot and the settings above; made is their key.
	made    fleetKey
	entries []fleetEntry
	natural []int
	healthy int // entries from here on are in good health.
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
	filter    string
	namespace string
	sort      fleetSort
}

// fleetEntry is a cluster with what does not change while its key stands.
type fleetEntry struct {
	c       *model.Cluster
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

func fleetRank(c *model.Cluster, now time.Time) int {
	if w := c.Worst(); w != nil {
		return w.Severity.Rank()
	}
	switch {
	case silent(c, now) != "":
		return rankSilent
	case lifecycle.AnyPaused(c):
		return rankPaused
	case lifecycle.MovementOf(c).Words != "" || lifecycle.Lacking(lifecycle.ControlPlaneReplicas(c)) || lifecycle.Lacking(lifecycle.WorkerReplicas(c)):
		return rankMoving
	}
	return rankWell
}

func fleetColumns() []column {
	return []column{
		{sign: true},
		{title: "CLUSTER", least: 14},
		{title: "CP", right: true},
		{title: "WORKERS", right: true},
		{title: "VERSION", least: 10},
		{title: "ROLLOUT", least: 9, sentence: true},
		{title: "FINDING", least: 16, sentence: true},
		{title: "SINCE", right: true, extra: 2},
		{title: "CLASS", extra: 4},
		{title: "ENDPOINT", extra: 3},
		{title: "AGE", right: true, extra: 1},
	}
}

// prepare makes the entries anew where the snapshot or a setting changed.
func (f *fleet) prepare(m *Model) {
	now := m.now()
	k := fleetKey{m.snap, now.Unix(), f.filter, f.namespace, f.sort}
	if k == f.made || m.snap == nil {
		return
	}
	f.made = k
	f.entries = f.entries[:0]
	f.natural = make([]int, len(fleetColumns()))
	want := strings.ToLower(f.filter)
	for _, c := range m.snap.Clusters {
		if f.namespace != "" && c.Ref.Namespace != f.namespace {
			continue
		}
		if want != "" && !fleetMatches(c, want) {
			continue
		}
		e := fleetEntry{c: c, rank: fleetRank(c, now), version: versionWords(c, "→"), id: c.Ref.String() + "/"}
		if w := c.Worst(); w != nil {
			e.since = w.Since
		}
		if f.sort == sortVersion {
			from, _ := lifecycle.Versions(c)
			e.from = lifecycle.VersionNumbers(from)
		}
		f.entries = append(f.entries, e)
		measure(f.natural, f.cells(m, &e, now))
	}
	slices.SortStableFunc(f.entries, func(a, b fleetEntry) int { return f.compare(&a, &b) })
	f.healthy = len(f.entries)
	if f.sort == sortWorst {
		for i := range f.entries {
			if f.entries[i].rank == rankWell {
				f.healthy = i
				break
			}
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

func (f *fleet) compare(a, b *fleetEntry) int {
	byName := cmp.Or(strings.Compare(a.c.Ref.Namespace, b.c.Ref.Namespace), strings.Compare(a.c.Ref.Name, b.c.Ref.Name))
	switch f.sort {
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

func (f *fleet) cells(m *Model, e *fleetEntry, now time.Time) []cell {
	st := &m.styles
	c := e.c
	sign, style := signOk, &st.Ok
	findingStyle := &st.Muted
	words := findingWords(c)
	if w := c.Worst(); w != nil {
		sign, style = m.severity(w.Severity)
		findingStyle = style
	} else {
		switch e.rank {
		case rankSilent:
			sign, style = signQuiet, &st.Muted
		case rankPaused:
			sign, style = signQuiet, &st.Warn
			words, findingStyle = "paused: nothing mends itself", &st.Warn
		case rankMoving:
			sign, style = signQuiet, &st.Accent
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
	moving, movingStyle := movementWords(c, now), (*styles.Style)(nil)
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
	return []cell{
		{sign, style}, {clusterName(c.Ref), nil}, {replicasWords(cp), cpStyle}, {replicasWords(workers), workersStyle},
		{e.version, nil}, {moving, movingStyle}, {words, findingStyle}, {started, &st.Muted},
		{class, &st.Muted}, {endpoint, &st.Muted}, {knownAge(m.snap, c, now), &st.Muted},
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

func (f *fleet) rows(m *Model, w int) []row {
	if m.snap == nil {
		return nil
	}
	f.prepare(m)
	body := lay(m.w, m.h).body
	_, room := f.room(m, w, body.h)
	general := f.general(m, w)
	shown := f.shown(room - len(general))
	cols := fleetColumns()
	widths := columnWidths(cols, f.natural, w-1)
	now := m.now()
	out := slices.Grow(general, shown+1)
	for i := range f.entries[:shown] {
		e := &f.entries[i]
		out = append(out, row{
			id:     e.id,
			draw:   func() string { return drawRow(cols, widths, f.cells(m, e, now)) },
			target: clusterTarget(e.c),
			open:   func(m *Model) tea.Cmd { return m.push(&clusterView{ref: e.c.Ref}) },
		})
	}
	if rest := len(f.entries) - shown; rest > 0 {
		words := itoa(rest) + " more in good health"
		out = append(out, row{
			id: "more",
			draw: func() string {
				return m.styles.Ok.Render(signOk) + " " + words + m.styles.Muted.Render("   a shows all")
			},
			open: func(*Model) tea.Cmd { f.all = true; return nil },
		})
	}
	return out
}

// general are the findings about the Supervisor as a whole, above the clusters.
func (f *fleet) general(m *Model, w int) []row {
	if f.filter != "" || f.namespace != "" {
		return nil
	}
	var all []*model.Finding
	for i := range m.snap.General {
		all = append(all, &m.snap.General[i])
	}
	return m.findingRows(all, w, true)
}

// shown is how many entries stand on the screen: all that are flagged, and as many
// of the healthy ones as fit, unless all are asked for.
func (f *fleet) shown(room int) int {
	n := len(f.entries)
	if f.all || f.filter != "" || f.sort != sortWorst || n <= room {
		return n
	}
	return min(n, max(f.healthy, room-1))
}

func clusterTarget(c *model.Cluster) *Target {
	if c.Object == nil {
		return nil
	}
	return &Target{Ref: c.Object.Ref(), In: onSupervisor()}
}

func (f *fleet) theList() *list                   { return &f.list }
func (f *fleet) place() model.Place               { return model.Place{} }
func (f *fleet) click(m *Model, _, y int) tea.Cmd { return m.clickList(f, y) }
func (f *fleet) wheel(m *Model, down bool)        { m.wheelList(f, down) }
func (f *fleet) name() string                     { return "" }

// room is what the head leaves, and the line that says what narrows the view.
func (f *fleet) room(_ *Model, _, h int) (top, lines int) {
	if f.filter != "" || f.namespace != "" {
		h -= 2
	}
	return 1, h - 1
}

func (f *fleet) bindings(m *Model) []key.Binding {
	k := m.keys
	var out []key.Binding
	if m.snap != nil && len(m.snap.Clusters)+len(m.snap.General) > 0 {
		out = append(out, k.Open)
	}
	out = append(out, k.Filter, k.Namespace, k.Sort)
	if m.o.Capture != nil {
		out = append(out, k.Capture)
	}
	// The line above the last says what shows all, where there is more.
	out = append(out, k.Quit, k.All, k.Refresh, k.Command, k.YAML, k.Describe, k.Copy)
	return append(out, k.moves()...)
}

func (f *fleet) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch {
	case key.Matches(k, m.keys.Quit):
		return m.quit(), true
	case key.Matches(k, m.keys.Back): // esc: what narrows the view goes first.
		f.filter, f.namespace, f.all = "", "", false
		return nil, true
	case key.Matches(k, m.keys.Filter):
		return m.askFilter(&f.filter), true
	case key.Matches(k, m.keys.Namespace):
		return m.push(&namespaces{}), true
	case key.Matches(k, m.keys.Sort):
		f.sort = (f.sort + 1) % sorts
		return m.say(false, "sorted "+f.sort.String()), true
	case key.Matches(k, m.keys.Copy):
		return m.copyRow(f), true
	case key.Matches(k, m.keys.All):
		f.all = !f.all
		return nil, true
	case key.Matches(k, m.keys.Capture):
		return m.takeCapture(), true
	}
	return m.onList(f, k)
}

func (f *fleet) draw(m *Model, w, h int) []string {
	st := &m.styles
	if m.snap == nil {
		return f.asking(m, h)
	}
	f.prepare(m)
	cols := fleetColumns()
	if mark := map[fleetSort]int{sortName: 1, sortVersion: 4, sortSince: 7}[f.sort]; mark > 0 {
		cols[mark].title += "↓"
	}
	var narrowed []string
	if f.namespace != "" {
		narrowed = append(narrowed, "namespace "+clean(f.namespace))
	}
	if f.filter != "" {
		narrowed = append(narrowed, "filter "+clean(f.filter))
	}
	out := m.drawList(f, []string{""}, w, h) // its rows are measured with it.
	out[0] = cutEnd(" "+drawHead(cols, columnWidths(cols, f.natural, w-1), &st.Head), w)
	if len(f.entries) == 0 {
		out = append(append(out, ""), f.empty(m, narrowed)...)
	} else if len(narrowed) > 0 {
		out = append(out, "", st.Muted.Render(" "+strings.Join(narrowed, ", ")+": "+itoa(len(f.entries))+" of "+
			plural(len(m.snap.Clusters), "cluster", "clusters")+"   esc shows all"))
	}
	return out[:min(len(out), h)]
}

// empty says why there is nothing.
func (f *fleet) empty(m *Model, narrowed []string) []string {
	st := &m.styles
	if len(narrowed) > 0 && len(m.snap.Clusters) > 0 {
		return []string{"   no cluster with " + strings.Join(narrowed, ", ") + st.Muted.Render("   esc shows all")}
	}
	type trouble struct {
		state  model.SourceState
		detail string
		names  []string
	}
	var troubles []*trouble
	waiting, seen := 0, false
	for _, x := range allSources(m.snap, m.now()) {
		switch x.State {
		case model.SourceWaiting:
			waiting++
		case model.SourceOK:
			seen = seen || m.snap.Dump || x.Name.Of("clusters")
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
	case waiting > 0 || len(m.snap.Sources) == 0:
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
		sign, style := m.sourceStyle(t.state)
		names := t.names[0]
		if n := len(t.names) - 1; n > 0 {
			names += " and " + itoa(n) + " more"
		}
		out = append(out, "   "+style.Render(sign+" "+strings.ReplaceAll(string(t.state), "-", " "))+"  "+names)
		for _, l := range wrap(clean(t.detail), lay(m.w, m.h).body.w-6) {
			out = append(out, "     "+st.Muted.Render(l))
		}
	}
	return out
}

// asking is the very first frame.
func (f *fleet) asking(m *Model, _ int) []string {
	st := &m.styles
	who := clean(host(m.o.Where.Server))
	if m.o.Where.Dump != "" {
		who = clean(m.o.Where.Dump)
	}
	return []string{"", "   asking " + who + " …", "", st.Muted.Render("   clusters appear as they are found; :sources says what is being looked at")}
}
