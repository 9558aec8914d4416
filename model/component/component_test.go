package component

import (
	"slices"
	"strings"
	"testing"

	"vksmedic/model"
)

func pod(name, component string, change func(*model.Pod)) *model.Pod {
	p := &model.Pod{Meta: model.Meta{Kind: "Pod", Namespace: "kube-system", Name: name, Labels: map[string]string{"component": component, "tier": "control-plane"}}, Node: "cp-a", Mirror: true}
	if change != nil {
		change(p)
	}
	return p
}

func antrea(name, component string, owner model.Owner) *model.Pod {
	return &model.Pod{Meta: model.Meta{Namespace: "kube-system", Name: name, Labels: map[string]string{"app": "antrea", "component": component}, Owners: []model.Owner{owner}}}
}

func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		pod  *model.Pod
		want string
	}{
		"by annotation and label": {pod("kube-apiserver-cp-a", "kube-apiserver", nil), "kube-apiserver"},
		"by owner and name": {pod("etcd-cp-a", "", func(p *model.Pod) {
			p.Mirror = false
			p.Owners = []model.Owner{{Kind: "Node", Name: "cp-a", Controller: true}}
		}), "etcd"},
		"labels and name left":      {pod("kube-scheduler-cp-a", "kube-scheduler", func(p *model.Pod) { p.Mirror = false }), "kube-scheduler"},
		"label alone is not enough": {pod("my-scheduler", "kube-scheduler", func(p *model.Pod) { p.Mirror = false }), ""},
		"another namespace":         {pod("kube-scheduler-cp-a", "kube-scheduler", func(p *model.Pod) { p.Namespace = "shop" }), ""},
		"a second scheduler of somebody": {pod("kube-scheduler-cp-a", "kube-scheduler", func(p *model.Pod) {
			p.Mirror = false
			p.Owners = []model.Owner{{Kind: "ReplicaSet", Name: "x", Controller: true}}
		}), ""},
		"a storage product's controller manager": {&model.Pod{Meta: model.Meta{Namespace: "portworx", Name: "portworx-pvc-controller-7c-aaaaa"}, Node: "cp-a", HostNetwork: true}, ""},
		"the same in kube-system, as old manifests have it": {&model.Pod{Meta: model.Meta{Namespace: "kube-system", Name: "portworx-pvc-controller-7c-aaaaa",
			Labels: map[string]string{"name": "portworx-pvc-controller", "tier": "control-plane"}}, Node: "cp-a"}, ""},
		"antrea's agent":               {antrea("antrea-agent-42ft4", "antrea-agent", model.Owner{Kind: "DaemonSet", Name: "antrea-agent", Controller: true}), "antrea-agent"},
		"antrea's controller":          {antrea("antrea-controller-6d-x", "antrea-controller", model.Owner{Kind: "ReplicaSet", Name: "antrea-controller-6d", Controller: true}), "antrea-controller"},
		"dressed as antrea":            {antrea("x", "antrea-agent", model.Owner{Kind: "DaemonSet", Name: "miner", Controller: true}), ""},
		"a static pod of another kind": {pod("kube-vip-cp-a", "kube-vip", nil), ""},
	} {
		got, ok := Of(c.pod)
		if got.Name != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, want %q", name, got.Name, c.want)
		}
	}
}

func TestComm(t *testing.T) {
	for name, want := range map[string]string{"kube-controller-manager": "kube-controller", "antrea-controller": "antrea-controll", "kube-apiserver": "kube-apiserver"} {
		i := slices.IndexFunc(All(), func(c Component) bool { return c.Name == name })
		if i < 0 || All()[i].Comm() != want {
			t.Errorf("%s is number %d in the table", name, i)
		}
	}
	if slices.ContainsFunc(All(), func(c Component) bool { return c.Name == "kubelet" }) {
		t.Error("kubelet is no component of the table")
	}
}

func TestBinds(t *testing.T) {
	for name, c := range map[string]struct {
		log     string
		ports   []int
		address string
	}{
		"kube-apiserver":          {`E1019 20:33:37.958760       1 run.go:74] "command failed" err="failed to create listener: failed to listen on 0.0.0.0:6443: listen tcp 0.0.0.0:6443: bind: address already in use"`, []int{6443}, "0.0.0.0"},
		"kube-apiserver, older":   {`error: failed to create listener: failed to listen on 0.0.0.0:6443: listen tcp 0.0.0.0:6443: bind: address already in use`, []int{6443}, "0.0.0.0"},
		"kube-controller-manager": {`E0530 01:44:00.286285       1 run.go:74] "command failed" err="failed to create listener: failed to listen on 127.0.0.1:10257: listen tcp 127.0.0.1:10257: bind: address already in use"`, []int{10257}, "127.0.0.1"},
		"its older port":          {`listen tcp 0.0.0.0:10252: bind: address already in use`, []int{10252}, "0.0.0.0"},
		"kube-scheduler":          {"failed to create listener: failed to listen on 127.0.0.1:10259: listen tcp 127.0.0.1:10259: bind: address already in use\n", []int{10259}, "127.0.0.1"},
		"etcd 3.4":                {`2020-04-01 10:00:00.000000 C | etcdmain: listen tcp 0.0.0.0:2379: bind: address already in use`, []int{2379}, "0.0.0.0"},
		"etcd 3.5":                {`{"level":"fatal","ts":"2024-01-01T00:00:00Z","caller":"etcdmain/etcd.go:204","msg":"discovery failed","error":"listen tcp 127.0.0.1:2380: bind: address already in use"}`, []int{2380}, "127.0.0.1"},
		"no host":                 {"failed to start metrics server: failed to create listener: listen tcp :8080: bind: address already in use", []int{8080}, ""},
		"IPv6":                    {"listen tcp [::]:6443: bind: address already in use", []int{6443}, "::"},
		"tcp6 and zone":           {"listen tcp6 [fe80::1%eth0]:10350: bind: address already in use", []int{10350}, "fe80::1%eth0"},
		"twice the same":          {"listen tcp :2379: bind: address already in use\nlisten tcp :2379: bind: address already in use", []int{2379}, ""},
		"two of them":             {"listen tcp 10.0.0.1:2379: bind: address already in use\r\nlisten tcp 127.0.0.1:2381: bind: address already in use", []int{2379, 2381}, "10.0.0.1"},
		"another fault":           {"listen tcp 10.0.0.1:6443: bind: cannot assign requested address", nil, ""},
		"a sandbox":               {`failed to start sandbox container for pod "kube-apiserver-wc1-cp-a": Error response from daemon: Address already in use`, nil, ""},
		"another program":         {"bind failed: EADDRINUSE (Address already in use)", nil, ""},
		"no port":                 {"listen tcp 0.0.0.0:99999: bind: address already in use", nil, ""},
		"a unix socket":           {"listen unix /run/x.sock: bind: address already in use", nil, ""},
	} {
		got := Binds(c.log)
		var ports []int
		for _, b := range got {
			ports = append(ports, b.Port)
		}
		if len(ports) != len(c.ports) {
			t.Errorf("%s: ports %v, want %v", name, ports, c.ports)
			continue
		}
		for i := range ports {
			if ports[i] != c.ports[i] {
				t.Errorf("%s: ports %v, want %v", name, ports, c.ports)
			}
		}
		if len(got) > 0 && got[0].Address != c.address {
			t.Errorf("%s: address %q, want %q", name, got[0].Address, c.address)
		}
	}
}

func TestUnclear(t *testing.T) {
	for log, want := range map[string]bool{
		`failed to start sandbox container for pod "kube-apiserver-wc1-cp-a": Error response from daemon: Address already in use`: true,
		"OSError: [Errno 98] Address already in use":            true,
		"listen unix /run/x.sock: bind: address already in use": true,
		"listen tcp :6443: bind: address already in use":        false,
		"all is well": false,
	} {
		if line, ok := Unclear(log); ok != want || ok && line == "" {
			t.Errorf("%q: %v %q", log, ok, line)
		}
	}
}

func FuzzBinds(f *testing.F) {
	for _, s := range []string{"listen tcp 0.0.0.0:6443: bind: address already in use", "listen tcp [::]:1: bind: address already in use\n", "Address already in use", strings.Repeat("listen tcp :1: bind: address already in use ", 40)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Binds(s)
		if len(got) > maxBinds {
			t.Errorf("%d", len(got))
		}
		for _, b := range got {
			if b.Port < 1 || b.Port > 65535 || len(b.Line) > maxLine+len("…") {
				t.Errorf("%+v", b)
			}
		}
		Unclear(s)
	})
}
