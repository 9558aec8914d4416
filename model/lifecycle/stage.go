package lifecycle

import (
	"regexp"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/text"
)

// Stage is how far the deletion of a Machine is.
type Stage string

// The stages, in the order in which Cluster API takes them.
const (
	NotDeleting       Stage = ""
	Started           Stage = "Deleting"
	PreDrainHook      Stage = "WaitingForPreDrainHook"
	Draining          Stage = "DrainingNode"
	VolumeDetach      Stage = "WaitingForVolumeDetach"
	PreTerminateHook  Stage = "WaitingForPreTerminateHook"
	Infrastructure    Stage = "WaitingForInfrastructureDeletion"
	Bootstrap         Stage = "WaitingForBootstrapDeletion"
	DeletingNode      Stage = "DeletingNode"
	DeletionCompleted Stage = "DeletionCompleted"
)

// Stages are all stages of a deletion, in order.
func Stages() []Stage {
	return []Stage{
		Started, PreDrainHook, Draining, VolumeDetach, PreTerminateHook,
		Infrastructure, Bootstrap, DeletingNode, DeletionCompleted,
	}
}

// Index is the stage's place in [Stages], or -1.
func (s Stage) Index() int {
	for i, x := range Stages() {
		if x == s {
			return i
		}
	}
	return -1
}

// Words says the stage as people would.
func (s Stage) Words() string {
	switch s {
	case NotDeleting:
		return "not being deleted"
	case Started:
		return "deletion has begun"
	case PreDrainHook:
		return "waits for pre-drain hooks"
	case Draining:
		return "drains the node"
	case VolumeDetach:
		return "waits for volumes to be detached"
	case PreTerminateHook:
		return "waits for pre-terminate hooks"
	case Infrastructure:
		return "waits for the infrastructure to be deleted"
	case Bootstrap:
		return "waits for the bootstrap configuration to be deleted"
	case DeletingNode:
		return "deletes the node"
	case DeletionCompleted:
		return "is done"
	}
	return string(s)
}

// The condition types that tell a stage.
const (
	condDeleting     = "Deleting"
	condDraining     = "DrainingSucceeded"
	condVolumes      = "VolumeDetachSucceeded"
	condPreDrain     = "PreDrainDeleteHookSucceeded"
	condPreTerminate = "PreTerminateDeleteHookSucceeded"
)

// Deletion is how far the deletion of a Machine is, and what it waits for.
type Deletion struct {
	Stage Stage
	// Condition is where the stage was read: a condition type, "status.deletion", or
	// "metadata.deletionTimestamp" when that is all there is.
	Condition string
	// Begun is when the deletion was asked for, zero where unknown.
	Begun time.Time
	// Since is when the stage began, zero where unknown. Exact is false where it is only
	// known that the stage began no earlier.
	Since time.Time
	Exact bool
	// WaitsFor names what the stage waits for: hooks, volumes, an infrastructure object.
	// For a drain it is in Message.
	WaitsFor []string
	// Message is the drain's message, for the stage Draining.
	Message Message
	// Text is the condition's message, cleaned and cut.
	Text string
	// Failing says that Cluster API reports an error in this stage.
	Failing bool
}

// Deletes says whether a Machine is being deleted. A condition Deleting that is
// there says nothing: since Cluster API 1.9 it always is; its status counts.
func Deletes(m *model.Machine) bool {
	if !m.Deleting.IsZero() || m.Phase == "Deleting" {
		return true
	}
	c := m.Conditions.Get(condDeleting)
	return c != nil && c.Status == "True"
}

// StageOf reads the stage of a Machine's deletion from its conditions, of either
// generation, and from status.deletion.
func StageOf(m *model.Machine) Deletion {
	if !Deletes(m) {
		return Deletion{}
	}
	d := Deletion{Stage: Started, Condition: "metadata.deletionTimestamp", Begun: m.Deleting}
	if !d.fromDeleting(m) && !d.fromOlder(m) {
		d.fromStatus(m)
	}
	if d.Begun.IsZero() {
		if c := m.Conditions.Get(condDeleting); c != nil && c.Status == "True" {
			d.Begun = c.Since
		}
	}
	d.fill(m)
	return d
}

// fromDeleting reads the condition Deleting (Cluster API 1.9 and later).
func (d *Deletion) fromDeleting(m *model.Machine) bool {
	c := m.Conditions.Get(condDeleting)
	if c == nil || c.Status != "True" {
		return false
	}
	if c.Reason == "InternalError" {
		// It says that something fails, not where.
		d.Failing = true
		if !d.fromOlder(m) {
			d.fromStatus(m)
		}
		d.Text = text.Limit(text.Clean(c.Message), maxReason)
		return true
	}
	d.Condition = condDeleting
	d.Text = text.Limit(text.Clean(c.Message), maxReason)
	d.Failing = strings.Contains(c.Message, "please check controller logs")
	if s := Stage(c.Reason); s.Index() >= 0 {
		d.Stage = s
		return true
	}
	// A reason that no known release writes: the older conditions may tell more.
	return d.fromOlder(m)
}

// fromOlder reads the conditions of the older generation. A stage that timed out
// leaves its condition at False, so the last one that is there counts.
func (d *Deletion) fromOlder(m *model.Machine) bool {
	for _, s := range []struct {
		typ            string
		waiting, after Stage
	}{
		{condPreTerminate, PreTerminateHook, Infrastructure},
		{condVolumes, VolumeDetach, Infrastructure},
		{condDraining, Draining, VolumeDetach},
		{condPreDrain, PreDrainHook, Started},
	} {
		c := m.Conditions.Get(s.typ)
		if c == nil {
			continue
		}
		d.Condition = s.typ
		d.Text = text.Limit(text.Clean(c.Message), maxReason)
		if c.Status == "True" {
			d.Stage, d.Since = s.after, c.Since
			return true
		}
		d.Stage = s.waiting
		d.Failing = d.Failing || c.Severity == "Warning" || c.Severity == "Error"
		return true
	}
	return false
}

// fromStatus reads status.deletion alone.
func (d *Deletion) fromStatus(m *model.Machine) {
	for _, s := range []struct {
		at    time.Time
		stage Stage
	}{
		{m.PreTerminateHookStarted, PreTerminateHook},
		{m.VolumeDetachStarted, VolumeDetach},
		{m.DrainStarted, Draining},
		{m.PreDrainHookStarted, PreDrainHook},
	} {
		if !s.at.IsZero() {
			d.Stage, d.Since, d.Condition = s.stage, s.at, "status.deletion"
			return
		}
	}
}

var (
	reHooks   = regexp.MustCompile(`\(hooks: ([^)]*)\)`)
	reVolumes = regexp.MustCompile(`\* ([^:\n]{1,200}): ([^\n*]+)`)
	reWaiting = regexp.MustCompile(`^Waiting for (\S+) to be deleted`)
)

// fill finds since when the stage lasts and what it waits for.
func (d *Deletion) fill(m *model.Machine) {
	deleting, begun := m.Conditions.Get(condDeleting), time.Time{}
	if deleting != nil && deleting.Status == "True" {
		begun = deleting.Since
	}
	switch d.Stage {
	case Draining:
		d.fillDrain(m, begun)
	case VolumeDetach:
		c := m.Conditions.Get(condVolumes)
		d.since(m.VolumeDetachStarted, startedAt(deleting), startedAt(c), falseSince(c))
		d.WaitsFor = volumes(deleting, c)
	case PreDrainHook:
		d.since(m.PreDrainHookStarted, falseSince(m.Conditions.Get(condPreDrain)))
		d.WaitsFor = hooks(deleting, m.PreDrainHooks)
	case PreTerminateHook:
		d.since(m.PreTerminateHookStarted, falseSince(m.Conditions.Get(condPreTerminate)))
		d.WaitsFor = hooks(deleting, m.PreTerminateHooks)
	case Infrastructure, Bootstrap:
		if c := m.Conditions.Get(condPreTerminate); c != nil && c.Status == "True" && d.Stage == Infrastructure {
			d.since(c.Since)
		}
		d.WaitsFor = object(deleting, m, d.Stage)
	case Started, DeletingNode, DeletionCompleted, NotDeleting:
	}
	if d.Since.IsZero() {
		d.Since, d.Exact = begun, false
	}
	if d.Since.IsZero() {
		d.Since = d.Begun
	}
	if d.Stage == Started && !d.Begun.IsZero() {
		d.Since, d.Exact = d.Begun, true
	}
}

func (d *Deletion) fillDrain(m *model.Machine, begun time.Time) {
	older, newer := m.Conditions.Get(condDraining), m.Conditions.Get(condDeleting)
	var msgs []Message
	if newer != nil && newer.Status == "True" {
		msgs = append(msgs, ParseMessage(newer.Message))
	}
	if older != nil && older.Status != "True" {
		if len(msgs) == 0 || older.Message != newer.Message {
			msgs = append(msgs, ParseMessage(older.Message))
		}
		d.Failing = d.Failing || older.Reason == "DrainingFailed"
		if older.Reason == "DrainingFailed" && len(msgs) > 0 {
			last := &msgs[len(msgs)-1]
			if last.Form == FormNone {
				last.Form, last.Text = FormError, text.Limit(text.Clean(older.Message), maxReason)
			}
		}
	}
	d.Message = Best(msgs...)
	d.since(m.DrainStarted, d.Message.Started, falseSince(older))
	if d.Since.IsZero() {
		d.Since = begun
	}
}

// since takes the first time that is known.
func (d *Deletion) since(times ...time.Time) {
	for _, t := range times {
		if !t.IsZero() {
			d.Since, d.Exact = t, true
			return
		}
	}
}

func falseSince(c *model.Condition) time.Time {
	if c == nil || c.Status == "True" {
		return time.Time{}
	}
	return c.Since
}

func startedAt(c *model.Condition) time.Time {
	if c == nil {
		return time.Time{}
	}
	if g := reStarted.FindStringSubmatch(text.Limit(c.Message, 1024)); g != nil {
		return parseTime(g[1])
	}
	return time.Time{}
}

func hooks(c *model.Condition, annotated []string) []string {
	if c != nil {
		if g := reHooks.FindStringSubmatch(text.Limit(text.Clean(c.Message), maxMessage)); g != nil {
			var out []string
			for h := range strings.SplitSeq(g[1], ",") {
				if h = strings.TrimSpace(h); h != "" {
					out = append(out, h)
				}
			}
			return out
		}
	}
	return annotated
}

// volumes reads the lines of the volume wait: "PersistentVolumeClaims: db/data-0".
func volumes(conds ...*model.Condition) []string {
	for _, c := range conds {
		if c == nil || c.Status == "" {
			continue
		}
		var out []string
		for _, g := range reVolumes.FindAllStringSubmatch(text.CleanLines(text.Limit(c.Message, maxMessage)), maxGroups) {
			out = append(out, strings.TrimSpace(g[1])+": "+text.Limit(strings.TrimSpace(g[2]), maxReason))
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

func object(c *model.Condition, m *model.Machine, s Stage) []string {
	kind := ""
	if c != nil {
		if g := reWaiting.FindStringSubmatch(text.Limit(text.Clean(c.Message), 512)); g != nil {
			kind = g[1]
		}
	}
	if s != Infrastructure {
		if kind == "" {
			return nil
		}
		return []string{kind}
	}
	if kind == "" {
		kind = m.Infra.Kind
	}
	if name := strings.TrimSpace(kind + " " + m.Infra.Name); name != "" {
		return []string{name}
	}
	return nil
}
