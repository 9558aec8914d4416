package node

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func fixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestStatus(t *testing.T) {
	for name, c := range map[string]struct {
		out   string
		fault Fault
		sub   string
	}{
		"running":                   {fixture(t, "status-running.txt"), FaultNone, "running"},
		"start limit":               {fixture(t, "status-start-limit.txt"), FaultStartLimit, "failed"},
		"start limit, pods live on": {fixture(t, "status-start-limit-with-shims.txt"), FaultStartLimit, "failed"},
		"start limit, cgroup 2":     {fixture(t, "status-start-limit-cgroup2.txt"), FaultStartLimit, "failed"},
		"bad configuration":         {fixture(t, "status-bad-config.txt"), FaultCrashing, "auto-restart"},
		"the newest systemd": {`× containerd.service - containerd container runtime
     Loaded: loaded (/usr/lib/systemd/system/containerd.service; enabled; preset: enabled)
     Active: failed (Result: start-limit-hit) since Thu 2026-05-28 17:12:25 UTC; 12s ago
   Duration: 4ms
 Invocation: 0d20155a453a4a7b853034ba81a7a5c6
       Docs: https://containerd.io
    Process: 61806 ExecStart=/usr/bin/containerd (code=exited, status=0/SUCCESS)
   Main PID: 61806 (code=exited, status=0/SUCCESS)
   Mem peak: 40.3M
        CPU: 69ms
`, FaultStartLimit, "failed"},
		"an old systemd": {`● docker.service - Docker Application Container Engine
   Loaded: loaded (/lib/systemd/system/docker.service; enabled; vendor preset: enabled)
   Active: failed (Result: start-limit-hit) since Tue 2021-02-23 08:10:48 UTC; 23s ago
  Process: 8807 ExecStart=/usr/bin/dockerd (code=exited, status=2)
 Main PID: 8807 (code=exited, status=2)
`, FaultStartLimit, "failed"},
		"an older result": {"● containerd.service - x\n   Loaded: loaded (/etc/x; enabled)\n   Active: failed (Result: start-limit) since Tue 2016-02-23 08:10:48 UTC; 23s ago\n", FaultStartLimit, "failed"},
		"result exit-code, the journal knows": {`● containerd.service - containerd container runtime
   Loaded: loaded (/usr/lib/systemd/system/containerd.service; enabled; vendor preset: disabled)
   Active: failed (Result: exit-code) since Tue 2021-02-23 08:10:48 CET; 23s ago

Feb 23 08:10:48 n systemd[1]: containerd.service: Scheduled restart job, restart counter is at 5.
Feb 23 08:10:48 n systemd[1]: Stopped containerd container runtime.
Feb 23 08:10:48 n systemd[1]: containerd.service: Start request repeated too quickly.
Feb 23 08:10:48 n systemd[1]: containerd.service: Failed with result 'exit-code'.
Feb 23 08:10:48 n systemd[1]: Failed to start containerd container runtime.
`, FaultStartLimit, "failed"},
		"failed for another reason": {"× containerd.service - x\n     Loaded: loaded (/x; enabled; preset: enabled)\n     Active: failed (Result: exit-code) since Tue 2021-02-23 08:10:48 UTC; 23s ago\n", FaultCrashing, "failed"},
		"stopped by hand":           {"○ containerd.service - x\n     Loaded: loaded (/x; enabled; preset: enabled)\n     Active: inactive (dead) since Mon 2026-11-30 08:44:57 UTC; 25ms ago\n", FaultStopped, "dead"},
		"masked":                    {"○ containerd.service\n     Loaded: masked (Reason: Unit containerd.service is masked.)\n     Active: inactive (dead)\n", FaultMasked, "dead"},
		"not there":                 {"Unit nosuch.service could not be found.\n", FaultMissing, ""},
		"starting":                  {"● containerd.service - x\n     Loaded: loaded (/x; enabled; preset: enabled)\n     Active: activating (start) since Mon 2026-11-30 08:44:57 UTC; 1s ago\n", FaultChanging, "start"},
		"nothing said":              {"bash: systemctl: command not found\n", FaultUnknown, ""},
		"started again since": {`● containerd.service - x
     Loaded: loaded (/x; enabled; preset: enabled)
     Active: active (running) since Mon 2026-11-30 08:42:13 UTC; 337ms ago

Nov 30 08:41:55 n systemd[1]: containerd.service: Start request repeated too quickly.
Nov 30 08:42:13 n systemd[1]: Started containerd.service - containerd container runtime.
`, FaultNone, "running"},
	} {
		u := ParseStatus(strings.ReplaceAll(c.out, "\n", "\r\n"))
		if got := u.Fault(); got != c.fault || u.Sub != c.sub {
			t.Errorf("%s: fault %q, sub %q; want %q, %q (%+v)", name, got, u.Sub, c.fault, c.sub, u)
		}
	}
}

func TestStatusDetails(t *testing.T) {
	u := ParseStatus(fixture(t, "status-start-limit-with-shims.txt"))
	if u.Name != "containerd.service" || u.Load != "loaded" || u.UnitFile != "enabled" || u.MainPID != 472 || !u.Since.Equal(time.Date(2026, 11, 30, 8, 41, 55, 0, time.UTC)) || u.Journal.Remaining != 4 || u.ReallyFails() {
		t.Errorf("%+v", u)
	}
	broken := ParseStatus(`● containerd.service - containerd container runtime
     Active: active (running) since Thu 2026-05-28 08:00:00 UTC; 20min ago
... level=warning msg="failed to load plugin io.containerd.grpc.v1.cri" error="invalid plugin config: no corresponding runtime configured in ` + "`containerd.runtimes` for `default_runtime_name = \"runc\"`\"\n")
	if broken.Fault() != FaultNone || broken.Journal.PluginError == "" {
		t.Errorf("it runs, and its CRI plug-in is broken: %+v", broken)
	}
	if u := ParseStatus(fixture(t, "status-bad-config.txt")); !u.ReallyFails() {
		t.Error("it fails by itself")
	}
	if got := ParseStatus("● a.service\n  Active: active (running) since Thu 2026-05-28 08:00:00 PDT; 20min ago").Since; !got.IsZero() {
		t.Errorf("a zone that cannot be told was read as %v", got)
	}
}

func TestShow(t *testing.T) {
	u := ParseShow(fixture(t, "show-start-limit.txt"))
	if u.Fault() != FaultStartLimit || u.Restarts != 0 || u.Load != "loaded" || u.Since.IsZero() {
		t.Errorf("%+v", u)
	}
	for name, c := range map[string]struct {
		out  string
		want Fault
	}{
		"running":                          {"Result=success\nActiveState=active\nSubState=running\n", FaultNone},
		"other order":                      {"SubState=failed\nActiveState=failed\nNRestarts=4\nResult=start-limit-hit\n", FaultStartLimit},
		"crash loop":                       {"Result=exit-code\nNRestarts=3\nActiveState=activating\nSubState=auto-restart\n", FaultCrashing},
		"stopped":                          {"Result=success\nActiveState=inactive\nSubState=dead\n", FaultStopped},
		"masked":                           {"LoadState=masked\nActiveState=inactive\nSubState=dead\nResult=success\n", FaultMasked},
		"masked while active stays masked": {"UnitFileState=masked\nActiveState=inactive\n", FaultMasked},
		"not found":                        {"Result=success\nLoadState=not-found\nActiveState=inactive\n", FaultMissing},
		"sudo before it":                   {"sudo: unable to resolve host vm: Temporary failure in name resolution\nResult=start-limit-hit\nActiveState=failed\n", FaultStartLimit},
		"refused":                          {"Job for containerd.service failed because start of the service was attempted too often.\n", FaultStartLimit},
		"properties of nothing":            {"Result=success\n", FaultUnknown},
		"empty":                            {"", FaultUnknown},
	} {
		if got := ParseShow(c.out).Fault(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestJournal(t *testing.T) {
	j := ParseJournal(`systemd[1]: containerd.service: Scheduled restart job, restart counter is at 5.
systemd[1]: Stopped containerd container runtime.
systemd[1]: containerd.service: Start request repeated too quickly.
systemd[1]: containerd.service: Failed with result 'exit-code'.
systemd[1]: Failed to start containerd container runtime.
`)
	if !j.StartLimit || j.Result != "exit-code" || j.RestartCounter != 5 {
		t.Errorf("%+v", j)
	}
	if j := ParseJournal("Nov 30 08:24:48 vm systemd[1]: containerd.service: Failed with result 'start-limit-hit'."); !j.StartLimit {
		t.Errorf("%+v", j)
	}
	if j := ParseJournal("Nov 30 vm systemd[1]: containerd.service: Failed with result 'exit-code'.\nNov 30 vm systemd[1]: containerd.service: Service hold-off time over, scheduling restart."); j.StartLimit {
		t.Errorf("no start limit there: %+v", j)
	}
	if j := ParseJournal(`time="x" level=fatal msg="bad config"` + "\n"); j.LastError == "" {
		t.Errorf("%+v", j)
	}
}

func TestContainers(t *testing.T) {
	table, js := ParseContainers(fixture(t, "crictl-table.txt")), ParseContainers("sudo: unable to resolve host vm {really}\n"+fixture(t, "crictl.json"))
	if len(table.List) != 4 || len(js.List) != 4 || len(js.Noise) != 1 || table.Failure+js.Failure != "" {
		t.Fatalf("%d and %d containers, noise %q", len(table.List), len(js.List), js.Noise)
	}
	for i := range js.List {
		a, b := table.List[i], js.List[i]
		if !b.Same(a.ID) || a.Name != b.Name || a.Attempt != b.Attempt || a.State != Exited || b.State != Exited || a.Pod != b.Pod || a.PodNamespace != b.PodNamespace || a.Image != b.Image {
			t.Errorf("row %d: %+v and %+v", i, a, b)
		}
	}
	if x := js.List[0]; x.Created.Year() != 2026 || x.PodUID != "f3dc947450fb2e608111c3bf5ee15f14" || len(x.ID) != 64 {
		t.Errorf("%+v", x)
	}
	if running, known := js.Running(js.List[0].ID); running || !known {
		t.Error("an exited container is not running")
	}
}

func TestContainersPasted(t *testing.T) {
	noise := `WARN[0000] Config "/etc/crictl.yaml" does not exist, trying next: "/usr/bin/crictl.yaml"
WARN[0000] runtime connect using default endpoints: [unix:///run/containerd/containerd.sock unix:///run/crio/crio.sock unix:///var/run/cri-dockerd.sock]. As the default settings are now deprecated, you should set the endpoint instead.
`
	for name, c := range map[string]struct {
		out     string
		want    []Container
		failure bool
	}{
		"with noise, headless": {noise + "d74dba5631b89       a9e7e6b294baf       About a minute ago   Exited              etcd                      16                  94622ba881744       etcd-wc1-cp-a                   kube-system\n",
			[]Container{{ID: "d74dba5631b89", State: Exited, Name: "etcd", Attempt: 16, SandboxID: "94622ba881744", Pod: "etcd-wc1-cp-a", PodNamespace: "kube-system", Age: "About a minute ago"}}, false},
		"older layout": {"38a0f753758c5       860f263331c95       16 seconds ago      Exited              kube-apiserver                       5                   64fec0fd4bc7d       kube-apiserver-wc1-cp-a\n",
			[]Container{{ID: "38a0f753758c5", State: Exited, Name: "kube-apiserver", Attempt: 5, SandboxID: "64fec0fd4bc7d", Pod: "kube-apiserver-wc1-cp-a", Age: "16 seconds ago"}}, false},
		"oldest layout, with header": {"CONTAINER           IMAGE               CREATED             STATE               NAME                ATTEMPT             POD ID\n38a0f753758c5       860f263331c95       16 seconds ago      Running             kube-apiserver      5                   64fec0fd4bc7d\n",
			[]Container{{ID: "38a0f753758c5", State: Running, Name: "kube-apiserver", Attempt: 5, SandboxID: "64fec0fd4bc7d", Age: "16 seconds ago"}}, false},
		"a column is empty": {"CONTAINER           IMAGE               CREATED             STATE               NAME                ATTEMPT             POD ID              POD                 NAMESPACE\n38a0f753758c5                           16 seconds ago      Running             kube-apiserver      5                   64fec0fd4bc7d                           kube-system\n",
			[]Container{{ID: "38a0f753758c5", State: Running, Name: "kube-apiserver", Attempt: 5, SandboxID: "64fec0fd4bc7d", PodNamespace: "kube-system", Age: "16 seconds ago"}}, false},
		"docker's table": {`e7dd23a3e2c9        d150df6c8d5f     "kube-scheduler --bi…"   3 minutes ago       Exited (1) 3 minutes ago     k8s_kube-scheduler_kube-scheduler-wc1-cp-a_kube-system_a14d87bece740aaf977103aa4c3e946a_148` + "\n",
			[]Container{{ID: "e7dd23a3e2c9", State: Exited, Name: "kube-scheduler", Attempt: 148, Pod: "kube-scheduler-wc1-cp-a", PodNamespace: "kube-system", Age: "3 minutes ago"}}, false},
		"the socket is not there": {"FATA[0000] ... dial unix /var/run/dockershim.sock: connect: no such file or directory\n", nil, true},
		"without rights":          {`time="2026-11-30T08:45:05Z" level=error msg="validate service connection: validate CRI v1 runtime API for endpoint \"unix:///run/containerd/containerd.sock\": rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: permission denied\""` + "\n", nil, true},
		"nothing":                 {"", nil, false},
		"words":                   {"no such command\n{not json\n", nil, false},
		"JSON without containers": {`{"containers":[]}`, nil, false},
		"JSON of something else":  {`{"pods":[]}`, nil, false},
	} {
		got := ParseContainers(c.out)
		if (got.Failure != "") != c.failure || len(got.List) != len(c.want) {
			t.Errorf("%s: failure %q, %d containers, noise %q", name, got.Failure, len(got.List), got.Noise)
			continue
		}
		for i, w := range c.want {
			g := got.List[i]
			g.Image, g.PodUID = "", ""
			if g != w {
				t.Errorf("%s: %+v, want %+v", name, g, w)
			}
		}
	}
	if got := ParseContainers("FATA[0000] ... dial unix /var/run/dockershim.sock: connect: no such file or directory"); got.Failure != "dial unix /var/run/dockershim.sock: connect: no such file or directory" {
		t.Errorf("failure %q", got.Failure)
	}
	if _, known := ParseContainers("FATA[0000] x").Running("38a0f753758c5"); known {
		t.Error("nothing is known where the runtime does not answer")
	}
}

func TestSockets(t *testing.T) {
	user := func(comm string, pid, fd int) []SocketUser { return []SocketUser{{comm, pid, fd}} }
	for name, c := range map[string]struct {
		line string
		want Socket
	}{
		"-H -tulpn":                     {`tcp LISTEN 0      4096   127.0.0.1:10259 0.0.0.0:* users:(("kube-scheduler",pid=310,fd=5))`, Socket{Protocol: "tcp", State: "LISTEN", Address: "127.0.0.1", Port: 10259, Users: user("kube-scheduler", 310, 5)}},
		"-tlpn":                         {`LISTEN   0         128            192.0.2.30:10252            0.0.0.0:*        users:(("kube-controller",pid=10048,fd=3))     `, Socket{State: "LISTEN", Address: "192.0.2.30", Port: 10252, Users: user("kube-controller", 10048, 3)}},
		"every address":                 {`tcp LISTEN 0 4096 *:6443 *:* users:(("kube-apiserver",pid=124481,fd=3))`, Socket{Protocol: "tcp", State: "LISTEN", Address: "*", Port: 6443, Users: user("kube-apiserver", 124481, 3)}},
		"IPv6":                          {`tcp LISTEN 0 4096 [::]:6443 [::]:* users:(("kube-apiserver",pid=1,fd=3))`, Socket{Protocol: "tcp", State: "LISTEN", Address: "::", Port: 6443, Users: user("kube-apiserver", 1, 3)}},
		"IPv6 and zone":                 {`udp UNCONN 0 0 [fe80::1]%eth0:546 [::]:* users:(("systemd-network",pid=9,fd=3))`, Socket{Protocol: "udp", State: "UNCONN", Address: "fe80::1", Zone: "eth0", Port: 546, Users: user("systemd-network", 9, 3)}},
		"mapped":                        {`tcp LISTEN 0 4096 [::ffff:10.0.0.1]:2379 *:* users:(("etcd",pid=5,fd=3))`, Socket{Protocol: "tcp", State: "LISTEN", Address: "::ffff:10.0.0.1", Port: 2379, Users: user("etcd", 5, 3)}},
		"IPv4 and zone":                 {`udp UNCONN 0 0 127.0.0.53%lo:53 0.0.0.0:*`, Socket{Protocol: "udp", State: "UNCONN", Address: "127.0.0.53", Zone: "lo", Port: 53, Nameless: true}},
		"two users":                     {`tcp LISTEN 0      4096           *:22          *:* users:(("sshd",pid=60,fd=3),("systemd",pid=1,fd=35))`, Socket{Protocol: "tcp", State: "LISTEN", Address: "*", Port: 22, Users: []SocketUser{{"sshd", 60, 3}, {"systemd", 1, 35}}}},
		"not root":                      {`tcp   LISTEN 0      4096       127.0.0.1:2379      0.0.0.0:*`, Socket{Protocol: "tcp", State: "LISTEN", Address: "127.0.0.1", Port: 2379, Nameless: true}},
		"name with spaces and brackets": {`tcp LISTEN 0 1 *:1 *:* users:(("a (b) c",pid=7,fd=3))`, Socket{Protocol: "tcp", State: "LISTEN", Address: "*", Port: 1, Users: user("a (b) c", 7, 3)}},
		"a name that forges an entry":   {`tcp LISTEN 0 1 *:1 *:* users:(("a",pid=1,fd=3)",pid=4242,fd=5))`, Socket{Protocol: "tcp", State: "LISTEN", Address: "*", Port: 1, Doubtful: true}},
		"a name that forges two":        {`tcp LISTEN 0 1 *:1 *:* users:(("",pid=1,fd=3),(",pid=4242,fd=5))`, Socket{Protocol: "tcp", State: "LISTEN", Address: "*", Port: 1, Doubtful: true}},
		"a name that forges the end":    {`tcp LISTEN 0 1 *:1 *:* users:(("",pid=1,fd=3))",pid=4242,fd=5))`, Socket{Protocol: "tcp", State: "LISTEN", Address: "*", Port: 1, Doubtful: true}},
		"cut":                           {`tcp LISTEN 0 1 *:1 *:* users:(("a",pid=`, Socket{Protocol: "tcp", State: "LISTEN", Address: "*", Port: 1, Doubtful: true}},
		"more columns":                  {`tcp LISTEN 0 4096 *:6443 *:* users:(("x",pid=2,fd=3)) ino:123 sk:1 <->`, Socket{Protocol: "tcp", State: "LISTEN", Address: "*", Port: 6443, Users: user("x", 2, 3)}},
	} {
		got := ParseSockets(c.line)
		if len(got.List) != 1 {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		g := got.List[0]
		same := slices.Equal(g.Users, c.want.Users)
		g.Users, c.want.Users = nil, nil
		if !same || !equalSocket(g, c.want) {
			t.Errorf("%s: %+v, want %+v (users equal: %v)", name, g, c.want, same)
		}
	}
	all := ParseSockets(`$ sudo ss -tulnp | grep 7946
Netid State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess
tcp  LISTEN  0  4096  192.0.2.55:7946  0.0.0.0:*  users:(("speaker",pid=4300,fd=7))
udp  UNCONN  0  0     192.0.2.55:7946  0.0.0.0:*  users:(("speaker",pid=4300,fd=8))
tcp  LISTEN  0  4096  192.0.2.55:79460  0.0.0.0:*
tcp  LISTEN  0  4096  127.0.0.1:23790  0.0.0.0:*
tcp  LISTEN  0  4096  *:ssh  *:*
`)
	if on := all.On(7946); len(on) != 2 || on[0].Users[0].PID != on[1].Users[0].PID || len(all.On(2379)) != 0 || len(all.Noise) != 3 {
		t.Errorf("%+v", all)
	}
}

func equalSocket(a, b Socket) bool {
	return a.Protocol == b.Protocol && a.State == b.State && a.Address == b.Address && a.Zone == b.Zone && a.Port == b.Port && a.Nameless == b.Nameless && a.Doubtful == b.Doubtful
}

func TestProcesses(t *testing.T) {
	p := ParseProcesses(`UID          PID    PPID  C STIME TTY          TIME CMD
root     20020 19977  0 Sep07 ?        00:01:47 kube-scheduler --bind-address=0.0.0.0 --kubeconfig=/etc/kubernetes/scheduler.conf --leader-elect=true --profiling=false
ops      52714 18242  0 08:06 pts/2    00:00:00 grep --color=auto kube-scheduler
root        1572       1 99 2025 ?        12-03:04:05 /opt/bin/kube-controller-manager --listen=127.0.0.1:10257
`)
	if len(p.List) != 3 || len(p.Noise) != 0 {
		t.Fatalf("%+v", p)
	}
	if x, ok := p.With(20020); !ok || x.Parent != 19977 || x.Started != "Sep07" || x.Program() != "kube-scheduler" || x.IsSearch() || x.Time != "00:01:47" {
		t.Errorf("%+v", x)
	}
	if x, _ := p.With(52714); !x.IsSearch() {
		t.Error("the search is not the orphan")
	}
	if x, _ := p.With(1572); x.Program() != "kube-controller-manager" {
		t.Errorf("%+v", x)
	}
	if p := ParseProcesses("error: process ID list syntax error\n"); len(p.List) != 0 || len(p.Noise) != 1 {
		t.Errorf("%+v", p)
	}
}

func TestCgroupContainer(t *testing.T) {
	id := strings.Repeat("13f02ae90aa1b3cd", 4)
	for name, c := range map[string]struct{ out, want string }{
		"cgroup 2":      {"0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-" + id + ".scope\n", id},
		"cgroup 1":      {"9:name=systemd:/kubepods.slice/cri-containerd-" + id + ".scope\n8:pids:/kubepods.slice/cri-containerd-" + id + ".scope\n0::/kubepods.slice/cri-containerd-" + id + ".scope\n", id},
		"a hybrid":      {"9:name=systemd:/\n0::/kubepods.slice/cri-containerd-" + id + ".scope\n", id},
		"cgroupfs":      {"4:memory:/kubepods/burstable/pod1/" + id + "\n", id},
		"colons":        {"0::/system.slice:cri-containerd:" + id + "\n", id},
		"a service":     {"0::/system.slice/containerd.service\n", ""},
		"two answers":   {"1:a:/x/cri-containerd-" + id + ".scope\n0::/x/cri-containerd-" + strings.Repeat("f", 64) + ".scope\n", ""},
		"not that long": {"0::/x/cri-containerd-" + id[:60] + ".scope\n", ""},
		"nothing":       {"", ""},
	} {
		if got := CgroupContainer(c.out); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestSession(t *testing.T) {
	s := ParseSession("Warning: Permanently added '192.0.2.71' (ED25519) to the list of known hosts.\r\n(vmware-system-user@192.0.2.71) Password:\r\nYou are required to change your password immediately (administrator enforced).\r\nCurrent password: ")
	if !s.HostKeyAdded || !s.PasswordAsked || !s.PasswordExpired || s.Output != "" || s.Blocked() == "" || len(s.Noise) != 4 {
		t.Errorf("%+v", s)
	}
	for name, c := range map[string]struct {
		out, left string
		blocked   bool
	}{
		"aged":                           {"You are required to change your password immediately (password aged)\n", "", true},
		"expired, newer":                 {"WARNING: Your password has expired.\nPassword change required but no TTY available.\n", "", true},
		"account":                        {"Your account has expired; please contact your system administrator\n", "", true},
		"sudo wants a password":          {"sudo: a password is required\n", "", true},
		"sudo's prompt":                  {"[sudo] password for vmware-system-user: ", "", true},
		"no sudo":                        {"vmware-system-user is not in the sudoers file.  This incident will be reported.\n", "", true},
		"a prompt alone":                 {"vmware-system-user@192.0.2.71's password: ", "", true},
		"noise and output":               {"Pseudo-terminal will not be allocated because stdin is not a terminal.\nsudo: unable to resolve host vm: Temporary failure in name resolution\nActiveState=failed\n", "ActiveState=failed", false},
		"output alone":                   {"a\nb\n", "a\nb", false},
		"a log that speaks of passwords": {"Nov 30 sshd[1]: Failed password for root from 192.0.2.1\n", "Nov 30 sshd[1]: Failed password for root from 192.0.2.1", false},
	} {
		s := ParseSession(c.out)
		if s.Output != c.left || (s.Blocked() != "") != c.blocked {
			t.Errorf("%s: output %q, blocked %q", name, s.Output, s.Blocked())
		}
	}
}

func TestBounded(t *testing.T) {
	for name, out := range map[string]string{
		"containers": strings.Repeat("d74dba5631b89  a9e7e6b294baf  1s ago  Exited  etcd  16  94622ba881744  etcd\n", 20000),
		"sockets":    strings.Repeat(`tcp LISTEN 0 1 *:1 *:* users:(("a",pid=7,fd=3))`+"\n", 20000),
		"one line":   strings.Repeat(`users:(("a",pid=7,fd=3)`, 50000),
		"braces":     strings.Repeat("{\n", 1<<16),
	} {
		c, s, p, j := ParseContainers(out), ParseSockets(out), ParseProcesses(out), ParseStatus(out)
		if len(c.List) > maxEntries || len(s.List) > maxEntries || len(p.List) > maxEntries || len(c.Noise) > maxNoise || len(s.Noise) > maxNoise {
			t.Errorf("%s: %d, %d, %d", name, len(c.List), len(s.List), len(p.List))
		}
		_ = j.Fault()
		ParseSession(out)
	}
}
