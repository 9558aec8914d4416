package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"vksmedic/probes/bounds"
)

// Client reads lists page by page and watches event by event. Its methods may be called from any
// goroutine.
type Client struct {
	rest rest.Interface
	gate bounds.Gate
}

// largeAtOnce is how many large objects of one server are held at a time.
const largeAtOnce = 2

// NewClient makes a client that goes through h, which has a [Transport].
func NewClient(config *rest.Config, h *http.Client) (*Client, error) {
	c := dynamic.ConfigFor(config)
	c.GroupVersion, c.APIPath = &schema.GroupVersion{}, "/"
	c.AcceptContentTypes, c.ContentType = "application/json", "application/json"
	r, err := rest.UnversionedRESTClientForConfigAndClient(c, h)
	if err != nil {
		return nil, fmt.Errorf("cannot read from %s: %w", config.Host, err)
	}
	return &Client{rest: r, gate: bounds.NewGate(largeAtOnce)}, nil
}

// What says which objects are read.
type What struct {
	schema.GroupVersionResource
	// Namespace is empty for everywhere.
	Namespace string
	// Kind is given to items that do not say theirs, as lists of the API leave it out.
	Kind           string
	Fields, Labels string
}

func (w What) path() []string {
	p := []string{"apis", w.Group, w.Version}
	if w.Group == "" {
		p = []string{"api", w.Version}
	}
	if w.Namespace != "" {
		p = append(p, "namespaces", w.Namespace)
	}
	return append(p, w.Resource)
}

func (c *Client) request(w What) *rest.Request {
	r := c.rest.Get().AbsPath(w.path()...)
	if w.Fields != "" {
		r = r.Param("fieldSelector", w.Fields)
	}
	if w.Labels != "" {
		r = r.Param("labelSelector", w.Labels)
	}
	return r
}

// Page is what a page of a list says besides its items.
type Page struct {
	ResourceVersion, Continue string
	// Items is how many there were.
	Items int
}

// slack is how many items more than were asked for a page may have.
const slack = 10

// wholeLimit is how many items a list may have that is asked for without a limit.
const wholeLimit = 50_000

// Item takes an item of a list as it comes: decoded, with the size of its text in bytes, or with the
// error that it could not be, and what could be made out of it. An error that it returns ends the page.
type Item func(object map[string]any, size int, err error) error

// Page reads one page and hands each item over. limit is how many items are asked for, 0 for all; a page with more is an error.
func (c *Client) Page(ctx context.Context, w What, limit int, token string, item Item) (Page, error) {
	r := c.request(w)
	if limit > 0 {
		r = r.Param("limit", strconv.Itoa(limit))
	}
	if token != "" {
		r = r.Param("continue", token)
	}
	body, err := r.Stream(streaming(ctx))
	if err != nil {
		return Page{}, err //nolint:wrapcheck // the caller says what it was about.
	}
	defer func() { _ = body.Close() }() // It was only read.
	most, whole := limit+slack, int64(listLimit)
	if limit == 0 {
		most, whole = wholeLimit, whole*4
	}
	in := &bounds.Reader{In: body, Left: whole, Err: &bounds.TooLargeError{What: "a page of the list", Limit: bounds.Size(whole)}}
	s := bounds.NewScanner(ctx, in, bounds.Object(), c.gate)
	defer s.Done()
	return readPage(s, w, most, item)
}

func readPage(s *bounds.Scanner, w What, most int, item Item) (Page, error) {
	var p Page
	isList := false
	err := s.Object(func(name string) error {
		switch next, err := s.Next(); {
		case err != nil:
			return err //nolint:wrapcheck // the caller says what it was about.
		case name == "items" && next == '[':
			isList = true
			return s.List(func() error { //nolint:wrapcheck // the caller says what it was about.
				p.Items++
				if p.Items > most {
					return &bounds.TooLargeError{What: "a page of the list", Limit: fmt.Sprintf("%d objects", most)}
				}
				return takeItem(s, w, item)
			})
		}
		raw, err := s.Value()
		if err != nil {
			return err //nolint:wrapcheck // the caller says what it was about.
		}
		switch name {
		case "items":
			isList = string(raw) == "null" // How Go writes an empty one.
		case "metadata":
			var m metav1.ListMeta
			if err := json.Unmarshal(raw, &m); err != nil {
				return fmt.Errorf("the metadata of the list is not understood: %w", err)
			}
			p.ResourceVersion, p.Continue = m.ResourceVersion, m.Continue
		}
		return nil
	})
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return p, fmt.Errorf("the list breaks off: %w", err)
	case err != nil:
		return p, fmt.Errorf("the list is not understood: %w", err)
	case !isList:
		return p, fmt.Errorf("the list is not understood: %w", errNoItems)
	}
	return p, nil
}

// errNoItems is the answer to a list that has none.
var errNoItems = errors.New("it has no items")

// takeItem decodes an item. Of one that is too large only its name is known.
func takeItem(s *bounds.Scanner, w What, item Item) error {
	before := s.Offset()
	u, err := take(s)
	switch {
	case err == nil:
		named(u, w)
	case u == nil && !odd(err):
		return err
	}
	return item(u, int(s.Offset()-before), err)
}

// take takes a value as an object. Of one that exceeds its limits there is what it says of itself before
// that, and the error.
func take(s *bounds.Scanner) (map[string]any, error) {
	raw, err := s.Value()
	switch large := (*bounds.TooLargeError)(nil); {
	case errors.As(err, &large):
		return head(raw), err //nolint:wrapcheck // the caller says what it was about.
	case err != nil:
		return nil, err //nolint:wrapcheck // the caller says what it was about.
	}
	u, err := decode(raw)
	if err != nil {
		return nil, &oddError{err}
	}
	return u, nil
}

// oddError is about one value; what comes behind it can be read.
type oddError struct{ cause error }

func (e *oddError) Error() string { return e.cause.Error() }
func (e *oddError) Unwrap() error { return e.cause }

func odd(err error) bool {
	var o *oddError
	var large *bounds.TooLargeError
	return errors.As(err, &o) || errors.As(err, &large)
}

// head reads of the beginning of an object what it is: its kind and its metadata, where they stand first.
func head(raw []byte) map[string]any {
	u := map[string]any{}
	s := bounds.NewScanner(context.Background(), bytes.NewReader(raw), bounds.Object(), nil)
	_ = s.Object(func(name string) error { // It is cut off, which is no news.
		raw, err := s.Value()
		if err != nil {
			return err //nolint:wrapcheck // nobody sees it.
		}
		switch name {
		case "kind", "apiVersion", "metadata":
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				return err //nolint:wrapcheck // nobody sees it.
			}
			u[name] = v
		}
		return nil
	})
	return u
}

var errNotObject = errors.New("it is no object")

func decode(raw []byte) (map[string]any, error) {
	var u map[string]any
	if err := json.Unmarshal(raw, &u); err != nil {
		return nil, fmt.Errorf("it is not understood: %w", err)
	}
	if u == nil {
		return nil, errNotObject
	}
	return u, nil
}

// named gives an item the kind that it leaves out.
func named(u map[string]any, w What) {
	if k, ok := u["kind"]; !ok || k == "" {
		u["kind"] = w.Kind
	}
	if v, ok := u["apiVersion"]; !ok || v == "" {
		u["apiVersion"] = w.GroupVersion().String()
	}
}

// Watching says from where and for how long a watch is asked for.
type Watching struct {
	ResourceVersion string
	// Life is how long the server is asked to keep it open.
	Life time.Duration
}

// Event is what a watch says. Where its object cannot be read Err says why, and Object is what could be
// made out of it, nil for nothing.
type Event struct {
	// Type is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
	Type   string
	Object map[string]any
	Err    error
}

// Watch opens a watch.
func (c *Client) Watch(ctx context.Context, w What, o Watching) (*Stream, error) {
	r := c.request(w).Param("watch", "true").Param("allowWatchBookmarks", "true").
		Param("resourceVersion", o.ResourceVersion).Param("timeoutSeconds", strconv.Itoa(int(o.Life/time.Second)))
	body, err := r.Stream(streaming(ctx))
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it was about.
	}
	return &Stream{body: body, s: bounds.NewScanner(ctx, body, bounds.Object(), c.gate), what: w}, nil
}

// Stream is an open watch. It belongs to one goroutine; Close may be called from another.
type Stream struct {
	body io.ReadCloser
	s    *bounds.Scanner
	what What
}

// Close ends the watch.
func (s *Stream) Close() { _ = s.body.Close() }

// Next waits for the next event. io.EOF means that the server closed the watch; any other error that
// the rest of it cannot be read.
func (s *Stream) Next() (Event, error) {
	defer s.s.Done()
	if _, err := s.s.Next(); err != nil {
		return Event{}, err //nolint:wrapcheck // io.EOF has to stay what it is.
	}
	e := Event{Err: errNotObject}
	err := s.s.Object(func(name string) error {
		if name == "object" {
			e.Object, e.Err = take(s.s)
			if e.Err != nil && !odd(e.Err) {
				return e.Err
			}
			return nil
		}
		raw, err := s.s.Value()
		if err != nil || name != "type" {
			return err //nolint:wrapcheck // it is wrapped below.
		}
		return json.Unmarshal(raw, &e.Type) //nolint:wrapcheck // it is wrapped below.
	})
	if err != nil {
		return Event{}, fmt.Errorf("an event is not understood: %w", err)
	}
	if e.Err == nil && e.Type != "ERROR" {
		named(e.Object, s.what)
	}
	return e, nil
}
