package workload

import (
	"context"
	"io"
	"net/http"
	"testing"
)

// What a cluster serves is asked with its credentials, and for as long as somebody waits.
func TestDiscovery(t *testing.T) {
	i := newInside(t)
	i.handle(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "Bearer s3cr3t" || r.URL.Path != "/api/v1" {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"nodes","kind":"Node"}]}`)
		return true
	})
	l := New(Config{Secret: secretOf(func() []byte { return write(t, i.config()) })})
	ctx, cancel := context.WithCancel(t.Context())
	d, err := l.Discovery(ctx, ref())
	if err != nil {
		t.Fatal(err)
	}
	list, err := d.ServerResourcesForGroupVersion("v1")
	if err != nil || len(list.APIResources) != 1 || list.APIResources[0].Kind != "Node" {
		t.Errorf("%+v %v", list, err)
	}
	i.handle(func(http.ResponseWriter, *http.Request) bool {
		cancel()
		<-ctx.Done()
		return true
	})
	if _, err := d.ServerResourcesForGroupVersion("v1"); err == nil {
		t.Error("nobody waits any more, and there is an answer")
	}
}
