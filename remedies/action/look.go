package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/probes/supervisor"
	"vksmedic/remedies"
	"vksmedic/remedies/kb"
)

// look reads objects live and shows them.
type look struct{}

var _ remedies.Looker = look{}

// The bounds of what is read and shown.
const (
	// mostObjects is how many objects of one list are read.
	mostObjects = 500
	// cellLimit and valueLimit are how many bytes of a value are shown, in a list and of a single object.
	cellLimit, valueLimit = 60, 300
	// readTimeout bounds the reading of one kind, so that a place that does not answer does not
	// keep the others from being shown.
	readTimeout = 8 * time.Second
)

// Kind is look.
func (look) Kind() remedies.StepKind { return remedies.StepLook }

// Look reads all that the article names. What cannot be read is a line that says so; an error is
// returned where nothing could be read at all.
func (look) Look(ctx context.Context, s *remedies.Scene) (remedies.Found, error) {
	p, ok := s.Params.(*kb.Look)
	if !ok {
		return remedies.Found{}, wrongParams("look", s.Params)
	}
	var out remedies.Found
	if p.Note != "" {
		out.Lines = append(out.Lines, remedies.Line{Sign: ' ', Text: text.Clean(p.Note)})
	}
	var read, trouble []string
	for i := range p.Objects {
		q := &p.Objects[i]
		lines, n, err := lookFor(ctx, s, q)
		var asking *remedies.Asking
		switch {
		case errors.As(err, &asking):
			return remedies.Found{}, err
		case ctx.Err() != nil:
			return remedies.Found{}, fmt.Errorf("the look was broken off: %w", ctx.Err())
		case err != nil:
			words := titleOf(q) + ": " + remedies.Short(err)
			trouble = append(trouble, words)
			out.Lines = append(out.Lines, remedies.Line{Sign: '!', Text: text.Clean(words)})
		default:
			read = append(read, fmt.Sprintf("%s: %d", q.Kind, n))
			out.Lines = append(out.Lines, lines...)
		}
	}
	if len(read) == 0 && len(trouble) > 0 {
		return remedies.Found{}, fmt.Errorf("nothing could be read: %s", strings.Join(trouble, "; "))
	}
	out.Note = text.Clean(strings.Join(read, ", "))
	return out, nil
}

func wrongParams(action string, got any) error {
	return fmt.Errorf("action %s was given %T, which are not its parameters", action, got)
}

func titleOf(q *kb.ObjectQuery) string {
	if q.Title != "" {
		return q.Title
	}
	return q.Kind
}

// lookFor reads what one query names, and says how many there are.
func lookFor(ctx context.Context, s *remedies.Scene, q *kb.ObjectQuery) ([]remedies.Line, int, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if strings.Contains(q.Selector, kb.NotKnown) {
		return nil, 0, unfitf("the finding does not say which are meant: %s", q.Selector)
	}
	o, err := locate(ctx, s, named{group: q.Group, kind: q.Kind, namespace: q.Namespace, name: q.Name, inCluster: q.InCluster(), all: true})
	if err != nil {
		return nil, 0, err
	}
	columns, err := columnsOf(q)
	if err != nil {
		return nil, 0, err
	}
	items, more, err := o.read(ctx, s, q.Selector)
	if err != nil {
		return nil, 0, err
	}
	head := text.Clean(titleOf(q))
	switch {
	case len(items) == 0 && q.Name != "":
		return []remedies.Line{{Sign: '!', Text: head + ": " + text.Clean(o.ref().String()) + " is not there"}}, 0, nil
	case len(items) == 0:
		return []remedies.Line{{Sign: ' ', Text: head + ": none" + o.where()}}, 0, nil
	case len(items) == 1 && q.Name != "":
		return single(s, head, o, &items[0], columns), 1, nil
	}
	lines := []remedies.Line{{Sign: ' ', Text: fmt.Sprintf("%s: %d%s", head, len(items), o.where())}}
	var rows [][]string
	var titles []string
	for _, c := range columns {
		titles = append(titles, c.title)
	}
	rows = append(rows, titles)
	for i := range items {
		var row []string
		for _, c := range columns {
			row = append(row, text.Limit(c.path.of(items[i].Object), cellLimit))
		}
		rows = append(rows, row)
	}
	lines = append(lines, table(rows)...)
	if more != "" {
		lines = append(lines, remedies.Line{Sign: '!', Text: fmt.Sprintf("only the first %d are shown; %s", len(items), more)})
	}
	return lines, len(items), nil
}

// single are the lines for one object: a column is a line.
func single(s *remedies.Scene, head string, o *spot, u *unstructured.Unstructured, columns []column) []remedies.Line {
	first := text.Clean(o.ref().String())
	if head != o.kind {
		first = head + ": " + first
	}
	lines := []remedies.Line{{Sign: ' ', Text: first}}
	if words := ending(s, u); words != "" {
		lines = append(lines, remedies.Line{Sign: '!', Text: "  " + words})
	}
	var rows [][]string
	for _, c := range columns {
		rows = append(rows, []string{c.title, text.Limit(c.path.of(u.Object), valueLimit)})
	}
	return append(lines, table(rows)...)
}

// where says in which namespace a list was read.
func (o *spot) where() string {
	if o.namespace == "" {
		return ""
	}
	return " in " + text.Clean(o.namespace)
}

// table writes rows in columns that stand below one another.
func table(rows [][]string) []remedies.Line {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 1, 2, ' ', 0)
	for _, r := range rows {
		_, _ = fmt.Fprintln(w, "  "+strings.Join(r, "\t")) // a buffer takes everything.
	}
	_ = w.Flush()
	var out []remedies.Line
	for l := range strings.Lines(b.String()) {
		out = append(out, remedies.Line{Sign: ' ', Text: strings.TrimRight(l, " \n")})
	}
	return out
}

type column struct {
	title string
	path  *path
}

func columnsOf(q *kb.ObjectQuery) ([]column, error) {
	var out []column
	for _, c := range q.Columns {
		p, err := newPath(c.Path)
		if err != nil {
			return nil, err
		}
		out = append(out, column{text.Clean(c.Title), p})
	}
	return out, nil
}

// read reads the object, or the list; more says how many are left out.
func (o *spot) read(ctx context.Context, s *remedies.Scene, selector string) (items []unstructured.Unstructured, more string, err error) {
	if o.name != "" && (!o.namespaced || o.namespace != "") {
		u, err := o.live(ctx, s)
		if err != nil || u == nil {
			return nil, "", err
		}
		return []unstructured.Unstructured{*u}, "", nil
	}
	if _, err := labels.Parse(selector); err != nil {
		return nil, "", unfitf("%q is no label selector", selector)
	}
	dyn, err := s.Sites.API(ctx, o.at)
	if err != nil {
		return nil, "", err //nolint:wrapcheck // it names the place already.
	}
	var c dynamic.ResourceInterface = dyn.Resource(o.gvr)
	if o.namespace != "" {
		c = dyn.Resource(o.gvr).Namespace(o.namespace)
	}
	opts := metav1.ListOptions{LabelSelector: selector, Limit: mostObjects}
	if o.name != "" {
		opts.FieldSelector = "metadata.name=" + o.name
	}
	list, err := c.List(ctx, opts)
	if err != nil {
		return nil, "", o.cannotList(ctx, s, err)
	}
	if list.GetContinue() != "" || len(list.Items) > mostObjects {
		more = "there are more"
		if n := list.GetRemainingItemCount(); n != nil && *n > 0 {
			more = fmt.Sprintf("%d more are there", *n)
		}
	}
	return list.Items[:min(len(list.Items), mostObjects)], more, nil
}

// cannotList says why a list could not be read.
func (o *spot) cannotList(ctx context.Context, s *remedies.Scene, err error) error {
	if apierrors.IsForbidden(err) && o.at.Kind == model.PlaceSupervisor {
		why := s.Sites.Supervisor.WhyForbidden(ctx, supervisor.Ask{Verb: "list", Group: o.gvr.Group, Resource: o.gvr.Resource, Namespace: o.namespace}, err)
		return unfitf("cannot be listed: %s", why.Words)
	}
	return failed(err, "cannot list %s%s", o.gvr.GroupResource(), o.where())
}
