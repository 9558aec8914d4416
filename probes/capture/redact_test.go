package capture

import (
	"net/netip"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"vksmedic/model"
)

// redactor has learned from a few objects.
func redactor(t *testing.T, docs ...string) *Redactor {
	t.Helper()
	r := NewRedactor()
	r.object("Machine", "web-cp-1")
	r.supervisor(model.Supervisor{Server: "https://sv01.lab.corp.test:6443", User: "sso:ana@corp.test"})
	for _, d := range docs {
		var u map[string]any
		if err := yaml.Unmarshal([]byte(d), &u); err != nil {
			t.Fatal(err)
		}
		r.learn(u)
	}
	r.settle()
	return r
}

const vmYAML = `apiVersion: vmoperator.vmware.com/v1alpha4
kind: VirtualMachine
metadata: {name: web-cp-1, annotations: {vmoperator.vmware.com/created-by: "CORP\\bob"}}
status:
  nodeName: esx-12.lab.corp.test
  network: {primaryIP4: 10.1.2.3, config: {dns: {searchDomains: [users.corp.test]}}}
  addresses: [{type: Hostname, address: web-cp-1}, {type: InternalDNS, address: web-cp-1.nodes.corp.test}]
  conditions: [{type: Ready, message: 'User "sso:carol@corp.test" cannot get x: Get "https://vc7.lab.corp.test/sdk": dial tcp: lookup nsx3.lab.corp.test on 10.1.0.53:53: no such host'}]
`

// What has to go, goes; the same stand-in comes for the same name, in every form of text.
func TestRedactText(t *testing.T) {
	r := redactor(t, vmYAML)
	for in, gone := range map[string][]string{
		"esx-12.lab.corp.test is dead, esx-12 is dead: ESX-12.LAB.CORP.TEST":                 {"esx-12", "ESX-12", "corp", "CORP"},
		"host esx-99.lab.corp.test was never seen before":                                    {"esx-99", "corp"},
		"user ana@corp.test may not; User \"sso:ana@corp.test\"":                             {"ana", "corp"},
		`CORP\bob did it; corp\Bob.`:                                                         {"bob", "Bob"},
		"10.1.2.3:6443, [10.1.2.3] 10.1.2.3/24 (10.1.2.3).":                                  {"10.1.2.3"},
		"bind 10.1.2.3:10257 and fd00::a1 and [fd00::a1]:6443, fd00:0:0:0:0:0:0:a1: timeout": {"10.1.2.3", "fd00"},
		"mac 00:50:56:AA:bb:cc 00-50-56-aa-bb-cc":                                            {"50:56", "50-56"},
		"https://vc7.lab.corp.test/sdk nsx3.lab.corp.test.":                                  {"vc7", "nsx3", "corp"},
		"web-cp-1.nodes.corp.test":                                                           {"corp"},
	} {
		got := r.String(in)
		for _, g := range gone {
			if strings.Contains(got, g) {
				t.Errorf("%q becomes %q, which still has %q", in, got, g)
			}
		}
		if again := r.String(in); again != got {
			t.Errorf("%q becomes %q, then %q", in, got, again)
		}
	}
	for _, same := range [][2]string{
		{"esx-12.lab.corp.test", "ESX-12.lab.corp.test"}, {"ana@corp.test", "Ana@Corp.test"}, {`CORP\bob`, `corp\bob`},
		{"fd00::a1", "fd00:0:0:0:0:0:0:a1"}, {"00:50:56:aa:bb:cc", "00-50-56-AA-BB-CC"},
	} {
		if a, b := r.String(same[0]), r.String(same[1]); a != b {
			t.Errorf("%s is %s, and %s is %s", same[0], a, same[1], b)
		}
	}
	if short, long := r.String("esx-12"), r.String("esx-12.lab.corp.test"); !strings.HasPrefix(long, short+".") {
		t.Errorf("one host is %s and %s", short, long)
	}
	seen := map[string]string{}
	for _, in := range []string{"10.1.2.3", "10.1.2.4", "fd00::1", "fd00::2", "esx-12.lab.corp.test", "vc7.lab.corp.test", "ana@corp.test", `CORP\bob`, "sso:carol@corp.test"} {
		got := r.String(in)
		if was, taken := seen[got]; taken || got == in {
			t.Errorf("%s and %s are both %s", in, was, got)
		}
		seen[got] = in
	}
}

// What says nothing of where this is stays, and so does what only looks like an address.
func TestRedactLeaves(t *testing.T) {
	r := redactor(t, vmYAML, "kind: Pod\nspec: {containers: [{image: registry.k8s.io/pause:3.10}]}\n")
	for _, s := range []string{
		"127.0.0.1:10257: bind: address already in use", "[::1]:2381", "0.0.0.0:6443", "[::]:6443", "localhost:6443",
		"web-cp-1", "team-a/web", "cluster.x-k8s.io/v1beta2", "registry.k8s.io/pause:3.10", "v1.35.0+vmware.2-vkr.3", "v8.0.3.100",
		"2026-11-30T03:00:00.123456789Z", "16:03:53", "vsphere://4211e0a2-0001-0002-0003-0123456789ab", "sha256:0123456789abcdef",
		"kube-apiserver-web-cp-1", "system:serviceaccount:kube-system:default", "system:node:web-cp-1", "std::string", "a: b: c", "node.kubernetes.io/not-ready",
	} {
		if got := r.String(s); got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}

// Joins hold: owners, labels, selectors and addresses of one object are found from another one.
func TestRedactKeepsJoins(t *testing.T) {
	l := newLive(t)
	l.put(clusterYAML, `apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: web-cp-1, namespace: team-a, uid: u1, labels: {at: 10.1.2.9, made-by: ana}}
spec: {clusterName: web, providerID: "vsphere://10.1.2.9/x"}
status: {nodeRef: {name: web-cp-1}, addresses: [{type: InternalIP, address: 10.1.2.9}, {type: Hostname, address: web-cp-1}]}
`, `apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: {name: h, namespace: team-a}
spec: {clusterName: web, selector: {matchLabels: {at: 10.1.2.9}}}
`, vmYAML+"", `apiVersion: v1
kind: Endpoints
metadata: {name: web, namespace: team-a, ownerReferences: [{apiVersion: vmoperator.vmware.com/v1alpha4, kind: VirtualMachineService, name: web, uid: x}]}
subsets: [{addresses: [{ip: 10.1.2.9, targetRef: {kind: VirtualMachine, name: web-cp-1, uid: u1}}]}]
`)
	d := stdin(t, l.write(WriteOptions{Redactor: NewRedactor()}))
	sn := d.Snapshot(nil, threeAM)
	c := sn.Cluster(web)
	if c == nil || len(c.Machines) != 1 || len(c.HealthChecks) != 1 || len(c.Endpoints) != 1 {
		t.Fatalf("the cluster is taken apart: %+v", c)
	}
	m := c.Machines[0]
	to := m.Addresses[0]
	if a, err := netip.ParseAddr(to); err != nil || to == "10.1.2.9" {
		t.Errorf("the address is %s, %v", a, err)
	}
	if c.Endpoints[0].Subsets[0].Ready[0].IP != to || m.Labels["at"] != to || !strings.Contains(m.ProviderID, to) {
		t.Errorf("one address is %s, %s, %s and %s", to, c.Endpoints[0].Subsets[0].Ready[0].IP, m.Labels["at"], m.ProviderID)
	}
	if !c.HealthChecks[0].Selector.Matches(labelSet(m.Labels)) {
		t.Errorf("%v is not picked by %v any more", m.Labels, c.HealthChecks[0].Selector)
	}
	if m.Name != "web-cp-1" || m.NodeName != "web-cp-1" || m.UID != "u1" {
		t.Errorf("the Machine is %s on %s, %s", m.Name, m.NodeName, m.UID)
	}
	if s := sn.Supervisor; strings.Contains(s.Server+s.User, "corp") || s.Context != "prod" {
		t.Errorf("Supervisor %+v", s)
	}
	for _, s := range sn.Sources {
		if strings.Contains(s.Detail, "ana") {
			t.Errorf("source %+v", s)
		}
	}
}

type labelSet map[string]string

func (l labelSet) Has(k string) bool   { _, ok := l[k]; return ok }
func (l labelSet) Get(k string) string { return l[k] }
func (l labelSet) Lookup(k string) (string, bool) {
	v, ok := l[k]
	return v, ok
}

// However many addresses there are, no two have one stand-in.
func TestManyAddresses(t *testing.T) {
	seen := map[netip.Addr]bool{}
	for _, n := range []uint32{1, 2, 255, 256, 65535, 65536, 1<<17 - 1, 1 << 17, 1<<17 + 1, 1 << 20} {
		a := fourth(n)
		if seen[a] || a.IsLoopback() || a.IsUnspecified() {
			t.Errorf("number %d is %s", n, a)
		}
		seen[a] = true
	}
	if a, b := fourth(1).String(), fourth(1<<17-1).String(); a != "198.18.0.1" || b != "198.19.255.255" {
		t.Errorf("%s to %s", a, b)
	}
}
