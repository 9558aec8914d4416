package effect

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptrace"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/probes/supervisor"
	"vksmedic/probes/wire"
	"vksmedic/remedies"
)

// Verb is what is done to an object, in the words of RBAC.
type Verb string

// The verbs. There is no patch: what is sent is the whole object, bound to the uid and the
// resourceVersion of the live read.
const (
	Create Verb = "create"
	Update Verb = "update"
	Delete Verb = "delete"
)

// ObjectKind is the name of [Object] in the journal.
const ObjectKind = "object"

// Object is one write to one object of a Kubernetes API: exactly what is sent.
type Object struct {
	At        model.Place `json:"at"`
	Verb      Verb        `json:"verb"`
	Group     string      `json:"group"`
	Version   string      `json:"version"`
	Resource  string      `json:"resource"`
	Name      string      `json:"name"`
	Namespace string      `json:"namespace,omitempty"`
	// Of is the object's kind.
	Of string `json:"of"`
	// UID and ResourceVersion are those of the object as it was read live a moment before;
	// empty for a new one.
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Want is what is sent, nil for a deletion; Was is what was there, nil for a new object.
	// Both are whole, but for the uid, the resourceVersion and the managedFields.
	Want map[string]any `json:"want,omitempty"`
	Was  map[string]any `json:"was,omitempty"`
}

var (
	_ remedies.Effect     = (*Object)(nil)
	_ remedies.Reversible = (*Object)(nil)
	_ remedies.Lasting    = (*Object)(nil)
)

// NewObject is a write to an object that is not there yet; see [Object.Over].
func NewObject(at model.Place, v Verb, gvr schema.GroupVersionResource, kind, namespace, name string) *Object {
	return &Object{At: at, Verb: v, Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource, Of: kind, Namespace: namespace, Name: name}
}

// Over binds the write to the live object that it changes.
func (c *Object) Over(live *unstructured.Unstructured) *Object {
	c.Was = Whole(live)
	c.UID, c.ResourceVersion = string(live.GetUID()), live.GetResourceVersion()
	return c
}

// Kind is [ObjectKind].
func (c *Object) Kind() string { return ObjectKind }

// Place is the API that it writes to.
func (c *Object) Place() model.Place { return c.At }

// Ref names the object.
func (c *Object) Ref() model.ObjectRef {
	return model.ObjectRef{Kind: c.Of, Namespace: c.Namespace, Name: c.Name}
}

// What names the write.
func (c *Object) What() string { return string(c.Verb) + " " + c.Ref().String() }

// GVR is the resource that it is sent to.
func (c *Object) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: c.Group, Version: c.Version, Resource: c.Resource}
}

// Binds are the verb, the object and all that is sent, in its order; for a deletion all that
// is there. What controllers write all the time, the status, does not bind.
func (c *Object) Binds() []string {
	out := []string{c.What() + " " + c.UID + " on " + c.At.String()}
	for _, o := range []map[string]any{c.Was, c.Want} {
		out = append(out, strings.Split(strings.TrimSuffix(YAML(bound(o)), "\n"), "\n")...)
	}
	return out
}

func (c *Object) client(ctx context.Context, s *remedies.Sites) (dynamic.ResourceInterface, error) {
	dyn, err := s.API(ctx, c.At)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the place already.
	}
	if c.Namespace == "" {
		return dyn.Resource(c.GVR()), nil
	}
	return dyn.Resource(c.GVR()).Namespace(c.Namespace), nil
}

// Sent is the object as it is sent: Want, for an update with the uid and the resourceVersion that bind it.
func (c *Object) Sent() *unstructured.Unstructured {
	u := (&unstructured.Unstructured{Object: c.Want}).DeepCopy()
	if c.Verb == Update {
		u.SetUID(types.UID(c.UID))
		u.SetResourceVersion(c.ResourceVersion)
	}
	return u
}

// write does the request; the error is the API's own.
func (c *Object) write(ctx context.Context, s *remedies.Sites, manager string, dry bool) (*unstructured.Unstructured, error) {
	r, err := c.client(ctx, s)
	if err != nil {
		return nil, err
	}
	var dryRun []string
	if dry {
		dryRun = []string{metav1.DryRunAll}
	}
	switch c.Verb {
	case Create:
		return r.Create(ctx, c.Sent(), metav1.CreateOptions{FieldManager: manager, DryRun: dryRun}) //nolint:wrapcheck // classified by the caller.
	case Update:
		return r.Update(ctx, c.Sent(), metav1.UpdateOptions{FieldManager: manager, DryRun: dryRun}) //nolint:wrapcheck // classified by the caller.
	case Delete:
		uid := types.UID(c.UID)
		return nil, r.Delete(ctx, c.Name, metav1.DeleteOptions{DryRun: dryRun, //nolint:wrapcheck // classified by the caller.
			Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &c.ResourceVersion}})
	}
	return nil, fmt.Errorf("unknown verb %q", c.Verb)
}

// dryManager is the field manager of dry runs, which store nothing.
const dryManager = "vksmedic-dry-run"

// DryRun lets the server check and default the object without storing it.
func (c *Object) DryRun(ctx context.Context, s *remedies.Sites) (remedies.Answer, error) {
	var a remedies.Answer
	after := c.Want
	got, err := c.write(ctx, s, dryManager, true)
	switch {
	case err == nil:
		a.Server, a.May = "accepted (dry run)", model.Yes
		a.MaySays = fmt.Sprintf("%s %s%s", c.Verb, c.Resource, c.in())
		if got != nil {
			after = got.Object
		}
	case doubtful(c.Verb, err):
		const words = "it is being changed by somebody else right now"
		a.Server, a.May, a.Blocked, a.Moving = words, model.Unknown, words+"; look again", true
	case apierrors.IsForbidden(err):
		c.forbidden(ctx, s, err, &a)
	case answered(err):
		a.Server, a.May = "refused (dry run): "+remedies.Short(err), model.Unknown
		a.MaySays = "admission refused it; the right to do it was not asked for"
		a.Blocked = "the server does not accept it: " + remedies.Short(err)
	default:
		a.Server, a.May = "no answer to the dry run: "+remedies.Short(err), model.Unknown
		a.MaySays = "not known"
		a.Blocked = "the server did not answer the dry run, so nothing is applied: " + remedies.Short(err)
	}
	if c.Verb == Delete {
		a.Diff = remedies.Diff(YAML(shown(c.Was)), "")
		return a, nil
	}
	a.Diff = remedies.Diff(YAML(shown(c.Was)), YAML(shown(after)))
	a.YAML = YAML(c.Sent().Object)
	return a, nil
}

// forbidden says what a 403 means: a missing right, or something in admission.
func (c *Object) forbidden(ctx context.Context, s *remedies.Sites, err error, a *remedies.Answer) {
	a.Server = "refused (dry run)"
	right, words := c.whyForbidden(ctx, s, err)
	a.Blocked = words
	if right {
		a.May, a.MaySays = model.No, remedies.Short(err)
		return
	}
	a.May, a.MaySays = model.Unknown, remedies.Short(err)
}

// whyForbidden says whether a 403 means that a right is missing, and what it means in words.
func (c *Object) whyForbidden(ctx context.Context, s *remedies.Sites, err error) (right bool, words string) {
	if c.At.Kind != model.PlaceSupervisor {
		return false, "the server refuses it: " + remedies.Short(err)
	}
	why := s.Supervisor.WhyForbidden(ctx, supervisor.Ask{Verb: string(c.Verb), Group: c.Group, Resource: c.Resource,
		Namespace: c.Namespace, Name: c.Name}, err)
	switch why.By {
	case supervisor.RefusedByRights, supervisor.RefusedByEscalation:
		return true, fmt.Sprintf("you may not %s %s%s: %s", c.Verb, c.Resource, c.in(), why.Words)
	default:
		return false, "the server does not accept it: " + why.Words
	}
}

func (c *Object) in() string {
	if c.Namespace == "" {
		return ""
	}
	return " in " + c.Namespace
}

// errAskedTwice is a write that was answered with the wish to get it again. It was not sent again,
// and whether the first one is stored is not known.
var errAskedTwice = errors.New("the server asked to get it once more later, and it was not sent again")

// once lets a write be sent one time only. client-go sends a write again where the server is
// overloaded and names a time; the first may be stored nevertheless, even after the second, and even
// after that was taken back. twice says that a second one was about to be sent, and was not.
func once(ctx context.Context) (once context.Context, twice func() bool, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var written, again atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(w httptrace.WroteRequestInfo) { written.Store(written.Load() || w.Err == nil) },
		GetConn: func(string) {
			if written.Load() {
				again.Store(true)
				cancel()
			}
		},
	})
	return wire.Once(ctx), again.Load, cancel
}

// Send writes the object with the attempt's mark as its field manager.
func (c *Object) Send(ctx context.Context, s *remedies.Sites, a remedies.Attempt) (remedies.Receipt, error) {
	ctx, twice, done := once(ctx)
	defer done()
	got, err := c.write(ctx, s, a.Mark(), false)
	if err == nil {
		return receipt(c, got), nil
	}
	if twice() {
		return remedies.Receipt{}, errAskedTwice
	}
	no := &remedies.Refusal{Words: remedies.Short(err)}
	switch {
	case doubtful(c.Verb, err):
		no.Err, no.Doubtful = remedies.ErrMoved, true
	case apierrors.IsForbidden(err):
		no.Err = remedies.ErrBlocked
		right := false
		if right, no.Words = c.whyForbidden(ctx, s, err); right {
			no.Err = remedies.ErrForbidden
		}
	case answered(err):
		no.Err = remedies.ErrBlocked
	default:
		return remedies.Receipt{}, err
	}
	return remedies.Receipt{}, no
}

func receipt(c *Object, got *unstructured.Unstructured) remedies.Receipt {
	if got == nil {
		return remedies.Receipt{UID: c.UID}
	}
	return remedies.Receipt{UID: string(got.GetUID()), ResourceVersion: got.GetResourceVersion()}
}

// doubtful says whether an answer says that the object is not as it was read. The server also
// answers so when it has stored the write, failed, and got the same write a second time.
func doubtful(v Verb, err error) bool {
	return apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || (v != Create && notThere(err))
}

// notThere says whether a 404 is about the object. A kind that is not served, and a proxy
// that knows nothing, answer 404 too, without saying what was not found.
func notThere(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// NotThere says whether an answer says that the object that was asked for is not there. A kind
// that is not served answers 404 too, and that is no such answer.
func NotThere(err error) bool { return notThere(err) }

// answered says whether the error is the server's own refusal, so that nothing was stored.
func answered(err error) bool {
	var st apierrors.APIStatus
	if !errors.As(err, &st) {
		return false
	}
	code := st.Status().Code
	return code >= 400 && code < 500 && !apierrors.IsTimeout(err) && !apierrors.IsTooManyRequests(err) && !apierrors.IsNotFound(err)
}

// ancient is the field manager under which the API server files the changes of many others
// together (k8s.io/apimachinery util/managedfields/internal/buildmanagerinfo.go).
const ancient = "ancient-changes"

// Look looks for the attempt's mark among the object's field managers.
func (c *Object) Look(ctx context.Context, s *remedies.Sites, a remedies.Attempt) (remedies.Sight, error) {
	r, err := c.client(ctx, s)
	if err != nil {
		return remedies.Sight{}, err
	}
	live, err := r.Get(ctx, c.Name, metav1.GetOptions{})
	if err != nil && !notThere(err) {
		return remedies.Sight{}, fmt.Errorf("cannot look whether the change to %s was made: %w", c.Ref(), err)
	}
	if err != nil {
		return c.sightOfNothing(), nil
	}
	switch {
	case c.Verb == Delete && string(live.GetUID()) != c.UID:
		return remedies.Sight{Happened: remedies.HappenedSo, Words: c.Ref().String() + " is gone, and another one of its name is there"}, nil
	case c.Verb == Delete && live.GetDeletionTimestamp() != nil:
		return remedies.Sight{Happened: remedies.HappenedSo, Words: c.Ref().String() + " is being deleted; by whom is not known"}, nil
	case c.Verb == Delete:
		return remedies.Sight{Happened: remedies.HappenedNo, Never: live.GetResourceVersion() != c.ResourceVersion, Words: c.Ref().String() + " is still there"}, nil
	case marked(live, a.Mark()):
		return remedies.Sight{Happened: remedies.HappenedYes, Receipt: receipt(c, live)}, nil
	case c.Verb == Update && string(live.GetUID()) != c.UID:
		return remedies.Sight{Happened: remedies.HappenedUnsure, Words: "another " + c.Ref().String() + " is there than the one that was changed"}, nil
	case c.Verb == Update && live.GetResourceVersion() == c.ResourceVersion:
		return remedies.Sight{Happened: remedies.HappenedNo, Words: c.Ref().String() + " is unchanged"}, nil
	case marked(live, ancient):
		return remedies.Sight{Happened: remedies.HappenedUnsure, Words: "the server has put earlier changes of " + c.Ref().String() + " together, so that ours cannot be told from others'"}, nil
	case c.Verb == Update:
		return c.sightUnmarked(live), nil
	}
	// Not never: when that one is deleted, a request that is under way can still be stored.
	return remedies.Sight{Happened: remedies.HappenedNo, Words: "somebody else made " + c.Ref().String()}, nil
}

// sightUnmarked is what an object says about an update whose mark it does not have, though it was
// changed since it was read. A field manager is listed for as long as it owns a field: it
// loses one that others change, and a write that only takes something away gets none.
func (c *Object) sightUnmarked(live *unstructured.Unstructured) remedies.Sight {
	asWas, asWanted, other := compare(bound(live.Object), bound(c.Was), bound(c.Want))
	no := remedies.Sight{Happened: remedies.HappenedNo, Never: true, Words: c.Ref().String() + " was changed by others, and has no mark of ours"}
	unsure := remedies.Sight{Happened: remedies.HappenedUnsure, Unmarked: leavesMark(bound(c.Was), bound(c.Want))}
	switch {
	case asWanted == 0 && other == 0:
		return no
	case other > 0:
		unsure.Words = "others changed in " + c.Ref().String() + " what was to be changed, so that it cannot be told whether ours was before theirs"
		return unsure
	case asWas > 0:
		unsure.Words = "a part of " + c.Ref().String() + " is as it was to become, and a part as it was, so that it cannot be told whether others took a part of ours back"
		return unsure
	}
	return remedies.Sight{Happened: remedies.HappenedSo, Words: c.Ref().String() + " is as it was to become; by whom is not known"}
}

// leavesMark says whether a write that makes want out of was is listed among the field managers
// for certain: it sets something. One that only takes something away, or puts the items of a
// list into another order, may not be.
func leavesMark(was, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		old, ok := was.(map[string]any)
		if !ok {
			return true
		}
		for k, v := range want {
			before, had := old[k]
			if !had || leavesMark(before, v) {
				return true
			}
		}
		return false
	case []any:
		old, ok := was.([]any)
		if !ok {
			return true
		}
		for _, v := range want {
			if !slices.ContainsFunc(old, func(o any) bool { return reflect.DeepEqual(o, v) }) {
				return true
			}
		}
		return false
	}
	return !reflect.DeepEqual(was, want)
}

// compare counts, of the fields in which want differs from was, those that live has as they
// were, as they were wanted, and otherwise.
func compare(live, was, want map[string]any) (asWas, asWanted, other int) {
	for _, k := range keys(was, want) {
		old, had := was[k]
		ours, have := want[k]
		now, there := live[k]
		switch {
		case had == have && reflect.DeepEqual(old, ours):
		case isMap(old, had) && isMap(ours, have) && isMap(now, there): // a map that is gone is empty.
			a, b, c := compare(asMap(now), asMap(old), asMap(ours))
			asWas, asWanted, other = asWas+a, asWanted+b, other+c
		case there == have && reflect.DeepEqual(now, ours):
			asWanted++
		case there == had && reflect.DeepEqual(now, old):
			asWas++
		default:
			other++
		}
	}
	return asWas, asWanted, other
}

func (c *Object) sightOfNothing() remedies.Sight {
	switch c.Verb {
	case Delete:
		return remedies.Sight{Happened: remedies.HappenedSo, Words: c.Ref().String() + " is gone; by whom is not known"}
	case Update:
		return remedies.Sight{Happened: remedies.HappenedSo, Words: c.Ref().String() + " is gone, and with it whatever was changed"}
	case Create:
	}
	return remedies.Sight{Happened: remedies.HappenedNo, Words: c.Ref().String() + " is not there"}
}

// marked says whether a field manager has written to the object.
func marked(u *unstructured.Unstructured, manager string) bool {
	for _, f := range u.GetManagedFields() {
		if f.Manager == manager && f.Subresource == "" {
			return true
		}
	}
	return false
}

// onlyBy says whether all field managers that have written to the object, its status apart,
// begin with a prefix. An object without any is nobody's.
func onlyBy(u *unstructured.Unstructured, prefix string) bool {
	n := 0
	for _, f := range u.GetManagedFields() {
		if f.Subresource != "" {
			continue
		}
		if !strings.HasPrefix(f.Manager, prefix) {
			return false
		}
		n++
	}
	return n > 0
}

// Live reads the object as it is now; nil when it is not there.
func (c *Object) Live(ctx context.Context, s *remedies.Sites) (*unstructured.Unstructured, error) {
	r, err := c.client(ctx, s)
	if err != nil {
		return nil, err
	}
	live, err := r.Get(ctx, c.Name, metav1.GetOptions{})
	switch {
	case err == nil:
		return live, nil
	case notThere(err):
		return nil, nil
	}
	return nil, fmt.Errorf("cannot read %s: %s", c.Ref(), remedies.Short(err))
}

// UnderWay is how long a request without an answer may still be stored, counted from when nobody
// waits for its answer any more: a minute that an API server gives a request (--request-timeout),
// and three quarters of one on the network and in what stands between.
const UnderWay = 105 * time.Second
