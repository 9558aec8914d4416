//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"vksmedic/ui/uitest"
)

// The real program against servers, Secrets and dumps that mean harm. Each try has bounds: how long it takes, how much
// memory the process has at its peak, how often it asks, and what it leaves on the disk. What it has to say
// is part of the try.

const (
	// hostileToken is the login. It must not be anywhere but in the kubeconfig.
	hostileToken = "SECRETTOKEN-of-the-engineer-0123456789"
	mostMemory   = 300 << 10 // in kilobytes, as the kernel counts.
	mostFiles    = 12 << 20  // in bytes.
)

// lean builds the program as it is released: the race detector takes many times the memory.
var lean = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "vksmedic-hostile-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "vksmedic")
	cmd := exec.Command("go", "build", "-o", file, "vksmedic") //nolint:gosec // our own program.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build vksmedic: %w\n%s", err, out)
	}
	return file, nil
})

// try is one attack.
type try struct {
	// serve answers before the server that behaves; nil for a dump.
	serve func(w http.ResponseWriter, r *http.Request) bool
	// objects of the server; nil for a cluster with a Machine that failed.
	objects []map[string]any
	// login changes the kubeconfig; nil for one with a token.
	login func(*api.Config)
	// dump writes what --from is to read and returns its path; nil for a server.
	dump func(t *testing.T, dir string) string
	// args come before --kubeconfig or --from; nil for scan with a time limit of three seconds.
	args []string
	// code is the status to end with, words are to be said.
	code  int
	words []string
	// act does something to the process while it runs.
	act func(p *os.Process)
	// within, memory in kilobytes and requests are its bounds; zero for fifteen seconds, mostMemory and 400.
	within   time.Duration
	memory   int64
	requests int64
	// check sees to what is special.
	check func(t *testing.T, home string, e ended)
}

func TestHostile(t *testing.T) {
	var tries, held atomic.Int32
	began := time.Now()
	t.Cleanup(func() {
		if file, err := lean(); err == nil {
			_ = os.RemoveAll(filepath.Dir(file))
		}
		fmt.Printf("tries: %d, held: %d (%v)\n", tries.Load(), held.Load(), time.Since(began).Round(time.Second))
		if tries.Load() != held.Load() || tries.Load() < 60 && allAsked() {
			t.Errorf("tries: %d, held: %d", tries.Load(), held.Load())
		}
	})
	slots := make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))
	for _, set := range []map[string]try{hostileAnswers(t), hostileLists(), hostileWatches(), hostileSecrets(t), hostileInside(t), hostileCaptures(), hostileDumps()} {
		for name, x := range set {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				tries.Add(1)
				x.run(t)
				if !t.Failed() {
					held.Add(1)
				}
			})
		}
	}
	for name, f := range hostileTerminals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			tries.Add(1)
			f(t)
			if !t.Failed() {
				held.Add(1)
			}
		})
	}
}

// allAsked says whether all tries were asked for, and not a few by their names.
func allAsked() bool {
	for _, a := range os.Args {
		if strings.Contains(a, "TestHostile/") {
			return false
		}
	}
	return true
}

func (x try) run(t *testing.T) {
	t.Helper()
	file, err := lean()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	args := x.args
	if args == nil {
		args = []string{"scan", "--timeout", "3s"}
	}
	var asked atomic.Int64
	if x.dump != nil {
		args = append(args, "--from", x.dump(t, t.TempDir()))
	} else {
		objects := x.objects
		if objects == nil {
			objects = []map[string]any{capiCluster("team-a", "web"), failedMachine("team-a", "web", "web-1")}
		}
		s := newStandIn(t, objects...)
		s.breaks = func(w http.ResponseWriter, r *http.Request) bool {
			asked.Add(1)
			return x.serve != nil && x.serve(w, r)
		}
		login := withToken
		if x.login != nil {
			login = x.login
		}
		args = append(args, "--kubeconfig", s.kubeconfig(t, login))
	}
	cmd := exec.Command(file, args...) //nolint:gosec // our own program.
	cmd.Env, cmd.Dir = homeless(home), home
	if args[len(args)-1] == "-" {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = r.Close(), w.Close() })
		cmd.Stdin = r
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	within := x.within
	if within == 0 {
		within = 15 * time.Second
	}
	kill := time.AfterFunc(within+5*time.Second, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	peak := watchMemory(cmd.Process.Pid)
	if x.act != nil {
		x.act(cmd.Process)
	}
	err = cmd.Wait()
	e := ended{out: out.String(), err: errs.String(), took: time.Since(began)}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		e.code = exit.ExitCode()
	}
	wellBehaved(t, e.out+e.err)
	x.bounds(t, peak(cmd), e, within, asked.Load())
	kept(t, home)
	if e.code != x.code {
		t.Errorf("it ends with %d, want %d\n%.1500s%.1500s", e.code, x.code, e.out, e.err)
	}
	says(t, flat(e.out+e.err), x.words...)
	if x.check != nil {
		x.check(t, home, e)
	}
}

// watchMemory follows the peak of a process's memory, as the kernel keeps it, in kilobytes. What the kernel tells of a
// process that has ended also counts the memory of the test, which it was forked from, so that
// it is looked at while it runs; only where the system has no such file it is that.
func watchMemory(pid int) (peak func(*exec.Cmd) int64) {
	var most atomic.Int64
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			if n := highWater(pid); n > most.Load() {
				most.Store(n)
			}
			select {
			case <-over:
				return
			case <-tick.C:
			}
		}
	}()
	return func(cmd *exec.Cmd) int64 {
		close(over)
		<-ended
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "darwin" {
			return u.Maxrss >> 10 // it counts bytes.
		}
		return most.Load()
	}
}

// highWater is the most memory that a process has had so far.
func highWater(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, ok := strings.Cut(string(b), "VmHWM:")
	if !ok {
		return 0
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	// Until it runs the program, a process is a copy of the one that started it.
	if name, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil || !strings.HasSuffix(name, "/vksmedic") {
		return 0
	}
	return n
}

func (x try) bounds(t *testing.T, peak int64, e ended, within time.Duration, asked int64) {
	t.Helper()
	if e.took > within {
		t.Errorf("it took %v", e.took)
	}
	if peak == 0 {
		t.Error("nothing says how much memory it had")
	}
	most := x.memory
	if most == 0 {
		most = mostMemory
	}
	if peak > most {
		t.Errorf("its memory was %d MB at its peak", peak>>10)
	}
	requests := x.requests
	if requests == 0 {
		requests = 400
	}
	if asked > requests {
		t.Errorf("it asked %d times", asked)
	}
	t.Logf("%v, %d MB, %d requests", e.took.Round(time.Millisecond), peak>>10, asked)
}

// kept sees to what is left on the disk: little, and never the login.
func kept(t *testing.T, home string) {
	t.Helper()
	size := int64(0)
	err := filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path) //nolint:gosec // what our own program left.
		if err != nil {
			return err
		}
		size += int64(len(b))
		if strings.HasSuffix(path, ".tar.gz") {
			b = []byte(unpacked(t, b))
		}
		if bytes.Contains(b, []byte(hostileToken)) || bytes.Contains(b, []byte("LEAK")) {
			t.Errorf("a secret is in %s", path)
		}
		return nil
	})
	if err != nil || size > mostFiles {
		t.Errorf("%d bytes are left on the disk, %v", size, err)
	}
}

func unpacked(t *testing.T, b []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Error(err)
		return ""
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Error(err)
	}
	return string(all)
}

func withToken(c *api.Config) {
	for _, u := range c.AuthInfos {
		*u = api.AuthInfo{Token: hostileToken}
	}
}

// The servers.

func toMachines(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/machines") }

func listing(r *http.Request) bool { return toMachines(r) && r.URL.Query().Get("watch") == "" }

func watching(r *http.Request) bool { return toMachines(r) && r.URL.Query().Get("watch") != "" }

func everything(*http.Request) bool { return true }

func discovering(r *http.Request) bool {
	return r.URL.Path == "/api" || r.URL.Path == "/apis" || strings.Count(r.URL.Path, "/") <= 3
}

// at answers what is picked.
func at(picked func(*http.Request) bool, answer http.HandlerFunc) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !picked(r) {
			return false
		}
		answer(w, r)
		return true
	}
}

func after(code int, retry string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", retry)
		refuse(w, code, "TooManyRequests", "slow down")
	}
}

func body(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}
}

// machineList is a list of Machines with these items.
func machineList(items string) string {
	return `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"MachineList","metadata":{"resourceVersion":"10"},"items":` + items + `}`
}

// bomb packs two gigabytes into two megabytes.
func bomb(before, behind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		pack(w, before, behind)
	}
}

func pack(w io.Writer, before, behind string) {
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // An error is a level that is none.
	_, _ = io.WriteString(z, before)
	block := bytes.Repeat([]byte("a"), 1<<20)
	for range 2048 {
		if _, err := z.Write(block); err != nil {
			return
		}
	}
	_, _ = io.WriteString(z, behind)
	_ = z.Close()
}

// drip sends a little now and then, and never ends.
func drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	_, _ = io.WriteString(w, `{"kind":"MachineList","items":[`)
	for {
		_, _ = io.WriteString(w, " ")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// headers never stop.
func headers(w http.ResponseWriter, _ *http.Request) {
	c, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }()
	_, _ = buf.WriteString("HTTP/1.1 200 OK\r\n")
	for i := range 1 << 20 {
		if _, err := fmt.Fprintf(buf, "X-Header-%d: %s\r\n", i, strings.Repeat("x", 4000)); err != nil || buf.Flush() != nil {
			return
		}
	}
}

func hostileAnswers(t *testing.T) map[string]try {
	t.Helper()
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("a request went to another host: %s, with the login: %v", r.URL, r.Header.Get("Authorization") != "")
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(thief.Close)
	redirect := func(code int, to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			http.Redirect(w, r, to+r.URL.Path, code)
		}
	}
	echo := func(w http.ResponseWriter, r *http.Request) {
		auth := r.Header.Get("Authorization")
		w.Header().Set("Warning", `299 - "you said `+auth+`"`)
		refuse(w, 500, "InternalError", "bad header: "+auth+" "+strings.TrimPrefix(auth, "Bearer "))
	}
	noToken := func(t *testing.T, _ string, e ended) {
		t.Helper()
		if strings.Contains(e.out+e.err, hostileToken) {
			t.Error("the login is shown")
		}
	}
	return map[string]try{
		"429 for an hour":              {serve: at(everything, after(429, "3600")), code: blind, words: []string{"asked to wait 1h"}, requests: 40},
		"503 for an hour":              {serve: at(everything, after(503, "3600")), code: blind, words: []string{"asked to wait 1h"}, requests: 40},
		"500 until a date":             {serve: at(everything, after(500, "Fri, 31 Dec 9999 23:59:59 GMT")), code: blind, words: []string{"is asked again after 1h"}, requests: 40},
		"429 for an hour, discovery":   {serve: at(discovering, after(429, "3600")), code: blind, words: []string{"asked to wait 1h"}, requests: 40},
		"429 for an hour, one kind":    {serve: at(listing, after(429, "3600")), code: blind, words: []string{"asked to wait 1h"}},
		"429 for a second, always":     {serve: at(everything, after(429, "1")), code: blind},
		"429 without a time":           {serve: at(everything, func(w http.ResponseWriter, _ *http.Request) { refuse(w, 429, "TooManyRequests", "no") }), code: blind},
		"429 for an hour, interrupted": {serve: at(everything, after(429, "3600")), args: []string{"scan", "--timeout", "600s"}, act: signals(syscall.SIGINT), code: blind, within: 10 * time.Second},
		"429 for an hour, a capture":   {serve: at(everything, after(429, "3600")), args: []string{"capture", "--timeout", "3s"}, code: blind, words: []string{"asked to wait 1h"}},
		"redirect, everything":         {serve: at(everything, redirect(307, thief.URL)), code: blind, words: []string{"the login goes to no other server"}},
		"redirect, a list":             {serve: at(listing, redirect(302, thief.URL)), code: blind, words: []string{"the login goes to no other server"}},
		"redirect, a watch":            {serve: at(watching, redirect(308, thief.URL)), code: flagged},
		"redirect without end": {serve: at(listing, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
		}), code: blind},
		"gzip bomb, everything":         {serve: at(everything, bomb(`{"x":"`, `"}`)), code: blind},
		"gzip bomb, an error":           {serve: at(listing, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500); bomb(`{"x":"`, `"}`)(w, r) }), code: blind},
		"everything hangs":              {serve: at(everything, hang), code: blind},
		"everything drips":              {serve: at(everything, drip), code: blind},
		"headers without end":           {serve: at(listing, headers), code: blind},
		"everything is {}":              {serve: at(everything, body(`{}`)), code: blind},
		"everything is null":            {serve: at(everything, body(`null`)), code: blind},
		"everything is deep":            {serve: at(everything, body(strings.Repeat(`{"a":`, 200_000))), code: blind},
		"everything is 100 MB of lists": {serve: at(everything, body(strings.Repeat("[],", 4<<20))), code: blind},
		"discovery is 60 MB":            {serve: at(discovering, body(`{"kind":"APIGroupList","groups":[`+strings.Repeat("{},", 20<<20)+`{}]}`)), code: blind},
		"the login comes back":          {serve: at(listing, echo), code: blind, words: []string{"bad header: Bearer ***"}, check: noToken},
		"the login comes back, capture": {serve: at(listing, echo), args: []string{"capture", "--timeout", "3s"}, check: noToken},
		"the login comes back, all":     {serve: at(everything, echo), code: blind, check: noToken},
		"hung, interrupted":             {serve: at(everything, hang), args: []string{"scan", "--timeout", "600s"}, act: signals(syscall.SIGTERM), code: blind, within: 10 * time.Second},
		"hung, interrupted twice":       {serve: at(everything, hang), args: []string{"scan", "--timeout", "600s"}, act: signals(syscall.SIGHUP, syscall.SIGINT), code: blind, within: 10 * time.Second},
		"a login that hangs, twice": {login: func(c *api.Config) {
			for _, u := range c.AuthInfos {
				*u = api.AuthInfo{Exec: &api.ExecConfig{
					APIVersion: "client.authentication.k8s.io/v1", Command: "sh", InteractiveMode: api.NeverExecInteractiveMode,
					Args: []string{"-c", "while kill -0 $PPID 2>/dev/null; do sleep 0.1; done"}, // it ends with the program.
				}}
			}
		}, args: []string{"scan", "--timeout", "600s"}, act: signals(syscall.SIGTERM, syscall.SIGINT), code: 130, within: 5 * time.Second},
	}
}

// signals sends signals once the process has had time to take them.
func signals(all ...os.Signal) func(*os.Process) {
	return func(p *os.Process) {
		for i, s := range all {
			time.AfterFunc(time.Second+time.Duration(i)*20*time.Millisecond, func() { _ = p.Signal(s) })
		}
	}
}

func hostileLists() map[string]try {
	var n atomic.Int64
	pages := func(item func(n int64, i int) string, token func(n int64) string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			k := n.Add(1)
			var b strings.Builder
			for i := range 500 {
				if s := item(k, i); s != "" {
					b.WriteString(s + ",")
				}
			}
			body(`{"metadata":{"resourceVersion":"1","continue":"`+token(k)+`"},"items":[`+strings.TrimSuffix(b.String(), ",")+`]}`)(w, nil)
		}
	}
	named := func(format string) func(int64, int) string {
		return func(k int64, i int) string {
			return fmt.Sprintf(`{"metadata":{"namespace":"team-a","name":"`+format+`"},"spec":{"clusterName":"web"},"status":{"phase":"Running"}}`, k, i)
		}
	}
	moving := func(k int64) string { return fmt.Sprint("c", k) }
	failed := `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","metadata":{"name":"web-9","namespace":"team-a"},"spec":{"clusterName":"web"},"status":{"phase":"Failed"}}`
	return map[string]try{
		"list of 60 MB of {}":         {serve: at(listing, body(machineList(`[`+strings.Repeat("{},", 20<<20)+`{}]`))), code: blind, words: []string{"limit of 510 objects"}},
		"list of 60 MB in one item":   {serve: at(listing, body(machineList(`[{"metadata":{"name":"x"},"spec":[`+strings.Repeat("{},", 20<<20)+`{}]}]`))), code: blind},
		"list of large items":         {serve: at(listing, body(machineList(`[`+strings.Repeat(`{"metadata":{"name":"x"},"x":"`+strings.Repeat("a", 5<<20)+`"},`, 20)+`{}]`))), code: blind},
		"every list is 60 MB of {}":   {serve: at(func(r *http.Request) bool { return !discovering(r) }, body(machineList(`[`+strings.Repeat("{},", 20<<20)+`{}]`))), code: blind, within: 30 * time.Second},
		"every item has many values":  {serve: at(func(r *http.Request) bool { return !discovering(r) }, body(machineList(`[`+strings.Repeat(`{"x":[`+strings.Repeat("{},", 60_000)+`{}]},`, 100)+`{}]`))), code: blind, within: 30 * time.Second},
		"gzip bomb, a list":           {serve: at(listing, bomb(`{"kind":"MachineList","x":"`, `","items":[]}`)), code: blind},
		"gzip bomb, an item":          {serve: at(listing, bomb(`{"kind":"MachineList","items":[{"x":"`, `"}]}`)), code: blind},
		"new pages without end":       {serve: at(listing, pages(named("m-%d-%d"), moving)), code: blind, words: []string{"limit of 40000 objects"}, within: 30 * time.Second, args: []string{"scan", "--timeout", "20s"}},
		"the same page without end":   {serve: at(listing, pages(named("m%[3]s"), moving)), code: blind},
		"empty pages without end":     {serve: at(listing, pages(func(int64, int) string { return "" }, moving)), code: blind, words: []string{"bring nothing new"}},
		"the same token without end":  {serve: at(listing, pages(named("m-%d-%d"), func(int64) string { return "c" })), code: blind, words: []string{"bring nothing new"}},
		"list whose items are null":   {serve: at(listing, body(machineList("null"))), code: 0},
		"list whose items are a text": {serve: at(listing, body(machineList(`"none"`))), code: blind},
		"list of anything":            {serve: at(listing, body(machineList(`[null,7,"x",{},[],`+failed+`]`))), code: flagged, words: []string{"could not be read"}},
		"one Machine is no object":    {serve: at(listing, body(machineList(`[{"metadata":{"name":"x","namespace":"team-a"},"spec":{"clusterName":"web"},"status":7}]`))), code: blind, words: []string{"the status of Machine x is no object"}},
		"one Machine is 20 MB":        {serve: at(listing, body(machineList(`[{"metadata":{"name":"x","namespace":"team-a"},"x":"`+strings.Repeat("a", 20<<20)+`"},`+failed+`]`))), code: flagged, words: []string{"could not be read"}},
		"one Machine is deep":         {serve: at(listing, body(machineList(`[{"metadata":{"name":"x","namespace":"team-a"},"x":`+strings.Repeat(`{"a":`, 200_000)+"1"+strings.Repeat("}", 200_000)+`},`+failed+`]`))), code: flagged, words: []string{"could not be read"}},
		"one Machine of 9000 levels":  {serve: at(listing, body(machineList(`[{"metadata":{"name":"x","namespace":"team-a"},"x":`+strings.Repeat(`{"a":`, 9000)+"1"+strings.Repeat("}", 9000)+`},`+failed+`]`))), code: flagged},
		"list that breaks off":        {serve: at(listing, body(machineList(`[` + failed)[:150])), code: blind},
		"list that drips":             {serve: at(listing, drip), code: blind},
	}
}

func hostileWatches() map[string]try {
	watch := func(text string) func(http.ResponseWriter, *http.Request) bool { return at(watching, body(text)) }
	return map[string]try{
		"watch of garbage":        {serve: watch("hello\x00\xff"), code: flagged},
		"watch with an odd ERROR": {serve: watch(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":418}}`), code: flagged},
		"watch of one long event": {serve: watch(`{"type":"MODIFIED","object":{"x":"` + strings.Repeat("a", 80<<20) + `"}}`), code: flagged},
		"watch of a deep event":   {serve: watch(`{"type":"MODIFIED","object":` + strings.Repeat(`{"a":`, 1<<20)), code: flagged},
		"watch of a storm": {serve: at(watching, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for i := 0; r.Context().Err() == nil; i++ {
				if _, err := fmt.Fprintf(w, `{"type":"ADDED","object":{"metadata":{"namespace":"team-a","name":"m-%d","resourceVersion":"%d"},"spec":{"clusterName":"web"}}}`, i, i); err != nil {
					return
				}
			}
		}), code: flagged, within: 30 * time.Second},
	}
}

// hostileSecrets are kubeconfigs that a tenant wrote into the Secret of a cluster.
func hostileSecrets(t *testing.T) map[string]try {
	t.Helper()
	secret := func(value string) []map[string]any {
		return []map[string]any{capiCluster("team-a", "web"), failedMachine("team-a", "web", "web-1"),
			object("v1", "Secret", "team-a", "web-kubeconfig", map[string]any{"data": map[string]any{"value": base64.StdEncoding.EncodeToString([]byte(value))}})}
	}
	config := func(change func(*api.Config)) string {
		c := api.NewConfig()
		c.Clusters["c"] = &api.Cluster{Server: "https://127.0.0.1:1"}
		c.AuthInfos["u"] = &api.AuthInfo{Token: "x"}
		c.Contexts["c"], c.CurrentContext = &api.Context{Cluster: "c", AuthInfo: "u"}, "c"
		change(c)
		b, err := clientcmd.Write(*c)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	marker := filepath.Join(t.TempDir(), "run")
	var doubling strings.Builder
	doubling.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 60 {
		fmt.Fprintf(&doubling, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 9), ","))
	}
	not := func(words ...string) try { return try{code: flagged, words: words} }
	tries := map[string]try{}
	for name, c := range map[string]struct{ value, words string }{
		"aliases":      {doubling.String(), "YAML anchors or aliases"},
		"many aliases": {"x: &x {a: 1}\ny: [" + strings.Repeat("*x, ", 1000) + "]\n", "YAML anchors or aliases"},
		"large":        {strings.Repeat("# "+strings.Repeat("x", 100)+"\n", 20_000), "more than 256 KiB"},
		"many values":  {"x: [" + strings.Repeat("{},", 60_000) + "]", "more than 5000 values"},
		"a program": {config(func(c *api.Config) {
			c.AuthInfos["u"].Exec = &api.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", Command: "touch", Args: []string{marker}, InteractiveMode: api.NeverExecInteractiveMode}
		}), "an exec plug-in"},
		"a user in the address": {config(func(c *api.Config) { c.Clusters["c"].Server = "https://anna:LEAK@127.0.0.1:1" }), "a user in the server's address"},
		"plain HTTP":            {config(func(c *api.Config) { c.Clusters["c"].Server = "http://127.0.0.1:1" }), "not https"},
		"garbage":               {"\x00\x01\x02", "not a kubeconfig"},
	} {
		x := not(strings.ReplaceAll(c.words, "\n", ""))
		x.args = []string{"scan", "--timeout", "8s", "-o", "json"}
		x.objects = secret(c.value)
		x.check = func(t *testing.T, _ string, e ended) {
			t.Helper()
			if _, err := os.Stat(marker); err == nil {
				t.Error("a program of the cluster's choosing was run")
			}
			if strings.Contains(e.out+e.err, "LEAK") {
				t.Error("a password is shown")
			}
		}
		tries["Secret with "+name] = x
	}
	return tries
}

// hostileInside are workload clusters.
func hostileInside(t *testing.T) map[string]try {
	t.Helper()
	tries := map[string]try{}
	pods := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/pods") }
	nodes := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/nodes") }
	node := map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "n1", "uid": "n1"},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False"}}}}
	var n atomic.Int64
	for name, serve := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"nodes in a gzip bomb":   at(nodes, bomb(`{"kind":"NodeList","items":[{"x":"`, `"}]}`)),
		"60 MB of {} for pods":   at(pods, body(`{"kind":"PodList","items":[`+strings.Repeat("{},", 20<<20)+`{}]}`)),
		"everything for an hour": at(everything, after(429, "3600")),
		"everything elsewhere": at(everything, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://192.0.2.1/", http.StatusTemporaryRedirect)
		}),
		"everything dripping": at(everything, drip),
		"pages of pods without end": at(pods, func(w http.ResponseWriter, r *http.Request) {
			k := n.Add(1)
			var b strings.Builder
			for i := range 500 {
				fmt.Fprintf(&b, `{"metadata":{"namespace":"x","name":"p-%d-%d","uid":"%d-%d"},"spec":{"nodeName":"n1"}},`, k, i, k, i)
			}
			body(fmt.Sprintf(`{"metadata":{"continue":"c%d"},"items":[%s]}`, k, strings.TrimSuffix(b.String(), ",")))(w, r)
		}),
	} {
		inside := newStandIn(t, node)
		inside.breaks = serve
		c := api.NewConfig()
		c.Clusters["c"] = &api.Cluster{Server: inside.URL, CertificateAuthorityData: certificate(inside.Server)}
		c.AuthInfos["u"] = &api.AuthInfo{Token: "x"}
		c.Contexts["c"], c.CurrentContext = &api.Context{Cluster: "c", AuthInfo: "u"}, "c"
		tries["a workload cluster sends "+name] = try{
			objects: []map[string]any{capiCluster("team-a", "web"), failedMachine("team-a", "web", "web-1"), kubeconfigSecret(t, "team-a", "web", c)},
			code:    flagged, args: []string{"scan", "--timeout", "12s"}, within: 25 * time.Second,
		}
	}
	return tries
}

func hostileCaptures() map[string]try {
	machine := func(spec map[string]any) []map[string]any {
		m := failedMachine("team-a", "web", "odd")
		spec["clusterName"] = "web"
		m["spec"] = spec
		return []map[string]any{capiCluster("team-a", "web"), failedMachine("team-a", "web", "web-1"), m}
	}
	var deep any = "x"
	for range 9000 {
		deep = map[string]any{"a": deep}
	}
	odd := "\x7f\u0085\u009b\ufffe\uffff\u2028\ufeff\U0001fffe\x1b]0;owned\x07"
	back := func(words ...string) func(t *testing.T, home string, e ended) {
		return func(t *testing.T, home string, _ ended) {
			t.Helper()
			files, err := filepath.Glob(filepath.Join(home, "*.tar.gz"))
			if err != nil || len(files) != 1 {
				t.Errorf("%v, %v", files, err)
				return
			}
			file, err := lean()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(file, "scan", "--from", files[0]) //nolint:gosec // our own program.
			cmd.Env = homeless(t.TempDir())
			e := finish(t, cmd)
			if e.code != flagged {
				t.Errorf("read back: %d\n%s%s", e.code, e.out, e.err)
			}
			says(t, e.out, append(words, "web-1")...)
		}
	}
	capture := []string{"capture", "--timeout", "5s"}
	return map[string]try{
		"capture of odd characters":    {objects: machine(map[string]any{"x": odd, odd: odd}), args: capture, check: back("odd")},
		"capture of a deep object":     {objects: machine(map[string]any{"x": deep}), args: capture, check: back("odd")},
		"capture of a long text":       {objects: machine(map[string]any{"x": strings.Repeat("a\n", 2<<20)}), args: capture, check: back()},
		"capture of secrets":           {objects: machine(map[string]any{"password": "LEAK", "apiToken": "LEAK", "x": "Authorization: Basic TEVBSzpMRUFL password=LEAK https://LEAK1234@h.test"}), args: capture, check: back()},
		"capture of secrets, redacted": {objects: machine(map[string]any{"password": "LEAK", "apiToken": "LEAK", "x": "Cookie: LEAK"}), args: append(capture, "--redact"), check: back()},
	}
}

func certificate(s *httptest.Server) []byte {
	return pemOf(s.Certificate().Raw)
}

func pemOf(der []byte) []byte {
	return []byte("-----BEGIN CERTIFICATE-----\n" + base64.StdEncoding.EncodeToString(der) + "\n-----END CERTIFICATE-----\n")
}

// The dumps.

func file(write func(w io.Writer)) func(t *testing.T, dir string) string {
	return func(t *testing.T, dir string) string {
		t.Helper()
		path := filepath.Join(dir, "dump")
		f, err := os.Create(path) //nolint:gosec // ours.
		if err != nil {
			t.Fatal(err)
		}
		write(f)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

func textFile(text string) func(t *testing.T, dir string) string {
	return file(func(w io.Writer) { _, _ = io.WriteString(w, text) })
}

func hostileDumps() map[string]try {
	const machine = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata: {name: web-1, namespace: team-a}\nspec: {clusterName: web}\nstatus: {phase: Failed}\n"
	var aliases strings.Builder
	aliases.WriteString("kind: ConfigMap\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 60 {
		fmt.Fprintf(&aliases, "a%d: &a%d [*a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i)
	}
	tarOf := func(members int, content string, size int64) func(io.Writer) {
		return func(w io.Writer) {
			z := tar.NewWriter(w)
			for i := range members {
				_ = z.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprint("f", i, ".yaml"), Mode: 0o600, Size: max(size, int64(len(content)))})
				_, _ = io.WriteString(z, content)
			}
			_ = z.Flush()
		}
	}
	var whole bytes.Buffer
	pz := gzip.NewWriter(&whole)
	tarOf(1, machine+strings.Repeat("# xxxxxxxxxxxxxx\n", 5000), 0)(pz)
	_ = pz.Close()
	fifo := func(t *testing.T, dir string) string {
		t.Helper()
		path := filepath.Join(dir, "fifo")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	loop := func(t *testing.T, dir string) string {
		t.Helper()
		for from, to := range map[string]string{"a": dir, "b": "/", "passwd": "/etc/passwd"} {
			if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	stdin := func(*testing.T, string) string { return "-" }
	return map[string]try{
		"dump of aliases":              {dump: textFile(machine + "---\n" + aliases.String()), code: flagged, words: []string{"aliases"}},
		"dump of nothing but aliases":  {dump: textFile(aliases.String()), code: blind, words: []string{"aliases"}},
		"dump of 60 MB of {}, YAML":    {dump: textFile("kind: ConfigMap\nx: [" + strings.Repeat("{},", 20<<20) + "]\n---\n" + machine), code: flagged},
		"dump of 60 MB of {}, JSON":    {dump: textFile(`{"kind":"ConfigMap","x":[` + strings.Repeat("{},", 20<<20) + "{}]}"), code: blind},
		"dump of 60 MB of {} as items": {dump: textFile(`{"kind":"List","items":[` + strings.Repeat("{},", 20<<20) + "{}]}"), within: 60 * time.Second, code: blind},
		"dump of a 60 MB document":     {dump: textFile("kind: ConfigMap\nx:\n" + strings.Repeat("- a\n", 15<<20)), code: blind},
		"dump of a 15 MB document":     {dump: textFile("kind: ConfigMap\nx:\n" + strings.Repeat("- abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\n", 240_000)), code: blind, within: 60 * time.Second, memory: 400 << 10},
		"dump of a 60 MB text":         {dump: textFile(`{"kind":"ConfigMap","x":"` + strings.Repeat("a", 60<<20) + `"}`), code: blind},
		"dump in a gzip bomb":          {dump: file(func(w io.Writer) { pack(w, "kind: ConfigMap\nx: ", "\n") }), code: blind, within: 60 * time.Second},
		"dump in a gzip bomb of {}": {dump: file(func(w io.Writer) {
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, "x: ["+strings.Repeat("{},", 40<<20))
			_ = z.Close()
		}), code: blind, within: 60 * time.Second},
		"dump of a deep object": {dump: textFile("kind: ConfigMap\nx: " + strings.Repeat("{a: ", 200_000) + "\n---\n" + machine), code: flagged},
		"dump of deep indentation": {dump: textFile(func() string {
			var b strings.Builder
			b.WriteString("kind: ConfigMap\n")
			for i := range 3000 {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String() + "---\n" + machine
		}()), code: flagged},
		"dump of many tiny files": {dump: file(tarOf(150_000, "x", 0)), code: blind, within: 60 * time.Second},
		"dump of many tiny objects": {dump: file(func(w io.Writer) {
			for i := range 200_000 {
				_, _ = fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","uid":"%d"}}`, i, i)
			}
		}), code: blind, within: 90 * time.Second, words: []string{"more than 150000 objects"}, memory: 500 << 10},
		"dump that is cut off":           {dump: file(func(w io.Writer) { _, _ = w.Write(whole.Bytes()[:30]) }), code: blind, words: []string{"Nothing can be said"}},
		"dump with a lying size":         {dump: file(tarOf(1, machine, 1<<40)), code: flagged},
		"dump that is a FIFO":            {dump: fifo, args: []string{"scan", "--timeout", "2s"}, code: blind, words: []string{"nothing comes"}, within: 10 * time.Second},
		"dump that is a FIFO, signalled": {dump: fifo, args: []string{"scan", "--timeout", "600s"}, act: signals(syscall.SIGINT), code: blind, within: 5 * time.Second},
		"dump from an idle pipe":         {dump: stdin, args: []string{"scan", "--timeout", "2s"}, code: blind, words: []string{"nothing comes"}, within: 10 * time.Second},
		"dump from a pipe, signalled":    {dump: stdin, args: []string{"scan", "--timeout", "600s"}, act: signals(syscall.SIGTERM), code: blind, within: 5 * time.Second},
		"dump that is a device":          {dump: func(*testing.T, string) string { return "/dev/zero" }, act: signals(syscall.SIGINT), code: blind, within: 10 * time.Second},
		"dump of links":                  {dump: loop, code: blind},
		"dump that is large, signalled":  {dump: file(func(w io.Writer) { pack(w, "", "") }), args: []string{"scan"}, act: signals(syscall.SIGINT), code: blind, within: 5 * time.Second},
	}
}

// The terminals.

func hostileTerminals() map[string]func(t *testing.T) {
	start := func(t *testing.T, serve func(http.ResponseWriter, *http.Request) bool, env ...string) *exec.Cmd {
		t.Helper()
		file, err := lean()
		if err != nil {
			t.Fatal(err)
		}
		s := newStandIn(t, capiCluster("team-a", "web"), failedMachine("team-a", "web", "web-1"))
		s.breaks = serve
		cmd := exec.Command(file, "--kubeconfig", s.kubeconfig(t, withToken)) //nolint:gosec // our own program.
		cmd.Env = append(homeless(t.TempDir()), env...)
		return cmd
	}
	shown := func(t *testing.T, cmd *exec.Cmd) *screen {
		t.Helper()
		x := &screen{uitest.Exec(t, 120, 40, cmd).Within(time.Minute), cmd}
		x.KeepRaw()
		return x
	}
	ends := func(t *testing.T, x *screen, keys ...string) {
		t.Helper()
		began := time.Now()
		x.Keys(keys...)
		_ = x.Wait() // What it ends with is not what this is about.
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v to end", took)
		}
		givenBack(t, x)
	}
	return map[string]func(t *testing.T){
		"terminal: q while the server asks to wait": func(t *testing.T) {
			x := shown(t, start(t, at(everything, after(429, "3600"))))
			x.WaitFor("unreachable")
			ends(t, x, "q")
		},
		"terminal: ctrl+c while everything hangs": func(t *testing.T) {
			x := shown(t, start(t, at(everything, hang)))
			x.WaitFor("? help")
			ends(t, x, "ctrl+c")
		},
		"terminal: one look for a key that is held": func(t *testing.T) {
			var lists atomic.Int32
			x := shown(t, start(t, func(w http.ResponseWriter, r *http.Request) bool {
				if listing(r) {
					lists.Add(1)
					refuse(w, 500, "InternalError", "no")
					return true
				}
				return false
			}))
			x.WaitFor("unreachable: machines")
			before := lists.Load()
			x.Type(strings.Repeat("r", 2000))
			ends(t, x, "q")
			if n := lists.Load() - before; n > 6 {
				t.Errorf("it looked %d times", n)
			}
		},
		"terminal: dumb": func(t *testing.T) {
			x := shown(t, start(t, nil, "TERM=dumb"))
			_ = x.Wait() // It says why.
			if s := x.Raw(); strings.Contains(s, "\x1b") || !strings.Contains(s, "TERM=dumb") {
				t.Errorf("%q", s)
			}
		},
		"terminal: takes no output": func(t *testing.T) {
			cmd := start(t, nil)
			tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = tty.Close() })
			// Nobody reads: its buffer is full after some screens, for which the size changes.
			for i := range 100 {
				_ = pty.Setsize(tty, &pty.Winsize{Rows: 50, Cols: uint16(150 + i%2*50)}) //nolint:gosec // small.
				time.Sleep(20 * time.Millisecond)                                        // as a person drags a window.
			}
			began := time.Now()
			_ = cmd.Process.Signal(syscall.SIGTERM)
			done := make(chan struct{})
			go func() { _ = cmd.Wait(); close(done) }()
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				_ = cmd.Process.Kill()
				t.Errorf("it had not ended after %v", time.Since(began))
			}
		},
		"terminal: deep objects in full": func(t *testing.T) {
			var deep any = "x"
			for range 9000 {
				deep = map[string]any{"a": deep}
			}
			m := failedMachine("team-a", "web", "web-1")
			m["spec"].(map[string]any)["x"] = deep
			s := newStandIn(t, capiCluster("team-a", "web"), m)
			file, err := lean()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(file, "--kubeconfig", s.kubeconfig(t, withToken)) //nolint:gosec // our own program.
			cmd.Env = homeless(t.TempDir())
			x := shown(t, cmd)
			x.WaitFor("team-a/web", "Machine Failed")
			x.Keys("enter")
			x.WaitFor("MACHINE", "web-1")
			selectRow(x, "web-1")
			x.Keys("y")
			x.WaitFor("YAML Machine", "clusterName: web")
			x.Keys("G", "g", "G")
			x.WaitFor("phase: Failed")
			x.Keys("esc")
			ends(t, x, "ctrl+c")
		},
	}
}
