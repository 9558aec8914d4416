package node

import (
	"strings"
	"testing"
)

func FuzzContainers(f *testing.F) {
	f.Add(fixture(f, "crictl-table.txt"))
	f.Add(fixture(f, "crictl.json"))
	f.Add("WARN[0000] x\nd74dba5631b89       a9e7e6b294baf       About a minute ago   Exited              etcd                      16                  94622ba881744       etcd-a                   kube-system\n")
	f.Add("FATA[0000] ... dial unix /x: connect: no such file or directory")
	f.Add(`{"containers":[{"id":"x","createdAt":17}]}`)
	f.Add("CONTAINER  STATE\nä  Exited")
	f.Fuzz(func(t *testing.T, s string) {
		c := ParseContainers(s)
		if len(c.List) > maxEntries || len(c.Noise) > maxNoise {
			t.Errorf("%d containers, %d lines of noise", len(c.List), len(c.Noise))
		}
		for _, x := range c.List {
			if strings.ContainsAny(x.ID+x.Name+x.Pod, "\n\x1b") {
				t.Errorf("%+v", x)
			}
			if x.State == "" {
				t.Errorf("no state: %+v", x)
			}
		}
		c.Running("d74dba5631b89")
	})
}

func FuzzSockets(f *testing.F) {
	f.Add(`tcp LISTEN 0      4096           *:22          *:* users:(("sshd",pid=60,fd=3),("systemd",pid=1,fd=35))`)
	f.Add(`LISTEN 0 128 [::]:6443 [::]:*`)
	f.Add(`tcp LISTEN 0 1 *:1 *:* users:(("a",pid=1,fd=3)",pid=4242,fd=5))`)
	f.Add(`udp UNCONN 0 0 [fe80::1]%eth0:546 [::]:*`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, x := range ParseSockets(s).List {
			if x.Port < 0 || x.Port > 65535 || x.Address == "" || x.Doubtful && len(x.Users) > 0 || x.Nameless && len(x.Users) > 0 {
				t.Errorf("%+v", x)
			}
			for _, u := range x.Users {
				if u.PID <= 0 || strings.Contains(u.Comm, `"`) {
					t.Errorf("%+v", u)
				}
			}
		}
	})
}

func FuzzSystemctl(f *testing.F) {
	for _, n := range []string{"status-running.txt", "status-start-limit.txt", "status-bad-config.txt", "show-start-limit.txt", "status-start-limit-with-shims.txt"} {
		f.Add(fixture(f, n))
	}
	f.Add("Unit x.service could not be found.")
	f.Fuzz(func(t *testing.T, s string) {
		for _, u := range []Unit{ParseStatus(s), ParseShow(s)} {
			if u.Fault() == "" || u.MainPID < 0 || u.Restarts < -1 {
				t.Errorf("%+v", u)
			}
			if u.Active == "active" && u.Load != "masked" && u.Load != "not-found" && u.Fault() == FaultStartLimit {
				t.Errorf("running and refused: %+v", u)
			}
			u.ReallyFails()
		}
	})
}

func FuzzSession(f *testing.F) {
	f.Add("(vmware-system-user@192.0.2.71) Password:\nYou are required to change your password immediately (administrator enforced).\nCurrent password:")
	f.Add("UID PID PPID\nroot     20020 19977  0 Sep07 ?        00:01:47 kube-scheduler")
	f.Fuzz(func(t *testing.T, s string) {
		x := ParseSession(s)
		if len(x.Noise) > maxNoise {
			t.Errorf("%d lines of noise", len(x.Noise))
		}
		for _, p := range ParseProcesses(s).List {
			if p.PID <= 0 || p.Command == "" {
				t.Errorf("%+v", p)
			}
		}
		if id := CgroupContainer(s); id != "" && len(id) != 64 {
			t.Errorf("id %q", id)
		}
	})
}
