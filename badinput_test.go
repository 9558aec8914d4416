//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"vksmedic/testdata/labtest"
	"vksmedic/ui/uitest"
)

// Bad input as a person or a script meets it: the real program, as a process of its own, with
// and without a terminal. Each time the program says what is wrong and what to do, goes on
// with the rest, and gives the terminal back as it was.

// blind and flagged are statuses of scan: not all could be read, and something was found.
const (
	blind   = 2
	flagged = 1
)

func TestBadInputKubeconfig(t *testing.T) {
	s := newStandIn(t)
	write := func(name, content string) string {
		f := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(f, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return f
	}
	for name, c := range map[string]struct {
		args  []string
		words []string
	}{
		"none":               {nil, []string{"no kubeconfig found: looked for ", "/.kube/config", "kubectl vsphere login", "--kubeconfig"}},
		"missing":            {[]string{"--kubeconfig", "/no/such/file"}, []string{"there is no file /no/such/file", "check --kubeconfig"}},
		"empty":              {[]string{"--kubeconfig", write("empty", "")}, []string{"is empty", "kubectl vsphere login"}},
		"binary":             {[]string{"--kubeconfig", write("binary", "\x00\x01\x1b]0;owned\x07")}, []string{"binary cannot be understood"}},
		"a folder":           {[]string{"--kubeconfig", t.TempDir()}, []string{"cannot be understood", "is a directory"}},
		"no such context":    {[]string{"--context", "prod", "--kubeconfig", s.kubeconfig(t, nil)}, []string{`no context "prod"`, "it has: sv"}},
		"no current context": {[]string{"--kubeconfig", s.kubeconfig(t, func(c *api.Config) { c.CurrentContext = "" })}, []string{"no current context", "--context, one of: sv"}},
		"a context that refers to nothing": {[]string{"--kubeconfig", s.kubeconfig(t, func(c *api.Config) { c.Contexts["sv"].Cluster = "gone" })},
			[]string{`context "sv"`, `refers to cluster "gone"`, "kubectl vsphere login"}},
		"a login plug-in that is not there": {[]string{"--kubeconfig", s.kubeconfig(t, func(c *api.Config) {
			c.AuthInfos["wcp:192.0.2.10:anna@vsphere.local"] = &api.AuthInfo{Exec: &api.ExecConfig{
				APIVersion: "client.authentication.k8s.io/v1", Command: "no-such-plugin", InteractiveMode: api.NeverExecInteractiveMode}}
		})}, []string{"cannot log in to " + s.URL, "no-such-plugin"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := noTerminal(t, nil, append([]string{"scan"}, c.args...)...)
			if e.code != blind || e.out != "" {
				t.Errorf("scan ends with %d and prints %q", e.code, e.out)
			}
			says(t, e.err, c.words...)
			if n := strings.Count(e.err, "\n"); n != 1 {
				t.Errorf("not one line: %q", e.err)
			}
			x := onTerminal(t, 200, 24, c.args...)
			if err := x.Wait(); err == nil || !strings.Contains(err.Error(), "exit status 2") {
				t.Errorf("the dashboard ends with %v", err)
			}
			says(t, flat(x.Screen()), c.words...)
			if strings.Contains(x.Raw(), "\x1b[?1049h") {
				t.Error("the dashboard came up before it failed, and what it said is hard to find")
			}
			givenBack(t, x)
		})
	}
}

// TestBadInputPlugin has a login plug-in that never ends. A script must not wait for it for
// ever.
func TestBadInputPlugin(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "login-tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\necho $$ >\"$0.pid\"\nexec sleep 600\n"), 0o700); err != nil { //nolint:gosec // it has to be run.
		t.Fatal(err)
	}
	t.Cleanup(func() {
		text, err := os.ReadFile(tool + ".pid") //nolint:gosec // ours.
		if err != nil {
			t.Error(err)
			return
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Error(err)
			return
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	})
	s := newStandIn(t)
	file := s.kubeconfig(t, func(c *api.Config) {
		c.AuthInfos["wcp:192.0.2.10:anna@vsphere.local"] = &api.AuthInfo{Exec: &api.ExecConfig{
			APIVersion: "client.authentication.k8s.io/v1", Command: tool, InteractiveMode: api.IfAvailableExecInteractiveMode,
		}}
	})
	// Long enough for the plug-in to have begun.
	e := noTerminal(t, nil, "scan", "--kubeconfig", file, "--timeout", "10s")
	if e.code != blind || e.out != "" || e.took > time.Minute {
		t.Errorf("scan ends with %d after %v and prints %q", e.code, e.took, e.out)
	}
	says(t, e.err, "cannot log in to "+s.URL, "login-tool", "does not end", "first")
}

// onTerminal starts the program on a terminal, with a home of its own.
func onTerminal(t *testing.T, w, h int, args ...string) *screen {
	t.Helper()
	cmd := exec.Command(labtest.Program(t), args...)
	cmd.Env = homeless(t.TempDir())
	return terminal(t, w, h, cmd)
}

func terminal(t *testing.T, w, h int, cmd *exec.Cmd) *screen {
	t.Helper()
	x := &screen{uitest.Exec(t, w, h, cmd).Within(2 * time.Minute), cmd}
	x.KeepRaw()
	return x
}

// flat is a screen without the ends of its lines, so that words can be found that were wrapped.
func flat(screen string) string { return strings.ReplaceAll(screen, "\n", "") }

// squeezed is a screen without white space, for words that were wrapped and indented.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }

// shows waits until all words are on the screen, wrapped or not.
func shows(x *screen, words ...string) {
	x.Until("see "+strings.Join(words, " and "), func(s string) bool {
		s = squeezed(s)
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(s, squeezed(w)) })
	})
}

// view goes to a view by its name.
func view(x *screen, name string) { x.Type(":" + name + "\r") }

// quits leaves the dashboard from any view and checks that it ends well.
func quits(t *testing.T, x *screen) {
	t.Helper()
	x.Keys("ctrl+c")
	if err := x.Wait(); err != nil {
		t.Errorf("the dashboard ends with %v", err)
	}
	givenBack(t, x)
}

func givenBack(t *testing.T, x *screen) {
	t.Helper()
	if left := x.GivenBack(); len(left) > 0 {
		t.Errorf("the terminal was left with %v", left)
	}
	for _, bad := range []string{"goroutine ", "panic:", "DATA RACE"} {
		if strings.Contains(x.Raw(), bad) {
			t.Errorf("%q reached the terminal:\n%s", bad, x.Screen())
		}
	}
}

// breakage is one way in which a server does not answer as it should.
type breakage struct {
	name  string
	serve func(w http.ResponseWriter, r *http.Request)
	state string
	// words are what is said of it; SERVER stands for its address.
	words []string
}

func breakages() []breakage {
	answers := func(code int, reason, message string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { refuse(w, code, reason, message) }
	}
	return []breakage{
		{"hangs", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "unreachable", []string{"SERVER", "not answer", "check the network or VPN"}},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "unreachable", []string{"SERVER", "check the network"}},
		{"401", answers(401, "Unauthorized", "Unauthorized"), "forbidden",
			[]string{"the login of anna@vsphere.local is no longer valid", "SERVER says 401", "kubectl vsphere login --server=192.0.2.10 --vsphere-username anna@vsphere.local"}},
		{"403", answers(403, "Forbidden", "no\x1b[2J"), "forbidden", []string{"user anna@vsphere.local may not", "ask for that right"}},
		{"429", answers(429, "TooManyRequests", "slow down"), "unreachable", []string{"SERVER is overloaded (429 Too Many Requests)", "tries again by itself"}},
		{"500", answers(500, "InternalError", "etcd\x1b]0;owned\x07 is gone"), "unreachable", []string{"SERVER answers 500 Internal Server Error", "tries again by itself"}},
		{"log-in page", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(w, "<html>please log in</html>")
		}, "unreachable", []string{"SERVER does not answer like Kubernetes", "a proxy or a log-in page", "check the server address"}},
		{"other JSON", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, map[string]any{"hello": []any{"world"}}) }, "unreachable",
			[]string{"SERVER does not answer like Kubernetes", "check the server address"}},
		{"binary", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x00\x01\x1b]0;owned\x07\xff")) }, "unreachable",
			[]string{"SERVER does not answer like Kubernetes"}},
	}
}

func (b *breakage) said(server string) []string {
	var out []string
	for _, w := range b.words {
		out = append(out, strings.ReplaceAll(w, "SERVER", server))
	}
	return out
}

// TestBadInputServer has a Supervisor that answers nothing as it should.
func TestBadInputServer(t *testing.T) {
	for _, b := range breakages() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			s := newStandIn(t)
			s.breaks = func(w http.ResponseWriter, r *http.Request) bool { b.serve(w, r); return true }
			brokenServer(t, s.kubeconfig(t, nil), b.state, b.said(s.URL))
		})
	}
	closed := newStandIn(t)
	closed.Close()
	silent := silent(t)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	for name, c := range map[string]struct {
		server string
		words  []string
	}{
		"refuses":       {closed.URL, []string{closed.URL + " refuses connections", "check that the Supervisor is up"}},
		"never greets":  {"https://" + silent, []string{silent, "not answer", "check the network or VPN"}},
		"speaks no TLS": {"https://" + plain.Listener.Addr().String(), []string{plain.Listener.Addr().String(), "does not speak TLS", "check the server address"}},
		"has no name":   {"https://supervisor.invalid:6443", []string{"supervisor.invalid", "cannot be resolved", "DNS"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			brokenServer(t, closed.kubeconfig(t, func(k *api.Config) { k.Clusters["sv"].Server = c.server }), "unreachable", c.words)
		})
	}
	t.Run("shows another's certificate", func(t *testing.T) {
		t.Parallel()
		s := newStandIn(t)
		file := s.kubeconfig(t, func(k *api.Config) { k.Clusters["sv"].CertificateAuthorityData = nil })
		brokenServer(t, file, "unreachable", []string{s.URL, "an authority that the kubeconfig does not know", "log in again"})
	})
}

// brokenServer scans and looks at a Supervisor of which nothing can be known.
func brokenServer(t *testing.T, kubeconfig, state string, words []string) {
	t.Helper()
	x := onTerminal(t, 200, 50, "--kubeconfig", kubeconfig)
	// The first frame is drawn before any answer.
	x.WaitFor("vksmedic", "anna@vsphere.local", "read-write")

	const timeout = 3 * time.Second
	e := noTerminal(t, nil, "scan", "--kubeconfig", kubeconfig, "--timeout", timeout.String())
	if e.code != blind || e.err != "" || e.took > timeout+time.Minute {
		t.Errorf("scan ends with %d after %v, and says %q", e.code, e.took, e.err)
	}
	says(t, e.out, words...)
	says(t, e.out, "Nothing can be said", state+"  ", "supervisor/clusterroles, clusters, ", ", machines, ")
	for _, w := range words {
		if strings.Count(e.out, w) > 2 {
			t.Errorf("%q is said again and again:\n%s", w, e.out)
		}
	}
	e = noTerminal(t, nil, "scan", "--kubeconfig", kubeconfig, "--timeout", timeout.String(), "-o", "json")
	if got, detail := e.list(t).source(t, "supervisor/machines"); got != state || e.code != blind {
		t.Errorf("status %d, supervisor/machines is %s: %s", e.code, got, detail)
	}

	x.Until("the first line says it", func(s string) bool { return strings.Contains(s, state+": ") })
	if s := x.Screen(); strings.Contains(s, "nothing is flagged") || strings.Contains(s, "in good health") {
		t.Errorf("what cannot be read is called well:\n%s", s)
	}
	view(x, "sources")
	x.WaitFor("Sources", "supervisor/machines")
	shows(x, words...)
	quits(t, x)
}

// TestBadInputOneKind has one kind broken, and the rest must go on.
func TestBadInputOneKind(t *testing.T) {
	for _, b := range breakages() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			s := newStandIn(t, capiCluster("team-a", "web"), failedMachine("team-a", "web", "web-1"))
			s.breaks = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/machines") {
					return false
				}
				b.serve(w, r)
				return true
			}
			file := s.kubeconfig(t, nil)
			x := onTerminal(t, 120, 40, "--kubeconfig", file)
			x.WaitFor("team-a/web")

			e := noTerminal(t, nil, "scan", "--kubeconfig", file, "--timeout", "3s", "-o", "json")
			l := e.list(t)
			got, detail := l.source(t, "supervisor/machines")
			if e.code != blind || got != b.state || len(l.Findings) > 0 {
				t.Errorf("status %d, findings %v, supervisor/machines is %s: %s", e.code, l.Findings, got, detail)
			}
			says(t, detail, b.said(s.URL)...)
			if got, detail := l.source(t, "supervisor/clusters"); got != "ok" {
				t.Errorf("supervisor/clusters is %s: %s", got, detail)
			}

			x.WaitFor("team-a/web", b.state+": machines")
			view(x, "sources")
			selectRow(x, "supervisor/machines")
			shows(x, b.said(s.URL)...)
			// It comes back, and is seen without a restart.
			s.mend()
			x.Keys("esc", "r")
			x.WaitFor("team-a/web", "Machine Failed")
			quits(t, x)
		})
	}
}

// TestBadInputSecret has clusters whose kubeconfig Secret cannot be used, each in its own
// way, beside one that is well.
func TestBadInputSecret(t *testing.T) {
	trap := filepath.Join(t.TempDir(), "the-plug-in-ran")
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("s3cr3t"), 0o600); err != nil {
		t.Fatal(err)
	}
	inside := newStandIn(t, object("v1", "Node", "", "fine-1", map[string]any{
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
	}))
	secret := func(name string, change func(*api.Config)) map[string]any {
		c := labtest.Login(inside.Server)
		if change != nil {
			change(c)
		}
		return kubeconfigSecret(t, "team-a", name, c)
	}
	user := "wcp:192.0.2.10:anna@vsphere.local"
	odd := func(name string, data any) map[string]any {
		return object("v1", "Secret", "team-a", name+"-kubeconfig", map[string]any{"data": data})
	}
	s := newStandIn(
		t, secret("fine", nil),
		secret("plugin", func(c *api.Config) {
			c.AuthInfos[user].Exec = &api.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", Command: "touch", Args: []string{trap}, InteractiveMode: api.NeverExecInteractiveMode}
		}),
		secret("paths", func(c *api.Config) { c.AuthInfos[user] = &api.AuthInfo{TokenFile: token} }),
		secret("authority", func(c *api.Config) {
			c.Clusters["sv"].CertificateAuthorityData, c.Clusters["sv"].CertificateAuthority = nil, token
		}),
		secret("proxy", func(c *api.Config) { c.Clusters["sv"].ProxyURL = "http://192.0.2.66:3128" }),
		secret("unchecked", func(c *api.Config) {
			c.Clusters["sv"].CertificateAuthorityData, c.Clusters["sv"].InsecureSkipTLSVerify = nil, true
		}),
		odd("garbage", map[string]any{"value": "czNjcjN0OiBbAAEbXTA7b3duZWQH"}), // s3cr3t: [, then bytes.
		odd("nokey", map[string]any{"other": "eA=="}),
		odd("nobase64", map[string]any{"value": "s3cr3t!"}),
		odd("nodata", 7),
	)
	want := map[string]struct {
		state string
		words []string
	}{
		"missing":   {"unreachable", []string{"there is no secret team-a/missing-kubeconfig", "--workload-kubeconfig team-a/missing=FILE"}},
		"forbidden": {"forbidden", []string{"cannot read secret team-a/forbidden-kubeconfig: forbidden for user anna@vsphere.local", "ask for get on secrets", "--workload-kubeconfig team-a/forbidden=FILE"}},
		"plugin":    {"forbidden", []string{"secret team-a/plugin-kubeconfig", "refused: it has an exec plug-in", "--workload-kubeconfig team-a/plugin=FILE"}},
		"paths":     {"forbidden", []string{"refused: it has a path to a token", "--workload-kubeconfig team-a/paths=FILE"}},
		"authority": {"forbidden", []string{"refused: it has a path to a certificate authority"}},
		"proxy":     {"forbidden", []string{"refused: it has a proxy-url"}},
		"unchecked": {"forbidden", []string{"refused: it has insecure-skip-tls-verify"}},
		"garbage":   {"unreachable", []string{"secret team-a/garbage-kubeconfig", "not a kubeconfig"}},
		"nokey":     {"unreachable", []string{"secret team-a/nokey-kubeconfig has no key value"}},
		"nobase64":  {"unreachable", []string{"secret team-a/nobase64-kubeconfig is not base64"}},
		"nodata":    {"unreachable", []string{"secret team-a/nodata-kubeconfig has no key value"}},
	}
	for name := range want {
		s.objects = append(s.objects, capiCluster("team-a", name))
	}
	s.objects = append(s.objects, capiCluster("team-a", "fine"))
	s.breaks = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/secrets/forbidden-kubeconfig") {
			return false
		}
		refuse(w, 403, "Forbidden", "no")
		return true
	}
	file := s.kubeconfig(t, nil)
	x := onTerminal(t, 200, 50, "--kubeconfig", file)

	e := noTerminal(t, nil, "scan", "--kubeconfig", file, "-o", "json", "--timeout", "60s")
	l := e.list(t)
	if e.code != 0 || e.err != "" {
		t.Errorf("scan ends with %d and says %q", e.code, e.err)
	}
	for name, c := range want {
		state, detail := l.source(t, "workload/team-a/"+name+"/nodes")
		if state != c.state {
			t.Errorf("%s is %s: %s", name, state, detail)
		}
		says(t, detail, c.words...)
	}
	if state, detail := l.source(t, "workload/team-a/fine/nodes"); state != "ok" {
		t.Errorf("the cluster that is well is %s: %s", state, detail)
	}
	if strings.Contains(e.out, "s3cr3t") {
		t.Errorf("a secret is told:\n%s", e.out)
	}

	x.WaitFor("team-a/fine", "team-a/plugin", "workload 1 of 12")
	view(x, "sources")
	x.WaitFor("Sources", "workload/team-a/plugin/nodes")
	x.Type("/") // there is no filter here, and nothing may break for it.
	x.Keys("esc")
	view(x, "team-a/plugin")
	shows(x, "refused: it has an exec plug-in", "--workload-kubeconfig team-a/plugin=FILE")
	if strings.Contains(x.Raw(), "s3cr3t") {
		t.Error("a secret is shown")
	}
	quits(t, x)
	if _, err := os.Stat(trap); err == nil {
		t.Error("the exec plug-in of a cluster's kubeconfig was run")
	}
}

// TestBadInputFlags has mistyped commands and flags, and the status that each command ends
// with.
func TestBadInputFlags(t *testing.T) {
	cases := filepath.Join("testdata", "cases")
	hit, miss := filepath.Join(cases, "01-pinniped-concierge-v1beta1"), filepath.Join(cases, "15-blanket-toleration-replicaset")
	s := newStandIn(t)
	live := s.kubeconfig(t, nil)
	hung := newStandIn(t)
	hung.breaks = func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }
	for name, c := range map[string]struct {
		args []string
		code int
		out  []string // what standard output says; nil: nothing.
		err  []string // what standard error says; nil: nothing.
	}{
		"version":            {[]string{"version"}, 0, []string{"vksmedic "}, nil},
		"version of what":    {[]string{"version", "please"}, 2, nil, []string{`there is no "please" in vksmedic version`, "--help"}},
		"completion":         {[]string{"completion", "bash"}, 0, []string{"bash completion", "__start_vksmedic"}, nil},
		"completion of what": {[]string{"completion", "tcsh"}, 2, nil, []string{`there is no "tcsh" in vksmedic completion`, "--help"}},
		"help":               {[]string{"scan", "--help"}, 0, []string{"Exit status", "--timeout"}, nil},

		"unknown flag":         {[]string{"scan", "--frobnicate"}, 2, nil, []string{"unknown flag: --frobnicate", "vksmedic scan --help"}},
		"unknown flag at all":  {[]string{"--frobnicate"}, 2, nil, []string{"unknown flag: --frobnicate", "vksmedic --help"}},
		"unknown command":      {[]string{"frobnicate"}, 2, nil, []string{`there is no "frobnicate" in vksmedic`, "vksmedic --help"}},
		"a word too much":      {[]string{"scan", "team-a/web"}, 2, nil, []string{`there is no "team-a/web" in vksmedic scan`}},
		"a flag without value": {[]string{"scan", "--from"}, 2, nil, []string{"--from", "--help"}},

		"flagged":   {[]string{"scan", "--from", hit}, flagged, []string{"kube-cert-agent", "critical", "not-understood  file/case.md"}, nil},
		"clear":     {[]string{"scan", "--from", miss}, 0, []string{"Nothing is flagged"}, nil},
		"blind":     {[]string{"scan", "--kubeconfig", hung.kubeconfig(t, nil), "--timeout", "500ms"}, blind, []string{"Nothing can be said", "--timeout"}, nil},
		"as of":     {[]string{"scan", "--from", hit, "--as-of", "2030-01-01T00:00:00Z"}, flagged, []string{"as of 2030-01-01T00:00:00Z"}, nil},
		"markdown":  {[]string{"scan", "--from", hit, "-o", "markdown"}, flagged, []string{"# vksmedic scan", "Broadcom KB 410900"}, nil},
		"as of now": {[]string{"scan", "--as-of", "2030-01-01T00:00:00Z", "--kubeconfig", live}, 2, nil, []string{"--as-of goes with --from"}},

		"as of nonsense":    {[]string{"scan", "--from", hit, "--as-of", "yesterday"}, 2, nil, []string{"--as-of yesterday", "like 2026-11-30T03:00:00Z"}},
		"output nonsense":   {[]string{"scan", "--from", hit, "-o", "yaml"}, 2, nil, []string{"-o yaml", "table, json or markdown"}},
		"timeout nonsense":  {[]string{"scan", "--timeout", "soon"}, 2, nil, []string{"--timeout", "soon", "--help"}},
		"no time":           {[]string{"scan", "--timeout", "0s", "--kubeconfig", live}, 2, nil, []string{"--timeout 0s", "30s"}},
		"less than no time": {[]string{"scan", "--timeout", "-5s", "--kubeconfig", live}, 2, nil, []string{"--timeout -5s", "30s"}},
		"no dump":           {[]string{"scan", "--from", "/no/such/dump"}, 2, nil, []string{"/no/such/dump", "no such file", "--from"}},
		"no dump to show":   {[]string{"--from", "/no/such/dump"}, 2, nil, []string{"not a terminal", "vksmedic scan"}},
		"a dump of nothing": {[]string{"scan", "--from", ""}, 2, nil, []string{"--from names nothing"}},
		"dump and live":     {[]string{"scan", "--from", hit, "--kubeconfig", live}, 2, nil, []string{"--kubeconfig", "live Supervisor", "dump"}},
		"dump and other -n": {[]string{"scan", "--from", hit, "-n", "team-z"}, 0, []string{"Nothing is flagged"}, nil},

		"workload kubeconfig nonsense": {[]string{"scan", "--kubeconfig", live, "--workload-kubeconfig", "web"}, 2, nil, []string{"--workload-kubeconfig web", "NAMESPACE/CLUSTER=FILE"}},
		"workload kubeconfig missing": {[]string{"scan", "--kubeconfig", live, "--workload-kubeconfig", "team-a/web=/no/such/file"}, 2, nil,
			[]string{"--workload-kubeconfig team-a/web=/no/such/file", "no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := noTerminal(t, nil, c.args...)
			if e.code != c.code || (e.out == "") != (c.out == nil) || (e.err == "") != (c.err == nil) {
				t.Errorf("status %d, want %d\nout: %.1000s\nerr: %.1000s", e.code, c.code, e.out, e.err)
			}
			says(t, e.out, c.out...)
			says(t, e.err, c.err...)
		})
	}
	t.Run("from standard input", func(t *testing.T) {
		files, err := filepath.Glob(filepath.Join(hit, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%v, %v", files, err)
		}
		var in []io.Reader
		for _, f := range files {
			text, err := os.ReadFile(f) //nolint:gosec // a case.
			if err != nil {
				t.Fatal(err)
			}
			in = append(in, bytes.NewReader(text), strings.NewReader("\n---\n"))
		}
		if e := noTerminal(t, io.MultiReader(in...), "scan", "--from", "-", "-o", "json"); e.code != flagged || len(e.list(t).Findings) == 0 {
			t.Errorf("status %d\n%s%s", e.code, e.out, e.err)
		}
		if e := noTerminal(t, strings.NewReader(""), "scan", "--from", "-"); e.code != blind {
			t.Errorf("status %d\n%s%s", e.code, e.out, e.err)
		} else {
			says(t, e.out, "Nothing can be said", "not-understood  file/standard input: is empty")
		}
	})
	t.Run("from standard input, on a terminal", func(t *testing.T) {
		t.Parallel()
		objects, err := filepath.Abs(hit)
		if err != nil {
			t.Fatal(err)
		}
		sh := exec.Command("sh", "-c", `tar -cf - -C "$1" . | "$0" --from -`, labtest.Program(t), objects) //nolint:gosec // the program under test.
		sh.Env = homeless(t.TempDir())
		x := terminal(t, 120, 40, sh)
		x.WaitFor("ns-a/wc1", "read-only", "agent blocks drain")
		x.Keys("enter")
		x.WaitFor("MACHINE", "wc1-cp-old1")
		quits(t, x)
	})
	t.Run("from standard input, without a terminal anywhere", func(t *testing.T) {
		t.Parallel()
		cmd := exec.Command(labtest.Program(t), "--from", "-")
		cmd.Env = homeless(t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Stdin = strings.NewReader("kind: Pod\n")
		if e := finish(t, cmd); e.code != 2 || e.out != "" {
			t.Errorf("status %d, prints %q", e.code, e.out)
		} else {
			says(t, e.err, "terminal", "vksmedic scan")
		}
	})
	for name, c := range map[string]struct {
		args, words []string
	}{
		"a dump from the keyboard": {[]string{"--from", "-"}, []string{"--from -", "standard input is the terminal", "pipe a dump"}},
		"no dump to show":          {[]string{"--from", "/no/such/dump"}, []string{"/no/such/dump", "no such file", "--from"}},
		"a dump of nothing":        {[]string{"--from", ""}, []string{"--from names nothing"}},
		"as of nonsense":           {[]string{"--from", hit, "--as-of", "yesterday"}, []string{"--as-of yesterday", "like 2026-11-30T03:00:00Z"}},
	} {
		t.Run("on a terminal: "+name, func(t *testing.T) {
			t.Parallel()
			x := onTerminal(t, 200, 24, c.args...)
			if err := x.Wait(); err == nil || !strings.Contains(err.Error(), "exit status 2") {
				t.Errorf("the dashboard ends with %v", err)
			}
			says(t, flat(x.Screen()), c.words...)
			givenBack(t, x)
		})
	}
}

// TestBadInputTerminal has terminals that are missing, too small or closed.
func TestBadInputTerminal(t *testing.T) {
	s := newStandIn(t, capiCluster("team-a", "web"), failedMachine("team-a", "web", "web-1"))
	file := s.kubeconfig(t, nil)
	t.Run("none", func(t *testing.T) {
		e := noTerminal(t, nil, "--kubeconfig", file)
		if e.code != 2 || e.out != "" {
			t.Errorf("status %d, prints %q", e.code, e.out)
		}
		says(t, e.err, "not a terminal", "vksmedic scan")
	})
	t.Run("keys from a pipe", func(t *testing.T) {
		cmd := exec.Command(labtest.Program(t), "--kubeconfig", file)
		cmd.Env = homeless(t.TempDir())
		// Only standard input is no terminal: the shell sets it so.
		sh := exec.Command("sh", append([]string{"-c", `exec "$@" </dev/null`, "sh"}, cmd.Args...)...) //nolint:gosec // the program under test.
		sh.Env = cmd.Env
		x := terminal(t, 200, 24, sh)
		if err := x.Wait(); err == nil || !strings.Contains(err.Error(), "exit status 2") {
			t.Errorf("ends with %v", err)
		}
		says(t, flat(x.Screen()), "not a terminal", "vksmedic scan")
		givenBack(t, x)
	})
	t.Run("too small", func(t *testing.T) {
		x := onTerminal(t, 40, 8, "--kubeconfig", file)
		x.WaitFor("needs 60×15", "has 40×8", "nothing is lost", "ctrl+c quits")
		x.Keys("enter", "j", "a") // nobody sees what they would do.
		// A terminal's own report of another size comes in the order of the keys, which the
		// signal of a real change does not: it says that they were taken.
		x.Type("\x1b[48;8;41;0;0t")
		x.WaitFor("has 41×8")
		x.Resize(120, 40)
		x.WaitFor("team-a/web", "Machine Failed", "? help")
		x.Keys("enter")
		x.WaitFor("MACHINE", "web-1")
		x.Resize(10, 3)
		x.WaitGone("MACHINE")
		x.Resize(80, 24)
		x.WaitFor("MACHINE", "web-1", "? help") // where one was.
		x.Resize(20, 5)
		x.WaitFor("60×15")
		quits(t, x)
	})
	t.Run("resized while drawing", func(t *testing.T) {
		x := onTerminal(t, 120, 40, "--kubeconfig", file)
		x.WaitFor("team-a/web", "Machine Failed")
		for i := range 60 {
			x.Resize(1+i*7%150, 1+i*5%60)
			x.Keys("j", "r", "enter", "esc")
		}
		x.Resize(200, 50)
		x.WaitFor("vksmedic", "? help", "team-a/web")
		quits(t, x)
	})
	for name, end := range map[string]func(*screen){
		"q":                  func(x *screen) { x.Keys("q") },
		"ctrl+c":             func(x *screen) { x.Keys("ctrl+c") },
		"SIGTERM":            func(x *screen) { _ = x.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGINT":             func(x *screen) { _ = x.cmd.Process.Signal(syscall.SIGINT) },
		"SIGHUP":             func(x *screen) { _ = x.cmd.Process.Signal(syscall.SIGHUP) },
		"ctrl+c in a prompt": func(x *screen) { x.Type("/web"); x.WaitFor("web"); x.Keys("ctrl+c", "ctrl+c") },
	} {
		t.Run("given back after "+name, func(t *testing.T) {
			t.Parallel()
			hung := newStandIn(t)
			hung.breaks = func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }
			for _, k := range []string{file, hung.kubeconfig(t, nil)} {
				x := onTerminal(t, 80, 24, "--kubeconfig", k)
				x.WaitFor("vksmedic", "? help")
				end(x)
				if err := x.Wait(); err != nil {
					t.Errorf("ends with %v", err)
				}
				givenBack(t, x)
			}
		})
	}
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		x := onTerminal(t, 80, 24, "--kubeconfig", file)
		x.WaitFor("team-a/web")
		x.HangUp()
		_ = x.Wait() // its status does not matter here; it must not be left running.
	})
	t.Run("scan is interrupted", func(t *testing.T) {
		t.Parallel()
		asked := make(chan struct{}, 1000)
		hung := newStandIn(t)
		hung.breaks = func(_ http.ResponseWriter, r *http.Request) bool {
			asked <- struct{}{}
			<-r.Context().Done()
			return true
		}
		// The shell prints its process id, which stays the same when it becomes the program.
		pid := make(chan int, 1)
		cmd := exec.Command("sh", "-c", `echo $$ >&3; exec "$@" 3>&-`, "sh", labtest.Program(t), "scan", "--timeout", "10m", "--kubeconfig", hung.kubeconfig(t, nil)) //nolint:gosec // the program under test.
		cmd.Env = homeless(t.TempDir())
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = in.Close(), out.Close() }()
		cmd.ExtraFiles = []*os.File{in}
		go func() {
			n := 0
			_, _ = fmt.Fscan(out, &n)
			pid <- n
		}()
		go func() {
			n := <-pid
			<-asked
			if n > 1 { // others would name more than one process.
				_ = syscall.Kill(n, syscall.SIGINT)
			}
		}()
		e := finish(t, cmd)
		if e.code != 2 || e.out != "" {
			t.Errorf("status %d, prints %q", e.code, e.out)
		}
		says(t, e.err, "given up")
	})
}

// evil is text that would change the terminal, and that is very long.
func evil() string {
	return "\x1b]0;owned\x07\x1b[2J\x1b[31mred\u009b1;1H\u202e\r\x00" + strings.Repeat("A", 1_000_000)
}

// oddObjects are objects that no server should hold, beside a Machine that has to be
// flagged in spite of them.
func oddObjects() []map[string]any {
	conditions := []any{
		nil, 7, "Ready", map[string]any{}, map[string]any{"type": 7, "status": true},
		map[string]any{"type": "Frobnicated", "status": "Perhaps", "reason": "Why\x1b[2JNot", "message": evil(), "lastTransitionTime": "yesterday"},
		map[string]any{"type": "Deleting", "status": "True", "reason": "DrainingNode", "message": evil()},
	}
	machine := func(name string, more map[string]any) map[string]any {
		return object("cluster.x-k8s.io/v1beta2", "Machine", "team-a", name, more)
	}
	of := func(spec map[string]any) map[string]any {
		spec["clusterName"] = "web"
		return spec
	}
	all := []map[string]any{
		capiCluster("team-a", "web"), failedMachine("team-a", "web", "web-1"),
		machine("empty", nil),
		machine("numbers", map[string]any{"spec": 7, "status": 7}),
		machine("lists", map[string]any{"spec": []any{"x"}, "status": []any{nil}}),
		machine("odd-fields", map[string]any{
			"spec":   of(map[string]any{"version": 1.31, "providerID": []any{}, "bootstrap": "x", "deletion": "soon", "nodeDrainTimeout": true}),
			"status": map[string]any{"phase": 7, "nodeRef": "n", "addresses": "10.0.0.1", "conditions": "Ready", "deletion": []any{}, "v1beta2": 7},
		}),
		machine("odd-conditions", map[string]any{"spec": of(map[string]any{}), "status": map[string]any{
			"phase": evil(), "conditions": conditions, "v1beta2": map[string]any{"conditions": conditions},
			"deprecated": map[string]any{"v1beta1": map[string]any{"conditions": conditions, "failureMessage": evil(), "failureReason": evil()}},
		}}),
		machine("evil\x1b]0;owned\x07\u202e", map[string]any{"spec": of(map[string]any{"version": evil()}), "status": map[string]any{"phase": "Failed", "failureMessage": evil()}}),
		object("cluster.x-k8s.io/v1beta2", "Cluster", "team-a", "odd", map[string]any{
			"spec": map[string]any{"topology": "x", "controlPlaneEndpoint": 7, "paused": "no"}, "status": map[string]any{"conditions": conditions, "phase": evil()},
		}),
		object("cluster.x-k8s.io/v1beta2", "Cluster", "team-\x1b[2Jz", "evil\x1b[31m", nil),
		object("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane", "team-a", "web", map[string]any{
			"spec": map[string]any{"replicas": "three", "version": evil()}, "status": map[string]any{"replicas": -3, "conditions": conditions},
		}),
		object("cluster.x-k8s.io/v1beta2", "MachineDeployment", "team-a", "md", map[string]any{"spec": map[string]any{"clusterName": "web", "replicas": 1e300, "selector": 7}}),
		object("cluster.x-k8s.io/v1beta2", "MachineDrainRule", "team-a", "rule", map[string]any{
			"spec": map[string]any{"drain": "Skip", "pods": map[string]any{"selector": map[string]any{"matchExpressions": []any{map[string]any{"operator": "Perhaps"}}}}, "machines": []any{nil}},
		}),
		object("vmoperator.vmware.com/v1alpha5", "VirtualMachine", "team-a", "web-1", map[string]any{
			"spec": nil, "status": map[string]any{"powerState": evil(), "network": 7, "conditions": conditions, "host": []any{}},
		}),
		object("v1", "Endpoints", "team-a", "web-control-plane-service", map[string]any{"subsets": map[string]any{"addresses": "none"}}),
		object("v1", "Event", "team-a", "e", map[string]any{
			"involvedObject": map[string]any{"kind": "VirtualMachine", "name": "web-1", "namespace": "team-a"}, "type": "Warning", "message": evil(), "count": "many",
		}),
	}
	nothing := machine("", nil)
	nothing["metadata"] = map[string]any{}
	odd := machine("odd-metadata", nil)
	odd["metadata"].(map[string]any)["labels"] = "x"
	odd["metadata"].(map[string]any)["ownerReferences"] = []any{7, map[string]any{"kind": evil()}}
	odd["metadata"].(map[string]any)["deletionTimestamp"] = "the day after"
	return append(all, nothing, odd)
}

// TestBadInputObjects has the odd objects on a Supervisor.
func TestBadInputObjects(t *testing.T) {
	s := newStandIn(t, oddObjects()...)
	file := s.kubeconfig(t, nil)
	for _, format := range []string{"table", "markdown", "json"} {
		t.Run(format, func(t *testing.T) {
			e := noTerminal(t, nil, "scan", "--kubeconfig", file, "-o", format, "--timeout", "60s")
			oddScan(t, e, format)
		})
	}
	t.Run("dashboard", func(t *testing.T) {
		x := onTerminal(t, 120, 40, "--kubeconfig", file)
		oddDashboard(t, x)
	})
}

// oddScan checks that a scan of the odd objects flags the Machine, in few words.
func oddScan(t *testing.T, e ended, format string) {
	t.Helper()
	if e.code != flagged || e.err != "" {
		t.Errorf("status %d, %s", e.code, e.err)
	}
	says(t, e.out, "web-1")
	if len(e.out) > 300_000 {
		t.Errorf("a message without end makes %d bytes of output", len(e.out))
	}
	if format != "json" {
		return
	}
	for _, f := range e.list(t).Findings {
		if f.Signature == "machine-unhealthy" && f.Cluster.Name == "web" {
			return
		}
	}
	t.Error("the Machine that failed is not flagged")
}

// oddDashboard walks through the odd objects by keys.
func oddDashboard(t *testing.T, x *screen) {
	t.Helper()
	x.WaitFor("team-a/web", "team-a/odd", "team-z/evil", "drain fails")
	view(x, "team-a/web")
	x.WaitFor("MACHINE", "web-1", "odd-conditions")
	for _, name := range []string{"odd-conditions", "odd-fields", "evil"} {
		view(x, "team-a/web")
		x.WaitFor("MACHINE", name)
		// Down to the Machine and into it, as it is, in full and in words.
		selectRow(x, name)
		x.Keys("y")
		x.WaitFor("YAML Machine")
		x.Keys("esc", "d")
		x.WaitFor("describe Machine", "Name:") // G is for what is there.
		x.Keys("G")
		x.WaitFor("vents")
		x.Keys("esc")
	}
	view(x, "findings")
	x.WaitFor("Findings", "web-1")
	view(x, "sources")
	x.WaitFor("Sources")
	quits(t, x)
	for _, bad := range []string{"\x1b]0;owned", "\x1b[31mred", "\u202e", "\u009b", "\x00"} {
		if strings.Contains(x.Raw(), bad) {
			t.Errorf("%q reached the terminal", bad)
		}
	}
}

// selectRow moves the selection of a list to the row of a name, a key at a time.
func selectRow(x *screen, name string) {
	for range 100 {
		var at, want int
		var here string
		x.Until("a selection, and "+name, func(s string) bool {
			at, here, want = selection(s, name)
			return at >= 0 && want >= 0
		})
		if at == want {
			return
		}
		move := "j"
		if want < at {
			move = "k"
		}
		x.Keys(move)
		x.Until("the selection moves", func(s string) bool {
			_, now, _ := selection(s, name)
			return now != "" && now != here
		})
	}
	x.WaitUntil("select "+name, func(s string) bool { at, _, want := selection(s, name); return at == want && at >= 0 })
}

// selection is the line of the selected row and the name that it begins with, and the line of
// the row with a name; negative where there is none.
func selection(screen, name string) (at int, here string, want int) {
	at, want = -1, -1
	for i, l := range strings.Split(screen, "\n") {
		// Columns are two cells apart, words one.
		if want < 0 && strings.Contains(l, " "+name+"  ") {
			want = i
		}
		if rest, ok := strings.CutPrefix(l, "›"); ok {
			at = i
			here, _, _ = strings.Cut(strings.TrimLeft(rest, " "), "  ")
		}
	}
	return at, here, want
}

// TestBadInputDump has the odd objects in a dump, with files that hold no objects.
func TestBadInputDump(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	write := func(name string, content []byte, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), content, mode); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": oddObjects()})
	if err != nil {
		t.Fatal(err)
	}
	one, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": []any{failedMachine("team-a", "web", "web-2")}})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	// Text that does not compress, so that half of the file is half of the objects.
	for i := range 2000 {
		_, _ = fmt.Fprintf(z, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%x, namespace: app}\n", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	_ = z.Close()
	write("objects", list, 0o644)
	write("truncated.json", append(one[:len(one)-1:len(one)-1], []byte(`,{"kind":"Machi`)...), 0o644)
	write("truncated.yaml", []byte("kind: Machine\nmetadata:\n  name: [half"), 0o644)
	write("truncated.tar.gz", packed.Bytes()[:packed.Len()/2], 0o644)
	write("binary", []byte("\x7fELF\x00\x01\x1b]0;owned\x07"), 0o644)
	write("notes.txt", []byte("Dear colleague,\n\x1b[2Jthe cluster is stuck.\n"), 0o644)
	write("empty.yaml", nil, 0o644)
	write("unreadable.yaml", one, 0o000)
	write("evil\x1b]0;owned\x07.yaml", []byte("x"), 0o644)
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	huge, err := os.Create(filepath.Join(dir, "huge.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = huge.WriteString("kind: ConfigMap\ndata: '")
	line := bytes.Repeat([]byte("x"), 1<<20)
	for range 80 {
		_, _ = huge.Write(line)
	}
	_, _ = huge.WriteString("'\n---\n" + string(one) + "\n")
	if err := huge.Close(); err != nil {
		t.Fatal(err)
	}
	as := unprivileged(t, bin)

	for _, format := range []string{"json", "table", "markdown"} {
		t.Run(format, func(t *testing.T) {
			e := finish(t, as("scan", "--from", dir, "-o", format))
			oddScan(t, e, format)
			says(t, e.out, "web-2") // of the huge file, and of the truncated one.
			if format != "json" {
				return
			}
			l := e.list(t)
			for name, words := range map[string]string{
				"truncated.json": "breaks off", "truncated.yaml": "not a Kubernetes object", "truncated.tar": "breaks off", "binary": "is a binary file",
				"notes.txt": "not a Kubernetes object", "empty.yaml": "is empty", "unreadable.yaml": "permission denied", "link": "symbolic link", "huge.yaml": "larger than 32 MiB",
			} {
				state, detail := l.source(t, "file/"+name)
				if state != "not-understood" || !strings.Contains(detail, words) {
					t.Errorf("%s is %s: %s", name, state, detail)
				}
			}
		})
	}
	t.Run("dashboard", func(t *testing.T) {
		x := terminal(t, 120, 40, as("--from", dir))
		x.WaitFor("read-only", "team-a/web", "not understood: file/")
		view(x, "sources")
		x.WaitFor("huge.yaml", "larger than 32 MiB", "unreadable.yaml", "permission denied")
		view(x, "clusters")
		oddDashboard(t, x)
	})
	t.Run("a dump that may not be read", func(t *testing.T) {
		e := finish(t, as("scan", "--from", filepath.Join(dir, "unreadable.yaml")))
		if e.code != 2 || e.out != "" {
			t.Errorf("status %d, prints %q", e.code, e.out)
		}
		says(t, e.err, "cannot read the dump "+dir, "permission denied", "ask its owner")
	})
	t.Run("a kubeconfig that may not be read", func(t *testing.T) {
		e := finish(t, as("scan", "--kubeconfig", filepath.Join(dir, "unreadable.yaml")))
		if e.code != 2 || e.out != "" {
			t.Errorf("status %d, prints %q", e.code, e.out)
		}
		says(t, e.err, "may not be read", "unreadable.yaml")
	})
}

// unprivileged runs the program as a user for whom file modes count; they do not for root.
func unprivileged(t *testing.T, dir string) func(args ...string) *exec.Cmd {
	t.Helper()
	state := t.TempDir()
	program := labtest.Program(t)
	root := os.Geteuid() == 0
	if root {
		text, err := os.ReadFile(program) //nolint:gosec // the program under test.
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // of all temporary folders of this test.
			t.Fatal(err)
		}
		program = filepath.Join(dir, "vksmedic")
		if err := os.WriteFile(program, text, 0o755); err != nil { //nolint:gosec // somebody else has to run it.
			t.Fatal(err)
		}
		if err := os.Chmod(state, 0o777); err != nil { //nolint:gosec // somebody else keeps the journal there.
			t.Fatal(err)
		}
	}
	return func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Env = homeless(state)
		if root {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		return cmd
	}
}
