package signature

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

// timer is what a MachineHealthCheck will do about a Machine by itself.
type timer struct {
	check *model.MachineHealthCheck
	// timeout is how long the node's state may last; acts is when that is over, zero where the
	// beginning is not known.
	timeout time.Duration
	acts    time.Time
	// barred says why it will do nothing; empty where it will.
	barred string
}

// healthCheck finds the MachineHealthCheck that acts on the state of a node; nil where none does.
func (n *nodeView) healthCheck() *timer {
	if n.m == nil {
		return nil
	}
	var best *timer
	for _, h := range n.v.c.HealthChecks {
		if h.Selector == nil || h.Selector.Empty() || !h.Selector.Matches(labels.Set(n.m.Labels)) {
			continue
		}
		for _, k := range h.NodeChecks {
			if k.Type != "Ready" || k.Status != n.status {
				continue
			}
			t := &timer{check: h, timeout: k.Timeout, barred: n.barred(h)}
			if !n.since.IsZero() {
				t.acts = n.since.Add(k.Timeout)
			}
			if best == nil || best.barred != "" && t.barred == "" || t.timeout < best.timeout && t.barred == "" {
				best = t
			}
		}
	}
	return best
}

// barred says why a MachineHealthCheck will not act.
func (n *nodeView) barred(h *model.MachineHealthCheck) string {
	switch why := n.v.paused(n.m); {
	case why != "":
		return why
	case h.Paused:
		return "MachineHealthCheck " + h.Name + " is paused"
	case n.m.SkipRemediate:
		return "the Machine carries the annotation cluster.x-k8s.io/skip-remediation"
	}
	if c := h.Conditions.Get("RemediationAllowed"); c != nil && c.Status == "False" {
		return "MachineHealthCheck " + h.Name + " may not act: " + text.Limit(text.Clean(c.Message), 200)
	}
	return ""
}

// running says whether its own time is not over yet, with a minute for it to notice; it asks
// to be judged again then.
func (t *timer) running(v *view) bool {
	if t == nil || t.barred != "" || t.acts.IsZero() || v.now.IsZero() {
		return false
	}
	end := t.acts.Add(time.Minute)
	v.at(end)
	return v.now.Before(end)
}

// checkHealthCheck says what a MachineHealthCheck does about the node.
func (n *nodeView) checkHealthCheck() model.Check {
	c := model.Check{Name: "healthcheck-acts", Title: "a MachineHealthCheck takes care of it", Weight: model.Supporting, Source: "MachineHealthChecks of the cluster", Seen: n.v.seen("machinehealthchecks")}
	if n.m != nil {
		if o := n.m.Conditions.Get("OwnerRemediated"); o != nil && o.Status == "False" {
			c.Source, c.Seen = "Machine "+n.m.Namespace+"/"+n.m.Name+", condition OwnerRemediated", n.v.seen("machines")
			c.Verdict, c.Detail = model.Yes, strings.TrimSpace(text.Clean(o.Reason)+": "+text.Limit(text.Clean(o.Message), 300))
			if _, refused := lifecycle.Refusal(o); refused {
				c.Verdict = model.No
			}
			return c
		}
	}
	t := n.healthCheck()
	switch {
	case t == nil && len(n.v.c.HealthChecks) == 0 && n.v.sn.Dump:
		c.Verdict, c.Detail = model.Unknown, "the dump holds none"
	case t == nil:
		c.Verdict, c.Detail = model.No, "none looks at this Machine and this state of its node"
	case t.barred != "":
		c.Verdict, c.Detail = model.No, t.barred
	case t.acts.IsZero():
		c.Verdict, c.Detail = model.Yes, t.check.Name+" acts once the node has been so for "+text.Age(t.timeout)
	default:
		c.Verdict, c.Detail = model.Yes, t.check.Name+" acts at "+stamp(t.acts)
	}
	return c
}
