package labtest

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// Request is one line of the Supervisor's audit log: what a user asked for.
type Request struct {
	Stage string `json:"stage"`
	Verb  string `json:"verb"`
	URI   string `json:"requestURI"`
	User  struct {
		Username string `json:"username"`
	} `json:"user"`
	Object struct {
		Resource  string `json:"resource"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"objectRef"`
	// Body is what was sent with a deletion, which asks for a dry run in its body.
	Body struct {
		DryRun []string `json:"dryRun"`
	} `json:"requestObject"`
}

// Requests are the requests of users since a place in the audit log, and the place to go
// on from. The first place is 0.
func (l *Lab) Requests(t testing.TB, since int64) (requests []Request, next int64) {
	t.Helper()
	f, err := os.Open(l.Supervisor.AuditLog)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(since, 0); err != nil {
		t.Fatal(err)
	}
	next = since
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return requests, next // a line that is not complete yet is read by the next call.
		}
		next += int64(len(line))
		var q Request
		if json.Unmarshal(line, &q) == nil {
			requests = append(requests, q)
		}
	}
}

// Writes says whether the request stored something: a dry run and a question about rights
// do not.
func (r *Request) Writes() bool {
	switch r.Verb {
	case "get", "list", "watch":
		return false
	}
	switch r.Object.Resource {
	case "selfsubjectaccessreviews", "selfsubjectreviews", "selfsubjectrulesreviews":
		return false
	}
	return len(r.Body.DryRun) == 0 && !strings.Contains(r.URI, "dryRun=All")
}
