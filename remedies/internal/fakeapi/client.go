package fakeapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Client is one way to the server. It is an [http.RoundTripper].
type Client struct {
	Server *Server
	// Name is who sends, in the lists of requests.
	Name string
	// Fault says how a request fails; nil: none does. It is called without any lock.
	Fault func(r *Request) Fault
}

// Dynamic is a dynamic client whose requests go through rt, such as a [Client]. It does not
// hold requests back.
func Dynamic(rt http.RoundTripper) (dynamic.Interface, error) {
	d, err := dynamic.NewForConfigAndClient(&rest.Config{Host: "https://fake.invalid", QPS: -1}, &http.Client{Transport: rt})
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	return d, nil
}

// ErrCut is a connection that broke, ErrRefused one that was never made.
var (
	ErrCut     = errors.New("connection reset by peer")
	ErrRefused = errors.New("dial tcp: connection refused")
)

// RoundTrip does one request.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	// What http.Transport tells a trace, so that whoever counts tries can do so here too.
	if t := httptrace.ContextClientTrace(req.Context()); t != nil && t.GetConn != nil {
		t.GetConn(req.URL.Host)
	}
	if err := req.Context().Err(); err != nil {
		return nil, err //nolint:wrapcheck // as http.Transport returns it.
	}
	r, err := parse(req)
	if err != nil {
		return nil, err
	}
	r.Client, r.At = c.Name, c.Server.Now()
	var f Fault
	if c.Fault != nil {
		f = c.Fault(r)
	}
	r.Fault = f.Kind
	if t := httptrace.ContextClientTrace(req.Context()); t != nil && t.WroteRequest != nil && f.Kind != Refused {
		t.WroteRequest(httptrace.WroteRequestInfo{})
	}
	c.Server.receive(r)
	done := func() (map[string]any, *metav1.Status) {
		c.Server.mu.Lock()
		defer c.Server.mu.Unlock()
		return c.Server.do(r)
	}
	later := func() { time.AfterFunc(f.After, func() { done() }) }
	switch f.Kind {
	case None:
		o, st := done()
		if st != nil {
			return answer(req, int(st.Code), st, st.Details != nil && len(st.Details.Causes) > 0), nil
		}
		if r.Verb == "delete" {
			return answer(req, http.StatusOK, &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess}, false), nil
		}
		return answer(req, http.StatusOK, o, false), nil
	case Silence:
		<-req.Context().Done()
		return nil, req.Context().Err() //nolint:wrapcheck // as http.Transport returns it.
	case StoredSilence:
		done()
		<-req.Context().Done()
		return nil, req.Context().Err() //nolint:wrapcheck // as http.Transport returns it.
	case Delayed:
		<-req.Context().Done()
		later()
		return nil, req.Context().Err() //nolint:wrapcheck // as http.Transport returns it.
	case Refused:
		return nil, ErrRefused
	case Cut:
		return nil, ErrCut
	case StoredCut:
		done()
		return nil, ErrCut
	case Forbidden:
		return answer(req, 403, refuse(403, metav1.StatusReasonForbidden, "%s %q is forbidden: not now", r.Resource.GroupResource(), r.Name), false), nil
	case Conflict:
		return answer(req, 409, refuse(409, metav1.StatusReasonConflict, "Operation cannot be fulfilled on %s %q: the object has been modified", r.Resource.GroupResource(), r.Name), false), nil
	case NotServed:
		return answer(req, 404, nil, true), nil
	case Failed:
		return answer(req, 500, refuse(500, metav1.StatusReasonInternalError, "Internal error occurred: etcdserver: no leader"), false), nil
	case StoredFailed:
		done()
		return answer(req, 500, refuse(500, metav1.StatusReasonInternalError, "Internal error occurred: etcdserver: request timed out"), false), nil
	case StoredUnavailable, StoredUnavailableRetry:
		done()
	case DelayedUnavailableRetry:
		later()
	case Unavailable, UnavailableRetry:
	}
	resp := answer(req, 503, refuse(503, metav1.StatusReasonServiceUnavailable, "the server is currently unable to handle the request"), false)
	if f.Kind == UnavailableRetry || f.Kind == StoredUnavailableRetry || f.Kind == DelayedUnavailableRetry {
		resp.Header.Set("Retry-After", "1")
	}
	return resp, nil
}

func (s *Server) receive(r *Request) {
	if !r.Write() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, *r)
}

// answer makes a response; a plain one is text, as a server answers for paths that it does not know.
func answer(req *http.Request, code int, body any, plain bool) *http.Response {
	h := http.Header{}
	data := []byte("404 page not found\n")
	if plain {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	} else {
		h.Set("Content-Type", "application/json")
		var err error
		if data, err = json.Marshal(body); err != nil {
			code, data = 500, []byte(err.Error())
		}
	}
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h,
		Body: io.NopCloser(bytes.NewReader(data)), ContentLength: int64(len(data)), Request: req}
}

// parse reads a request of client-go's dynamic client.
func parse(req *http.Request) (*Request, error) {
	part := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	r := &Request{}
	switch {
	case len(part) > 2 && part[0] == "api":
		r.Resource.Version, part = part[1], part[2:]
	case len(part) > 3 && part[0] == "apis":
		r.Resource.Group, r.Resource.Version, part = part[1], part[2], part[3:]
	default:
		r.Verb, r.Path = "discover", strings.Trim(req.URL.Path, "/")
		return r, nil
	}
	if part[0] == "namespaces" && len(part) > 2 {
		r.Namespace, part = part[1], part[2:]
	}
	r.Resource = schema.GroupVersionResource{Group: r.Resource.Group, Version: r.Resource.Version, Resource: part[0]}
	if len(part) > 1 {
		r.Name = part[1]
	}
	q := req.URL.Query()
	r.Manager, r.Dry = q.Get("fieldManager"), q.Get("dryRun") != ""
	r.Labels, r.Fields = q.Get("labelSelector"), q.Get("fieldSelector")
	if l := q.Get("limit"); l != "" {
		n, err := strconv.Atoi(l)
		if err != nil {
			return nil, fmt.Errorf("the limit %q is no number", l)
		}
		r.Limit = n
	}
	switch {
	case req.Method == http.MethodGet && r.Name == "":
		r.Verb = "list"
	case req.Method == http.MethodGet:
		r.Verb = "get"
	case req.Method == http.MethodPost:
		r.Verb = "create"
	case req.Method == http.MethodPut:
		r.Verb = "update"
	case req.Method == http.MethodDelete:
		r.Verb = "delete"
	default:
		return nil, fmt.Errorf("the method %s is not known here", req.Method)
	}
	if req.Body == nil {
		return r, nil
	}
	data, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("cannot read the request: %w", err)
	}
	if len(data) == 0 {
		return r, nil
	}
	if r.Verb == "delete" {
		var o metav1.DeleteOptions
		if err := json.Unmarshal(data, &o); err != nil {
			return nil, fmt.Errorf("cannot read the options: %w", err)
		}
		r.Dry = len(o.DryRun) > 0
		if p := o.Preconditions; p != nil {
			if p.UID != nil {
				r.UID = string(*p.UID)
			}
			if p.ResourceVersion != nil {
				r.ResourceVersion = *p.ResourceVersion
			}
		}
		return r, nil
	}
	if err := utiljson.Unmarshal(data, &r.Body); err != nil {
		return nil, fmt.Errorf("cannot read the object: %w", err)
	}
	m, _ := r.Body["metadata"].(map[string]any)
	text := func(f string) string { s, _ := m[f].(string); return s }
	if r.Verb == "create" {
		r.Name = text("name")
		return r, nil
	}
	r.UID, r.ResourceVersion = text("uid"), text("resourceVersion")
	return r, nil
}
