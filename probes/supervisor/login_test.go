package supervisor

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"vksmedic/model"
)

func connectError(t *testing.T, opts Options, words ...string) {
	t.Helper()
	_, err := Connect(t.Context(), opts)
	if err == nil {
		t.Fatal("no error")
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

func TestKubeconfigThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		f := filepath.Join(dir, name)
		if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return f
	}
	t.Setenv("KUBECONFIG", filepath.Join(dir, "nowhere"))
	connectError(t, Options{}, "no kubeconfig found", "nowhere", "--kubeconfig")
	connectError(t, Options{Kubeconfig: filepath.Join(dir, "missing")}, "no file", "missing")
	connectError(t, Options{Kubeconfig: write("empty", "")}, "is empty", "kubectl vsphere login")
	connectError(t, Options{Kubeconfig: write("binary", "\x00\x01\x02")}, "cannot be understood")
	connectError(t, Options{Kubeconfig: dir}, dir)
	f := newFakeAPI(t)
	good := f.kubeconfig(t, func(c *api.Config) { c.Contexts["other"] = &api.Context{Cluster: "nothing"} })
	connectError(t, Options{Kubeconfig: good, Context: "prod"}, `no context "prod"`, "other, sv")
	connectError(t, Options{Kubeconfig: good, Context: "other"}, "other")
	none := f.kubeconfig(t, func(c *api.Config) { c.CurrentContext = "" })
	connectError(t, Options{Kubeconfig: none}, "no current context", "sv")
	if os.Getuid() != 0 {
		locked := write("locked", "x")
		if err := os.Chmod(locked, 0); err != nil {
			t.Fatal(err)
		}
		connectError(t, Options{Kubeconfig: locked}, "may not be read")
	}
}

func TestKubeconfigListIsMerged(t *testing.T) {
	f := newFakeAPI(t)
	users := f.kubeconfig(t, func(c *api.Config) { c.Clusters, c.Contexts, c.CurrentContext = nil, nil, "" })
	rest := f.kubeconfig(t, func(c *api.Config) { c.AuthInfos = nil })
	t.Setenv("KUBECONFIG", users+string(filepath.ListSeparator)+filepath.Join(t.TempDir(), "missing")+string(filepath.ListSeparator)+rest)
	f.setToken("one")
	c, err := Connect(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if id, err := c.Identity(t.Context()); err != nil || id != "the-uid" {
		t.Errorf("%q, %v", id, err)
	}
}

func TestRenewedLoginIsPickedUp(t *testing.T) {
	f := newFakeAPI(t)
	f.setToken("one")
	f.put("ns", "m1", "Running")
	file := f.kubeconfig(t, nil)
	_, p := watched(t, Options{Kubeconfig: file})
	eventually(t, p, "m1 is seen", func(s *model.Snapshot) bool { return machine(s, "m1") != nil && f.watching() == 1 })

	f.setToken("two")
	f.dropWatches()
	eventually(t, p, "the expired login is named", sourceIs("supervisor/machines", model.SourceStale, "kubectl vsphere login --server=192.0.2.10 --vsphere-username anna@vsphere.local"))
	eventually(t, p, "also as what is wrong with the login", sourceIs("supervisor/login", model.SourceStale, "kubectl vsphere login --server=192.0.2.10"))
	rewrite(t, file, func(c *api.Config) { c.AuthInfos["wcp:192.0.2.10:anna@vsphere.local"].Token = "two" })
	f.put("ns", "m2", "Running")
	eventually(t, p, "the new login is used", func(s *model.Snapshot) bool {
		return sourceIs("supervisor/machines", model.SourceOK)(s) && machine(s, "m2") != nil && s.Source("supervisor/login") == nil
	})
}

func TestAnotherServerIsRefused(t *testing.T) {
	f := newFakeAPI(t)
	f.setToken("one")
	other := newFakeAPI(t)
	for name, c := range map[string]struct {
		change func(*api.Cluster)
		word   string
	}{
		"server": {func(c *api.Cluster) { c.Server = other.URL }, "server"},
		"certificate authority": {func(c *api.Cluster) {
			c.CertificateAuthorityData = append([]byte("# other\n"), c.CertificateAuthorityData...)
		}, "certificate authority"},
		"insecure": {func(c *api.Cluster) { c.InsecureSkipTLSVerify, c.CertificateAuthorityData = true, nil }, "certificate authority"},
		"proxy":    {func(c *api.Cluster) { c.ProxyURL = "http://192.0.2.1:3128" }, "proxy-url"},
	} {
		t.Run(name, func(t *testing.T) {
			file := f.kubeconfig(t, nil)
			now := time.Now()
			var mu sync.Mutex
			clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
			conn, p := watched(t, Options{Kubeconfig: file, Now: clock})
			eventually(t, p, "it is watched", sourceIs("supervisor/machines", model.SourceOK))
			rewrite(t, file, func(k *api.Config) { c.change(k.Clusters["sv"]) })
			mu.Lock()
			now = now.Add(time.Minute)
			mu.Unlock()
			if _, err := conn.Identity(t.Context()); err != nil {
				t.Errorf("the old login no longer works: %v", err)
			}
			eventually(t, p, "it is refused in words", sourceIs("supervisor/login", model.SourceStale, c.word, "refused"))
			rewrite(t, file, func(k *api.Config) {
				*k.Clusters["sv"] = api.Cluster{Server: f.URL, CertificateAuthorityData: pemOf(f.Certificate().Raw)}
			})
			mu.Lock()
			now = now.Add(time.Minute)
			mu.Unlock()
			if _, err := conn.Identity(t.Context()); err != nil {
				t.Error(err)
			}
			eventually(t, p, "the trouble is over", func(s *model.Snapshot) bool { return s.Source("supervisor/login") == nil })
		})
	}
	if n := other.asked("/"); n != 0 {
		t.Errorf("the other server was asked %d times", n)
	}
}

// plugged makes a kubeconfig whose user logs in by a plug-in: a shell script.
func plugged(t *testing.T, f *fakeAPI, script string) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "login-tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // it has to be run.
		t.Fatal(err)
	}
	return f.kubeconfig(t, func(c *api.Config) {
		c.AuthInfos["wcp:192.0.2.10:anna@vsphere.local"] = &api.AuthInfo{Exec: &api.ExecConfig{
			APIVersion: "client.authentication.k8s.io/v1", Command: tool, InteractiveMode: api.IfAvailableExecInteractiveMode,
		}}
	})
}

func TestLoginPluginRunsBeforeTheScreenAndStaysOffIt(t *testing.T) {
	f := newFakeAPI(t)
	f.setToken("from-plugin")
	file := plugged(t, f, `echo "touch your key" >&2
echo run >>"$0.runs"
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"from-plugin"}}'
`)
	var mu sync.Mutex
	var shown, logged bytes.Buffer
	locked := func(b *bytes.Buffer) *lockedWriter { return &lockedWriter{&mu, b} }
	c, err := Connect(t.Context(), Options{Kubeconfig: file, Err: locked(&shown), Log: slog.New(slog.NewTextHandler(locked(&logged), nil))})
	if err != nil {
		t.Fatal(err)
	}
	if n := f.asked("/"); n != 0 {
		t.Errorf("Connect asked the server %d times", n)
	}
	if err := c.LogIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := f.asked("/"); n != 0 {
		t.Errorf("LogIn asked the server %d times", n)
	}
	until(t, "what the plug-in says is shown", func() bool { return locked(&shown).has("touch your key") })

	restore, err := c.DetachTerminal()
	if err != nil {
		t.Fatal(err)
	}
	if id, err := c.Identity(t.Context()); err != nil || id != "the-uid" {
		t.Fatalf("%q, %v", id, err)
	}
	f.setToken("none")
	if _, err := c.Identity(t.Context()); err == nil {
		t.Fatal("a refused login is no error")
	}
	until(t, "what the plug-in says later is logged", func() bool { return locked(&logged).has("touch your key") })
	restore()
	mu.Lock()
	defer mu.Unlock()
	if n := strings.Count(shown.String(), "touch"); n != 1 {
		t.Errorf("shown %d times: %q", n, shown.String())
	}
}

func TestLoginPluginThatFails(t *testing.T) {
	f := newFakeAPI(t)
	var shown bytes.Buffer
	var mu sync.Mutex
	c, err := Connect(t.Context(), Options{Kubeconfig: plugged(t, f, "exit 3\n"), Err: &lockedWriter{&mu, &shown}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.LogIn(t.Context()); err == nil || !strings.Contains(err.Error(), "login plug-in") || !strings.Contains(err.Error(), "exit code 3") {
		t.Errorf("%v", err)
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *lockedWriter) has(s string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Contains(w.b.String(), s)
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatal("never happened: " + what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestServersThatCannotBeTalkedTo(t *testing.T) {
	f := newFakeAPI(t)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	closed := httptest.NewServer(nil)
	closed.Close()
	for name, c := range map[string]struct {
		change func(*api.Config)
		words  []string
	}{
		"refused": {func(c *api.Config) {
			c.Clusters["sv"] = &api.Cluster{Server: "https://" + closed.Listener.Addr().String()}
		},
			[]string{closed.Listener.Addr().String(), "refuses connections"}},
		"no TLS": {func(c *api.Config) {
			c.Clusters["sv"].Server = strings.Replace(plain.URL, "http:", "https:", 1)
		}, []string{"does not speak TLS"}},
		"unknown authority": {func(c *api.Config) { c.Clusters["sv"].CertificateAuthorityData = nil }, []string{"authority that the kubeconfig does not know"}},
		"wrong host": {func(c *api.Config) { c.Clusters["sv"].TLSServerName = "supervisor.test" },
			[]string{"certificate for other names"}},
		"no such name": {func(c *api.Config) { c.Clusters["sv"].Server = "https://supervisor.invalid:6443" }, []string{"supervisor.invalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := Connect(t.Context(), Options{Kubeconfig: f.kubeconfig(t, c.change), Deadline: 2 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			_, err = conn.Identity(t.Context())
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
		})
	}
}

func TestServerThatNeverAcceptsTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	f := newFakeAPI(t)
	file := f.kubeconfig(t, func(c *api.Config) { c.Clusters["sv"].Server = "https://" + l.Addr().String() })
	_, p := watched(t, Options{Kubeconfig: file, Deadline: time.Second})
	eventually(t, p, "it says that there is no answer", sourceIs("supervisor/machines", model.SourceUnreachable, l.Addr().String(), "not answer"))
	eventually(t, p, "also for the version", sourceIs("supervisor/vks", model.SourceUnreachable))
}

func TestLoginCommand(t *testing.T) {
	f := newFakeAPI(t)
	for want, change := range map[string]func(*api.Config){
		"kubectl vsphere login --server=192.0.2.10 --vsphere-username anna@vsphere.local": nil,
		"kubectl vsphere login --server=192.0.2.7 --vsphere-username USER": func(c *api.Config) {
			c.Clusters["sv"].Server = "https://192.0.2.7:6443"
			c.AuthInfos["x"] = &api.AuthInfo{Token: "t"}
			c.Contexts["sv"].AuthInfo = "x"
		},
		"kubectl vsphere login --server=192.0.2.10 --vsphere-username anna@vsphere.local --insecure-skip-tls-verify": func(c *api.Config) {
			c.Clusters["sv"].InsecureSkipTLSVerify, c.Clusters["sv"].CertificateAuthorityData = true, nil
		},
		"oidc-tool get --now": func(c *api.Config) {
			c.AuthInfos["wcp:192.0.2.10:anna@vsphere.local"] = &api.AuthInfo{Exec: &api.ExecConfig{Command: "oidc-tool", Args: []string{"get", "--now"}, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode}}
		},
	} {
		c, err := Connect(t.Context(), Options{Kubeconfig: f.kubeconfig(t, change)})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.LoginCommand(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if c.Insecure != strings.Contains(want, "insecure") {
			t.Errorf("Insecure is %v", c.Insecure)
		}
	}
}

func TestExpiredTokenSaysWhen(t *testing.T) {
	f := newFakeAPI(t)
	f.setToken("another")
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	token := "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, at.Unix())) + ".sig"
	file := f.kubeconfig(t, func(c *api.Config) { c.AuthInfos["wcp:192.0.2.10:anna@vsphere.local"].Token = token })
	c, err := Connect(t.Context(), Options{Kubeconfig: file})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Identity(t.Context())
	if want := "expired at " + at.Local().Format(time.DateTime); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), token) {
		t.Errorf("%v does not say %q (or tells the token)", err, want)
	}
}

func TestIdentityWhereKubeSystemIsForbidden(t *testing.T) {
	f := newFakeAPI(t)
	f.set(func(w http.ResponseWriter, _ *http.Request) bool {
		status(w, 403, "Forbidden", "no")
		return true
	})
	file := f.kubeconfig(t, nil)
	var ids []string
	for range 2 {
		c, err := Connect(t.Context(), Options{Kubeconfig: file})
		if err != nil {
			t.Fatal(err)
		}
		id, err := c.Identity(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if ids[0] != ids[1] || !strings.HasPrefix(ids[0], "address:") {
		t.Errorf("%v", ids)
	}
}

// A plug-in that waits for ever holds up nobody who has stopped waiting.
func TestLoginPluginThatNeverEnds(t *testing.T) {
	f := newFakeAPI(t)
	// It ends when the test does.
	file := plugged(t, f, "echo $$ >\"$0.pid\"\nexec sleep 600\n")
	c, err := Connect(t.Context(), Options{Kubeconfig: file, Err: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.LogIn(ctx) }()
	pid := 0
	until(t, "the plug-in runs", func() bool {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(c.login.current.Load().kube.config.ExecProvider.Command), "*.pid"))
		if len(found) != 1 {
			return false
		}
		text, _ := os.ReadFile(found[0])
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	tool, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tool.Kill() })
	cancel()
	select {
	case err = <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("LogIn does not end with its context")
	}
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "does not end") || !strings.Contains(err.Error(), f.URL) {
		t.Errorf("%v", err)
	}
}
