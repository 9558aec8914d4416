package workload

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"vksmedic/model"
)

const bound = `E1 run.go:74] "command failed" err="failed to create listener: failed to listen on 127.0.0.1:10259: listen tcp 127.0.0.1:10259: bind: address already in use"`

// static is the mirror of a static pod whose container ended restarts times.
func static(component, node string, restarts int64) map[string]any {
	p := pod("kube-system", component+"-"+node, component+"-uid", node, false)
	meta, _ := p["metadata"].(map[string]any)
	meta["labels"] = map[string]any{"component": component}
	meta["annotations"] = map[string]any{"kubernetes.io/config.mirror": "h"}
	p["status"] = map[string]any{"phase": "Running", "containerStatuses": []any{map[string]any{
		"name": component, "ready": false, "restartCount": restarts, "state": map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}},
		"lastState": map[string]any{"terminated": map[string]any{"exitCode": int64(1), "reason": "Error"}}}}}
	return p
}

func clientOf(t *testing.T, i *inside) *client {
	t.Helper()
	config, err := Vet(write(t, i.config()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := newClient(config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The log of a system component that fails on a node which is not ready is read, the one before
// too, once for each time it was started, and nobody else's.
func TestLogsOfFailingComponents(t *testing.T) {
	i := newInside(t)
	i.set("nodes", node("n1", "False", false))
	i.set("pods", static("kube-scheduler", "n1", 4), pod("shop", "cart", "cart-uid", "n1", false))
	i.handle(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/log") {
			return false
		}
		if r.URL.Query().Get("previous") == "" {
			http.Error(w, `{"kind":"Status"}`, http.StatusForbidden)
			return true
		}
		_, _ = w.Write([]byte(bound + "\n"))
		return true
	})
	c := clientOf(t, i)
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	see := func(before *model.Workload) *model.Workload {
		w, err := look(t.Context(), c, ref(), nil, before, func() time.Time { return at })
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := see(nil)
	if len(w.Logs) != 2 || w.Logs[0].Text != bound+"\n" || !w.Logs[0].Previous || w.Logs[0].Restarts != 4 || !w.Logs[0].Read.Equal(at) {
		t.Fatalf("%+v", w.Logs)
	}
	if w.Logs[1].Text != "" || !strings.Contains(w.Logs[1].Why, "pods/log") {
		t.Errorf("%+v", w.Logs[1])
	}
	if i.asked("/cart/log") != 0 || i.asked("limitBytes=") != 2 || i.asked("tailLines=") != 2 {
		t.Errorf("requests: %v", i.requests)
	}
	see(w)
	if n := i.asked("previous=true"); n != 1 {
		t.Errorf("the same log was read %d times", n)
	}
	i.set("pods", static("kube-scheduler", "n1", 5))
	see(w)
	if n := i.asked("previous=true"); n != 2 {
		t.Errorf("the log of the next try was read %d times in all", n)
	}
}

// An endless log is cut.
func TestLogsAreBounded(t *testing.T) {
	i := newInside(t)
	i.set("nodes", node("n1", "Unknown", false))
	i.set("pods", static("etcd", "n1", 1))
	i.handle(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/log") {
			return false
		}
		for range 1024 {
			if _, err := w.Write([]byte(strings.Repeat("x", 1024))); err != nil {
				break
			}
		}
		return true
	})
	c := clientOf(t, i)
	w, err := look(t.Context(), c, ref(), nil, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range w.Logs {
		if len(l.Text) > logBytes {
			t.Errorf("%d bytes", len(l.Text))
		}
	}
}
