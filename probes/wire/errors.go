package wire

import (
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vksmedic/model/text"
)

// RedirectError says that a server wanted to send the request elsewhere.
type RedirectError struct {
	// To is where: scheme and host only.
	To string
}

// Error implements error.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("the answer sends the request on to %s, and the login goes to no other server: refused", text.Limit(text.Clean(e.To), 200))
}

// ElsewhereError says that a request was about to go to another server than the one that its
// credentials are for.
type ElsewhereError struct{ To, Pinned string }

// Error implements error.
func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("a request to %s was not sent: the login is for %s", text.Limit(text.Clean(e.To), 200), text.Clean(e.Pinned))
}

// LongestWait is how long a server is left alone at most when it asks for it. API servers ask for
// seconds; one that asks for years would never be looked at again.
const LongestWait = time.Hour

// WaitError says that a server asks to be left alone for some time. It is an API status, so that
// what knows those knows this too.
type WaitError struct {
	// Code is the HTTP status.
	Code int
	// Asked is what the server asked for; For is how long it is left alone.
	Asked, For time.Duration
}

// Error implements error.
func (e *WaitError) Error() string {
	return fmt.Sprintf("it answers %d %s and asks to wait %s", e.Code, http.StatusText(e.Code), text.Age(e.Asked))
}

// Status implements the API's status error.
func (e *WaitError) Status() metav1.Status {
	reason := metav1.StatusReasonTooManyRequests
	if e.Code != http.StatusTooManyRequests {
		reason = metav1.StatusReasonServiceUnavailable
	}
	return metav1.Status{
		Status: metav1.StatusFailure, Code: int32(e.Code), Reason: reason, Message: e.Error(), //nolint:gosec // a status has three digits.
		Details: &metav1.StatusDetails{RetryAfterSeconds: int32(e.For / time.Second)}, //nolint:gosec // an hour at most.
	}
}
