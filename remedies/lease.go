package remedies

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/model/text"
)

// Two engineers on one cluster see each other through a Lease in its vSphere
// Namespace. The first one holds it; who comes later stands in an annotation on it,
// so that both sides see the other. It keeps nobody out: it is there to be seen.
const (
	leaseFor   = 2 * time.Minute
	leaseRenew = 30 * time.Second
	// alsoPrefix and the id of a walk are the annotation of somebody who does not hold the Lease.
	alsoPrefix = "also.vksmedic/"
)

func leaseResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
}

// lease is our presence on one cluster. It is used by one goroutine at a time.
type lease struct {
	dyn     dynamic.Interface
	cluster model.ClusterRef
	walk    string // id of the walk.
	who     string
	host    string
	now     func() time.Time
	since   time.Time                                                   // when we came; zero until the Lease was taken.
	log     func(line string, back bool, err error, took time.Duration) // back: it was given back.
	context string
}

// presence is one engineer as the Lease shows them.
type presence struct {
	walk, who, host string
	since, seen     time.Time
	until           time.Time
}

func (p presence) words(now time.Time) string {
	s := p.who + " on " + p.host
	if p.who == "" {
		s = "somebody"
	}
	return fmt.Sprintf("%s is working on this cluster since %s", text.Clean(s), text.Age(now.Sub(p.since)))
}

func (l *lease) name() string { return "vksmedic-" + l.cluster.Name }

func (l *lease) client() dynamic.ResourceInterface {
	return l.dyn.Resource(leaseResource()).Namespace(l.cluster.Namespace)
}

// others reads who else is at work. It writes nothing. A Lease that is not there, or
// that may not be read, is nobody; blind then says why.
func (l *lease) others(ctx context.Context) (others []presence, blind string) {
	u, err := l.client().Get(ctx, l.name(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, ""
	case apierrors.IsForbidden(err):
		return nil, "cannot see whether somebody else works here: may not read leases in " + l.cluster.Namespace
	case err != nil:
		return nil, "cannot see whether somebody else works here: " + short(err)
	}
	return l.present(u), ""
}

// present are the others whose time has not run out.
func (l *lease) present(u *unstructured.Unstructured) []presence {
	var out []presence
	for _, p := range append([]presence{holderOf(u)}, alsoOf(u)...) {
		if p.who != "" && p.walk != l.walk && p.until.After(l.now()) {
			out = append(out, p)
		}
	}
	return out
}

func holderOf(u *unstructured.Unstructured) presence {
	id, _, _ := unstructured.NestedString(u.Object, "spec", "holderIdentity")
	p := parsePresence(id)
	renewed, _, _ := unstructured.NestedString(u.Object, "spec", "renewTime")
	acquired, _, _ := unstructured.NestedString(u.Object, "spec", "acquireTime")
	seconds, _, _ := unstructured.NestedInt64(u.Object, "spec", "leaseDurationSeconds")
	p.seen, _ = time.Parse(time.RFC3339Nano, renewed)
	p.since, _ = time.Parse(time.RFC3339Nano, acquired)
	p.until = p.seen.Add(time.Duration(seconds) * time.Second)
	return p
}

// alsoOf are those that stand in annotations: since, seen, identity, separated by spaces.
func alsoOf(u *unstructured.Unstructured) []presence {
	notes := u.GetAnnotations()
	var out []presence
	for _, k := range slices.Sorted(maps.Keys(notes)) {
		if !strings.HasPrefix(k, alsoPrefix) {
			continue
		}
		part := strings.SplitN(notes[k], " ", 3)
		if len(part) != 3 {
			continue
		}
		p := parsePresence(part[2])
		p.walk = strings.TrimPrefix(k, alsoPrefix)
		p.since, _ = time.Parse(time.RFC3339, part[0])
		p.seen, _ = time.Parse(time.RFC3339, part[1])
		p.until = p.seen.Add(leaseFor)
		out = append(out, p)
	}
	return out
}

// identity is the holderIdentity: who, host and walk. Users hold neither tab nor newline.
func (l *lease) identity() string { return l.who + " on " + l.host + " (vksmedic " + l.walk + ")" }

func parsePresence(id string) presence {
	p := presence{who: id}
	if rest, walk, ok := cutLast(strings.TrimSuffix(id, ")"), " (vksmedic "); ok {
		p.walk, p.who = walk, rest
		if who, host, ok := cutLast(rest, " on "); ok {
			p.who, p.host = who, host
		}
	}
	return p
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// errNoLease is what keep returns where Leases may not be written.
var errNoLease = errors.New("nobody can see that you work here: may not write leases")

// keep takes the Lease, or renews it. Where somebody else holds it, it writes us down beside
// them and returns them.
func (l *lease) keep(ctx context.Context) ([]presence, error) {
	const tries = 3
	var err error
	for range tries {
		var others []presence
		if others, err = l.keepOnce(ctx); err == nil {
			return others, nil
		}
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err) {
			break
		}
	}
	if apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("%w in %s", errNoLease, l.cluster.Namespace)
	}
	return nil, fmt.Errorf("nobody can see that you work here: cannot write lease %s/%s: %w", l.cluster.Namespace, l.name(), err)
}

func (l *lease) keepOnce(ctx context.Context) ([]presence, error) {
	start := l.now()
	first := l.since.IsZero()
	u, err := l.client().Get(ctx, l.name(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		u = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
			"metadata": map[string]any{"name": l.name(), "namespace": l.cluster.Namespace}}}
		l.hold(u, start)
		_, err = l.client().Create(ctx, u, metav1.CreateOptions{FieldManager: fieldManager})
		if first {
			l.say("create", false, u, err, start)
		}
		if err == nil && first {
			l.since = start
		}
		return nil, err //nolint:wrapcheck // wrapped by keep.
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // wrapped by keep.
	}
	others := l.present(u)
	dropExpired(u, start)
	if h := holderOf(u); h.who == "" || h.walk == l.walk || !h.until.After(start) {
		if h.walk == l.walk && l.since.IsZero() {
			l.since = h.since // picked up again after a crash.
		}
		l.hold(u, start)
	} else {
		l.standBeside(u, start)
	}
	_, err = l.client().Update(ctx, u, metav1.UpdateOptions{FieldManager: fieldManager})
	if first {
		l.say("replace", false, u, err, start)
	}
	if err == nil && l.since.IsZero() {
		l.since = start
	}
	return others, err //nolint:wrapcheck // wrapped by keep.
}

func (l *lease) hold(u *unstructured.Unstructured, now time.Time) {
	since := l.since
	if since.IsZero() {
		since = now
	}
	const micro = "2006-01-02T15:04:05.000000Z07:00"
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	if spec == nil {
		spec = map[string]any{}
	}
	spec["holderIdentity"] = l.identity()
	spec["leaseDurationSeconds"] = int64(leaseFor / time.Second)
	spec["acquireTime"] = since.UTC().Format(micro)
	spec["renewTime"] = now.UTC().Format(micro)
	u.Object["spec"] = spec
	notes := u.GetAnnotations()
	delete(notes, alsoPrefix+l.walk)
	u.SetAnnotations(notes)
}

func (l *lease) standBeside(u *unstructured.Unstructured, now time.Time) {
	since := l.since
	if since.IsZero() {
		since = now
	}
	notes := u.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	notes[alsoPrefix+l.walk] = since.UTC().Format(time.RFC3339) + " " + now.UTC().Format(time.RFC3339) + " " + l.identity()
	u.SetAnnotations(notes)
}

// dropExpired forgets who has not been seen for long, such as after a crash.
func dropExpired(u *unstructured.Unstructured, now time.Time) {
	notes := u.GetAnnotations()
	for _, p := range alsoOf(u) {
		if !p.until.After(now) {
			delete(notes, alsoPrefix+p.walk)
		}
	}
	u.SetAnnotations(notes)
}

// giveBack takes our name off the Lease, and removes it where nobody is left on it.
func (l *lease) giveBack(ctx context.Context) error {
	if l.since.IsZero() {
		return nil
	}
	start := l.now()
	u, err := l.client().Get(ctx, l.name(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		l.since = time.Time{}
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot give back lease %s/%s, it ends by itself in %s: %w", l.cluster.Namespace, l.name(), leaseFor, err)
	}
	notes := u.GetAnnotations()
	delete(notes, alsoPrefix+l.walk)
	u.SetAnnotations(notes)
	if h := holderOf(u); h.walk == l.walk {
		if len(l.present(u)) == 0 && l.remove(ctx, u, start) == nil {
			l.since = time.Time{}
			return nil
		}
		unstructured.RemoveNestedField(u.Object, "spec", "holderIdentity")
		unstructured.RemoveNestedField(u.Object, "spec", "renewTime")
		unstructured.RemoveNestedField(u.Object, "spec", "acquireTime")
	}
	_, err = l.client().Update(ctx, u, metav1.UpdateOptions{FieldManager: fieldManager})
	l.say("replace", true, u, err, start)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot give back lease %s/%s, it ends by itself in %s: %w", l.cluster.Namespace, l.name(), leaseFor, err)
	}
	l.since = time.Time{}
	return nil
}

func (l *lease) remove(ctx context.Context, u *unstructured.Unstructured, start time.Time) error {
	uid, rv := u.GetUID(), u.GetResourceVersion()
	err := l.client().Delete(ctx, l.name(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &rv}})
	l.say("delete", true, u, err, start)
	return err //nolint:wrapcheck // decides only what is tried next.
}

// say puts a line into the log of commands: for taking and giving back, not for every renewal.
func (l *lease) say(what string, back bool, u *unstructured.Unstructured, err error, start time.Time) {
	if l.log == nil {
		return
	}
	c := newChange(verbCreate, leaseResource(), "Lease", l.cluster.Namespace, l.name())
	c.Want = bare(u)
	switch what {
	case "replace":
		c.Verb, c.UID, c.ResourceVersion = verbUpdate, string(u.GetUID()), u.GetResourceVersion()
	case "delete":
		c.Verb = verbDelete
	}
	l.log(c.command(l.context), back, err, l.now().Sub(start))
}
