package remedies

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"vksmedic/model"
	"vksmedic/model/text"
)

// fieldManager is the name under which the API server files our changes.
const fieldManager = "vksmedic"

// verb is what is done to an object, in the words of RBAC.
type verb string

const (
	verbCreate verb = "create"
	verbUpdate verb = "update"
	verbDelete verb = "delete"
)

// change is one write to one object: exactly what is sent. It stands in the
// journal, so that it can be recognised after a crash and taken back.
type change struct {
	Verb      verb   `json:"verb"`
	Group     string `json:"group"`
	Version   string `json:"version"`
	Resource  string `json:"resource"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// UID and ResourceVersion of the object as it was read live a moment before; empty for
	// a new one until it is there.
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Want is what is sent, nil for a deletion; Was is what was there, nil for a new object.
	Want map[string]any `json:"want,omitempty"`
	Was  map[string]any `json:"was,omitempty"`
}

func newChange(v verb, gvr schema.GroupVersionResource, kind, namespace, name string) *change {
	return &change{Verb: v, Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource, Kind: kind, Namespace: namespace, Name: name}
}

// over binds the change to the live object that it changes.
func (c *change) over(live *unstructured.Unstructured) *change {
	c.Was = bare(live)
	c.UID, c.ResourceVersion = string(live.GetUID()), live.GetResourceVersion()
	return c
}

func (c *change) gvr() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: c.Group, Version: c.Version, Resource: c.Resource}
}

func (c *change) ref() model.ObjectRef {
	return model.ObjectRef{Kind: c.Kind, Namespace: c.Namespace, Name: c.Name}
}

func (c *change) client(dyn dynamic.Interface) dynamic.ResourceInterface {
	if c.Namespace == "" {
		return dyn.Resource(c.gvr())
	}
	return dyn.Resource(c.gvr()).Namespace(c.Namespace)
}

// object is what is sent: Want, for an update with the uid and the resourceVersion that bind it.
func (c *change) object() *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: c.Want}
	u = u.DeepCopy()
	if c.Verb == verbUpdate {
		u.SetUID(types.UID(c.UID))
		u.SetResourceVersion(c.ResourceVersion)
	}
	return u
}

// send sends the change; dry lets the server check and default it without storing anything.
// The error is the API's own. The object is nil for a deletion.
func (c *change) send(ctx context.Context, dyn dynamic.Interface, dry bool) (*unstructured.Unstructured, error) {
	if err := guardDrainRule(c); err != nil {
		return nil, err
	}
	var dryRun []string
	if dry {
		dryRun = []string{metav1.DryRunAll}
	}
	r := c.client(dyn)
	switch c.Verb {
	case verbCreate:
		return r.Create(ctx, c.object(), metav1.CreateOptions{FieldManager: fieldManager, DryRun: dryRun}) //nolint:wrapcheck // classified by the caller.
	case verbUpdate:
		return r.Update(ctx, c.object(), metav1.UpdateOptions{FieldManager: fieldManager, DryRun: dryRun}) //nolint:wrapcheck // classified by the caller.
	case verbDelete:
		uid := types.UID(c.UID)
		return nil, r.Delete(ctx, c.Name, metav1.DeleteOptions{DryRun: dryRun, //nolint:wrapcheck // classified by the caller.
			Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &c.ResourceVersion}})
	}
	return nil, fmt.Errorf("unknown verb %q", c.Verb)
}

// happened is what a live look says about a change whose end is not known.
type happened int

const (
	happenedNot happened = iota
	happenedYes
	// happenedOther: something else changed the object meanwhile, so that it cannot be told.
	happenedOther
)

// look finds out whether the change was made: after a crash between the two lines of
// the journal, or when the connection broke before the answer.
func (c *change) look(ctx context.Context, dyn dynamic.Interface, since time.Time) (happened, *unstructured.Unstructured, error) {
	live, err := c.client(dyn).Get(ctx, c.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		if c.Verb == verbDelete {
			return happenedYes, nil, nil
		}
		return happenedNot, nil, nil
	}
	if err != nil {
		return happenedNot, nil, fmt.Errorf("cannot look whether the change to %s was made: %w", c.ref(), err)
	}
	switch {
	case c.Verb == verbDelete && string(live.GetUID()) != c.UID:
		return happenedYes, live, nil // another object of that name came after it.
	case c.Verb == verbDelete && live.GetDeletionTimestamp() != nil:
		return happenedYes, live, nil
	case c.Verb == verbDelete:
		return happenedNot, live, nil
	case c.Verb == verbUpdate && live.GetResourceVersion() == c.ResourceVersion:
		return happenedNot, live, nil
	case c.Verb == verbUpdate && string(live.GetUID()) != c.UID:
		return happenedOther, live, nil
	case sameSpec(live.Object, c.Want) && writtenByUs(live, since):
		return happenedYes, live, nil
	case c.Verb == verbUpdate && sameSpec(live.Object, c.Was):
		return happenedNot, live, nil
	}
	return happenedOther, live, nil
}

// writtenByUs says whether our field manager wrote to the object since a moment; a
// minute is granted to clocks that differ.
func writtenByUs(u *unstructured.Unstructured, since time.Time) bool {
	for _, f := range u.GetManagedFields() {
		if f.Manager == fieldManager && f.Subresource == "" && (f.Time == nil || f.Time.Add(time.Minute).After(since)) {
			return true
		}
	}
	return false
}

// sameSpec compares what people write in an object: all but metadata and status.
func sameSpec(a, b map[string]any) bool {
	return equality.Semantic.DeepEqual(content(a), content(b))
}

func content(o map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range o {
		if k != "metadata" && k != "status" {
			out[k] = v
		}
	}
	return out
}

// bare is a deep copy of an object without what the server keeps for itself.
func bare(u *unstructured.Unstructured) map[string]any {
	if u == nil {
		return nil
	}
	c := u.DeepCopy()
	for _, f := range []string{"managedFields", "uid", "resourceVersion", "generation", "creationTimestamp", "selfLink",
		"deletionTimestamp", "deletionGracePeriodSeconds"} {
		unstructured.RemoveNestedField(c.Object, "metadata", f)
	}
	unstructured.RemoveNestedField(c.Object, "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
	if len(c.GetAnnotations()) == 0 {
		unstructured.RemoveNestedField(c.Object, "metadata", "annotations")
	}
	unstructured.RemoveNestedField(c.Object, "status")
	return c.Object
}

func yamlOf(o map[string]any) string {
	if o == nil {
		return ""
	}
	b, err := yaml.Marshal(o)
	if err != nil {
		return "# cannot be written as YAML: " + text.Clean(err.Error()) + "\n"
	}
	return string(b)
}

// diff shows what changes, from what is there to what the server would make of the
// change: whole when it is small, with some lines around each change when it is not.
func (c *change) diff(after map[string]any) []Line {
	const around = 1 << 10 // a drain rule is shown whole.
	old, fresh := yamlOf(c.Was), yamlOf(after)
	edits := udiff.Strings(old, fresh)
	u, err := udiff.ToUnifiedDiff("", "", old, edits, around)
	if err != nil {
		return []Line{{Sign: '!', Text: "no diff: " + text.Clean(err.Error())}}
	}
	var out []Line
	for _, h := range u.Hunks {
		for _, l := range h.Lines {
			sign := ' '
			switch l.Kind {
			case udiff.Insert:
				sign = '+'
			case udiff.Delete:
				sign = '-'
			case udiff.Equal:
			}
			out = append(out, Line{Sign: sign, Text: text.Clean(strings.TrimSuffix(l.Content, "\n"))})
		}
	}
	return out
}

// command is the same change as a command to copy.
func (c *change) command(kubeContext string) string {
	words := []string{"kubectl"}
	if kubeContext != "" {
		words = append(words, "--context", quote(kubeContext))
	}
	where := []string{}
	if c.Namespace != "" {
		where = []string{"-n", quote(c.Namespace)}
	}
	switch c.Verb {
	case verbDelete:
		words = append(words, "delete")
		words = append(words, where...)
		words = append(words, quote(c.Resource+"."+c.Group), quote(c.Name))
		return strings.Join(words, " ")
	case verbCreate:
		words = append(words, "create")
	case verbUpdate:
		words = append(words, "replace")
	}
	words = append(words, where...)
	body := yamlOf(c.object().Object)
	if body != text.CleanLines(body) {
		return "# " + strings.Join(words, " ") + " -f FILE (the object holds characters that a terminal must not be given)"
	}
	end := "EOF"
	for strings.Contains("\n"+body, "\n"+end+"\n") {
		end += "F"
	}
	return strings.Join(words, " ") + " -f - <<'" + end + "'\n" + body + end
}
