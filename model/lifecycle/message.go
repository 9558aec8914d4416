package lifecycle

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"time"

	"vksmedic/model/text"
)

// Form says what kind of text a drain's message is.
type Form string

// The forms that a message can have.
const (
	// FormNone is a text that says nothing about a drain.
	FormNone Form = ""
	// FormPods names the pods that a drain waits for; Groups may be empty on its first pass.
	FormPods Form = "pods"
	// FormNameless is "Draining the node before deletion": all that Cluster API up to 1.8 ever
	// says, and what later releases say until the first pass is over.
	FormNameless Form = "nameless"
	// FormUnreachable says that the workload cluster does not answer.
	FormUnreachable Form = "unreachable"
	// FormError says that the drain failed before or while pods were evicted.
	FormError Form = "error"
)

// Why says why a drain waits for pods.
type Why string

// The reasons in a message.
const (
	// Terminating pods have a deletionTimestamp and are still there.
	Terminating Why = "terminating"
	// Budget is an eviction that a PodDisruptionBudget refuses.
	Budget Why = "budget"
	// Failed is an eviction that was refused for another reason.
	Failed Why = "failed"
	// Completing pods are waited for without eviction (WaitCompleted).
	Completing Why = "completing"
	// EvictLater and CompleteLater pods have their turn when the ones above are gone; they do
	// not hold the drain now.
	EvictLater    Why = "evict-later"
	CompleteLater Why = "complete-later"
	// Other is a reason that no release is known to write.
	Other Why = "other"
)

// Now says whether pods with this reason hold the drain now, not only later.
func (w Why) Now() bool { return w != EvictLater && w != CompleteLater }

// PodName is a pod as a message names it. Namespace is empty where the text lost it.
type PodName struct{ Namespace, Name string }

// String is "namespace/name".
func (p PodName) String() string {
	if p.Namespace == "" {
		return p.Name
	}
	return p.Namespace + "/" + p.Name
}

// Group is one line of a message: pods that share a reason.
type Group struct {
	Pods []PodName
	// More is how many further pods the line counts without naming them.
	More int
	Why  Why
	// Text is the reason in the message's own words.
	Text string
	// BudgetName is the PodDisruptionBudget that refuses, where it is named; Needs and Has are
	// its healthy pods, both -1 where they are not given.
	BudgetName string
	Needs, Has int
}

// Message is a drain's message, taken apart.
type Message struct {
	Form Form
	// Started is when the drain began, zero where the text does not say.
	Started time.Time
	Groups  []Group
	// Others counts the pods "with other issues", which are never named.
	Others int
	// Text is the error of FormError, cleaned.
	Text string
	// BadRule is the MachineDrainRule whose selectors are invalid, as the error names it.
	BadRule string
	// Cut says that the text was longer than is read, so that more pods may be named in it.
	Cut bool
}

// Hidden is how many pods that hold the drain now are counted but not named.
func (m *Message) Hidden() int {
	n := m.Others
	for i := range m.Groups {
		if m.Groups[i].Why.Now() {
			n += m.Groups[i].More
		}
	}
	return n
}

// Complete says whether the message names every pod that the drain waited for when it was written.
func (m *Message) Complete() bool {
	return m.Form == FormPods && len(m.Groups) > 0 && m.Hidden() == 0 && !m.Cut
}

// Find returns the group that names a pod. A name without namespace matches in any.
func (m *Message) Find(namespace, name string) *Group {
	for i := range m.Groups {
		for _, p := range m.Groups[i].Pods {
			if p.Name == name && (p.Namespace == namespace || p.Namespace == "" || namespace == "") {
				return &m.Groups[i]
			}
		}
	}
	return nil
}

// rank orders messages by how much they tell.
func (m *Message) rank() int {
	switch m.Form {
	case FormPods:
		if len(m.Groups)+m.Others > 0 {
			return 5
		}
		return 2
	case FormError:
		if m.Text != "" {
			return 4
		}
		return 3
	case FormUnreachable:
		return 3
	case FormNameless:
		return 1
	case FormNone:
	}
	return 0
}

// Limits that keep a hostile or broken message from costing much. Real ones name
// at most three pods a line, in at most nine lines.
const (
	maxMessage  = 64 << 10
	maxGroups   = 64
	maxPods     = 256 // a group.
	maxReason   = 1024
	maxNameSize = 253 + 1 + 253
)

var (
	reStarted = regexp.MustCompile(`started at ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:Z|[+-][0-9]{2}:?[0-9]{2}))`)
	reBreak   = regexp.MustCompile(`(?i)<br\s*/?>|</p>|</li>|<li>`)
	// A line of the list, where line ends are kept.
	reBullet = regexp.MustCompile(`^\s*(?:[*•·-]\s*)?((?:Pods?|[0-9]+ Pods?|After above Pods)\s.*)$`)
	// The beginnings of lines, where they were flattened into one.
	reFlat    = regexp.MustCompile(`(?:^|\s)(?:[*•·-]\s*)(?:Pods?\s|[0-9]+ Pods? with other)|(?:^|\s)After above Pods `)
	reNaked   = regexp.MustCompile(`(?:^|\s)(?:Pods?\s+[^\s:,]+/[^\s:,]+(?:, [^:]*)?:(?:\s|$)|[0-9]+ Pods? with other|After above Pods )`)
	reOthers  = regexp.MustCompile(`^([0-9]+) Pods? with other issues`)
	rePods    = regexp.MustCompile(`^Pods?\s+(.*)$`)
	reMore    = regexp.MustCompile(`^(?:\.\.\.|…)?\s*\(?\s*(?:and )?([0-9]+) more\)?$`)
	reBudget  = regexp.MustCompile(`(?i)the disruption budget (\S+)(?: needs ([0-9]+) healthy pods and has ([0-9]+))?`)
	reBadRule = regexp.MustCompile(`invalid selectors in MachineDrainRule ([^\s:,\]"]+)`)
	reNoSpace = regexp.MustCompile(`"Pod Namespace does not exist": ([^\]]+)`)
)

// ParseMessage takes the message of a drain apart, in every form that Cluster API
// 1.3 to 1.14 writes and as people paste it: flattened into one line, with line
// ends or bullets lost, wrapped, or with HTML in it. It never fails: what it does
// not understand is left out. Its time is linear in at most 64 KiB of the text;
// of a longer one the rest is not read, and Cut is set.
func ParseMessage(s string) Message {
	var m Message
	if len(s) > maxMessage {
		s, m.Cut = s[:maxMessage], true
	}
	if strings.ContainsRune(s, '&') {
		s = html.UnescapeString(s)
	}
	if strings.ContainsRune(s, '<') {
		s = reBreak.ReplaceAllString(s, "\n")
	}
	s = strings.TrimSpace(text.CleanLines(s))

	low := strings.ToLower(s)
	if i := strings.Index(low, "drain not completed yet"); i >= 0 && i < 4096 {
		m.Form = FormPods
		list, lines := afterHeader(s[min(i, len(s)):])
		m.parseList(list, lines)
		if t := reStarted.FindStringSubmatch(s[min(i, len(s)):min(len(s), i+256)]); t != nil {
			m.Started = parseTime(t[1])
		}
		return m
	}
	switch {
	case strings.Contains(low, "draining the node before deletion"):
		m.Form = FormNameless
	case strings.Contains(low, "requeuing drain node because connection"):
		m.Form = FormUnreachable
	case strings.Contains(low, "error draining") || strings.Contains(low, "failed to drain node") ||
		strings.Contains(low, "failed to get pods for eviction") || strings.Contains(low, "failed to cordon node") ||
		strings.Contains(low, "invalid selectors in machinedrainrule") || strings.Contains(low, "unable to get node"):
		m.parseError(s)
	case strings.Contains(low, "still not removed from the node") || strings.Contains(low, "cannot evict pod as it would violate"):
		// The heading was lost on the way.
		m.parseList(s, strings.ContainsRune(s, '\n'))
		if len(m.Groups) > 0 {
			m.Form = FormPods
		}
	}
	return m
}

// Best returns the message that tells most: two generations of conditions carry
// the same text most of the time, but where a drain fails only the older one
// carries the error.
func Best(messages ...Message) Message {
	var best Message
	for i := range messages {
		if messages[i].rank() > best.rank() {
			best = messages[i]
		}
	}
	for i := range messages {
		if best.Started.IsZero() {
			best.Started = messages[i].Started
		}
	}
	return best
}

// afterHeader cuts "Drain not completed yet (started at …):" off; lines says whether
// the list begins on a line of its own, as it was written.
func afterHeader(s string) (list string, lines bool) {
	s = s[len("drain not completed yet"):]
	t := strings.TrimLeft(s, " \t\n")
	if strings.HasPrefix(t, "(") {
		if i := strings.IndexByte(t[:min(len(t), 256)], ')'); i >= 0 {
			t = t[i+1:]
		}
	}
	list = strings.TrimLeft(t, " \t\n:.…")
	return list, strings.ContainsRune(t[:len(t)-len(list)], '\n')
}

func (m *Message) parseList(s string, lines bool) {
	for _, item := range items(s, lines) {
		if len(m.Groups) >= maxGroups {
			m.Cut = true
			return
		}
		m.parseItem(item)
	}
}

// items splits a list into its lines, the bullets taken off. Where the line ends were
// kept, only they count, since an error's text may look like a line of the list;
// where they were lost, the beginnings of lines are looked for.
func items(s string, lines bool) []string {
	if lines {
		if out := itemsByLine(s); len(out) > 0 {
			return out
		}
	}
	flat := strings.Join(strings.Fields(s), " ")
	bullet, naked := reFlat.FindStringIndex(flat), reNaked.FindStringIndex(flat)
	if bullet != nil && (naked == nil || bullet[0] <= naked[0]) {
		return split(flat, reFlat)
	}
	return split(flat, reNaked)
}

// itemsByLine joins lines that were broken to the one they belong to.
func itemsByLine(s string) []string {
	var out []string
	for l := range strings.SplitSeq(s, "\n") {
		if g := reBullet.FindStringSubmatch(l); g != nil && startsItem(l, g[1]) {
			out = append(out, g[1])
			continue
		}
		l = strings.TrimSpace(l)
		switch {
		case l == "":
		case len(out) == 0:
			return nil
		default:
			out[len(out)-1] += " " + l
		}
	}
	return out
}

// startsItem tells the beginning of a line from a word that stands there because the line was wrapped.
func startsItem(line, rest string) bool {
	if strings.TrimSpace(line) != rest { // A bullet was cut off.
		return true
	}
	return strings.HasPrefix(rest, "After above Pods") || reNaked.MatchString(rest)
}

func split(s string, at *regexp.Regexp) []string {
	var out []string
	begin := -1
	for _, loc := range at.FindAllStringIndex(s, maxGroups+1) {
		if begin >= 0 {
			out = append(out, s[begin:loc[0]])
		}
		begin = loc[0]
	}
	if begin >= 0 {
		out = append(out, s[begin:])
	}
	for i := range out {
		out[i] = strings.TrimLeft(strings.TrimSpace(out[i]), "*•·- ")
	}
	return out
}

func (m *Message) parseItem(s string) {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "After above Pods have been removed from the Node"); ok {
		why := EvictLater
		if strings.Contains(rest, "to complete without eviction") {
			why = CompleteLater
		}
		_, list, ok := strings.Cut(rest, ": ")
		if !ok {
			return
		}
		pods, more := names(list)
		m.add(Group{Pods: pods, More: more, Why: why, Text: strings.Trim(strings.SplitN(rest, ":", 2)[0], ", ")})
		return
	}
	if g := reOthers.FindStringSubmatch(s); g != nil {
		if n, err := strconv.Atoi(g[1]); err == nil && n >= 0 && n < 1<<20 {
			m.Others += n
		}
		return
	}
	g := rePods.FindStringSubmatch(s)
	if g == nil {
		return
	}
	list, reason, ok := cutReason(g[1])
	if !ok {
		return
	}
	pods, more := names(list)
	group := Group{Pods: pods, More: more, Text: text.Limit(text.Clean(reason), maxReason)}
	group.classify()
	m.add(group)
}

// cutReason parts the names from the reason. Names hold no colon; one that stands
// at the end of a wrapped line has lost its space.
func cutReason(s string) (list, reason string, ok bool) {
	i := strings.IndexByte(s, ':')
	if i < 0 {
		return "", "", false
	}
	return s[:i], strings.TrimSpace(s[i+1:]), true
}

func (m *Message) add(g Group) {
	if len(g.Pods) == 0 && g.More == 0 {
		return
	}
	if g.Why != Budget {
		g.Needs, g.Has = -1, -1
	}
	m.Groups = append(m.Groups, g)
}

func (g *Group) classify() {
	low := strings.ToLower(g.Text)
	g.Needs, g.Has = -1, -1
	switch {
	case strings.HasPrefix(low, "failed to evict"):
		g.Why = Failed
		g.Text = strings.TrimPrefix(g.Text, "failed to evict Pod, ")
	case strings.HasPrefix(low, "deletiontimestamp set"), strings.Contains(low, "still not removed from the node"):
		g.Why = Terminating
	case strings.Contains(low, "disruption budget"):
		g.Why = Budget
		if b := reBudget.FindStringSubmatch(g.Text); b != nil && strings.Trim(b[1], ".,") != "" {
			g.BudgetName = strings.Trim(b[1], ".,")
			if needs, err := strconv.Atoi(b[2]); err == nil {
				if has, err := strconv.Atoi(b[3]); err == nil {
					g.Needs, g.Has = needs, has
				}
			}
		}
	case strings.HasPrefix(low, "waiting for completion"):
		g.Why = Completing
	default:
		g.Why = Other
	}
}

// names reads "ns/a, ns/b, ... (4 more)".
func names(s string) (pods []PodName, more int) {
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if g := reMore.FindStringSubmatch(part); g != nil {
			if n, err := strconv.Atoi(g[1]); err == nil && n >= 0 && n < 1<<20 {
				more += n
			}
			continue
		}
		// A wrapped line may have left a space in the name.
		part = strings.TrimRight(strings.ReplaceAll(part, " ", ""), ".;")
		if part == "" || part == "…" || len(part) > maxNameSize {
			continue
		}
		if len(pods) >= maxPods {
			more++
			continue
		}
		ns, name, ok := strings.Cut(part, "/")
		if !ok {
			ns, name = "", part
		}
		if name == "" {
			more++ // A name that was lost on the way is still a pod.
			continue
		}
		pods = append(pods, PodName{Namespace: ns, Name: name})
	}
	return pods, more
}

func (m *Message) parseError(s string) {
	m.Form = FormError
	m.Text = text.Limit(text.Clean(s), maxReason)
	if strings.Contains(m.Text, "please check controller logs") {
		m.Text = "" // It says only that there is an error.
	}
	if g := reBadRule.FindStringSubmatch(s); g != nil {
		m.BadRule = g[1]
	}
	if g := reNoSpace.FindStringSubmatch(text.Limit(s, 8<<10)); g != nil {
		pods, more := names(g[1])
		m.add(Group{Pods: pods, More: more, Why: Failed, Text: "its Namespace does not exist"})
	}
}

func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}
