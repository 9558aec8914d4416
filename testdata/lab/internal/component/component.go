// Package component starts the real Kubernetes programs of the lab (etcd,
// kube-apiserver, kube-controller-manager and the Cluster API manager) with the
// flags that they need on a laptop. All of them listen on loopback addresses
// only, and none of them outlives the lab (see package proc).
//
// Start reading at Programs.
package component

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vksmedic/testdata/lab/internal/proc"
)

// Programs is where the lab's programs are.
type Programs struct {
	dir    string
	assets string // KUBEBUILDER_ASSETS; empty if not set.
}

// FindPrograms looks for the programs in dir. If assets (the value of
// KUBEBUILDER_ASSETS) is not empty, kube-apiserver and etcd are taken from there.
func FindPrograms(dir, assets string) (Programs, error) {
	p := Programs{dir: dir, assets: assets}
	for _, name := range []string{"kube-apiserver", "etcd", "kube-controller-manager", "capi"} {
		if _, err := os.Stat(p.path(name)); err != nil {
			return Programs{}, fmt.Errorf("find %s: %w; run make lab", name, err)
		}
	}
	return p, nil
}

func (p Programs) path(name string) string {
	if p.assets != "" && (name == "kube-apiserver" || name == "etcd") {
		return filepath.Join(p.assets, name)
	}
	return filepath.Join(p.dir, name)
}

// Kubectl is the path of kubectl, which the lab builds but does not need.
func (p Programs) Kubectl() string { return filepath.Join(p.dir, "kubectl") }

// Etcd is one etcd member.
type Etcd struct {
	// Member is its name; on a kubeadm control plane that of its node.
	Member string
	// Host is the loopback address for clients (2379) and peers (2380).
	Host string
	// InitialCluster lists name=peer URL of all members; empty for a new cluster
	// of this one alone.
	InitialCluster string
	// Dir is for data and logs. Certs has <Member>-etcd-server and
	// <Member>-etcd-peer certificates and etcd-ca.crt.
	Dir, Certs string
}

// PeerURL is where other members reach it.
func (e Etcd) PeerURL() string { return "https://" + e.Host + ":2380" }

// ClientURL is where the API server reaches it.
func (e Etcd) ClientURL() string { return "https://" + e.Host + ":2379" }

// StartEtcd starts the member.
func (p Programs) StartEtcd(l *proc.Launcher, name string, e Etcd) (*proc.Process, error) {
	initial, state := e.Member+"="+e.PeerURL(), "new"
	if e.InitialCluster != "" {
		initial, state = e.InitialCluster, "existing"
	}
	cert := func(suffix string) string { return filepath.Join(e.Certs, e.Member+"-etcd-"+suffix) }
	authority := filepath.Join(e.Certs, "etcd-ca.crt")
	return l.Start(name, filepath.Join(e.Dir, "etcd-"+e.Member+".log"), p.path("etcd"), []string{
		"--name=" + e.Member,
		"--data-dir=" + filepath.Join(e.Dir, "data-"+e.Member),
		"--listen-client-urls=" + e.ClientURL(), "--advertise-client-urls=" + e.ClientURL(),
		"--listen-peer-urls=" + e.PeerURL(), "--initial-advertise-peer-urls=" + e.PeerURL(),
		"--initial-cluster=" + initial, "--initial-cluster-state=" + state,
		"--client-cert-auth=true", "--trusted-ca-file=" + authority,
		"--cert-file=" + cert("server.crt"), "--key-file=" + cert("server.key"),
		"--peer-client-cert-auth=true", "--peer-trusted-ca-file=" + authority,
		"--peer-cert-file=" + cert("peer.crt"), "--peer-key-file=" + cert("peer.key"),
		"--unsafe-no-fsync", // Faster; a lab keeps nothing.
		"--log-level=warn",
	}, nil)
}

// APIServer is one kube-apiserver.
type APIServer struct {
	// Host is the loopback address; the port is 6443.
	Host string
	// Etcd lists client URLs, also of members that do not run: the API server skips those.
	Etcd []string
	// Dir is for the log. Certs has ca.crt (of clients), apiserver.{crt,key},
	// etcd-ca.crt, apiserver-etcd-client.{crt,key}, sa.{pub,key}.
	Dir, Certs string
	// Extra flags come last.
	Extra []string
}

// URL is where it answers.
func (a APIServer) URL() string { return "https://" + a.Host + ":6443" }

// StartAPIServer starts it; see kube.WaitReady.
func (p Programs) StartAPIServer(l *proc.Launcher, name string, a APIServer) (*proc.Process, error) {
	file := func(n string) string { return filepath.Join(a.Certs, n) }
	args := []string{
		"--bind-address=" + a.Host, "--secure-port=6443",
		// The default Service's Endpoints would be loopback addresses, which
		// Kubernetes refuses.
		"--advertise-address=" + a.Host, "--endpoint-reconciler-type=none",
		"--etcd-servers=" + strings.Join(a.Etcd, ","), "--etcd-cafile=" + file("etcd-ca.crt"),
		"--etcd-certfile=" + file("apiserver-etcd-client.crt"), "--etcd-keyfile=" + file("apiserver-etcd-client.key"),
		"--client-ca-file=" + file("ca.crt"),
		"--tls-cert-file=" + file("apiserver.crt"), "--tls-private-key-file=" + file("apiserver.key"),
		"--service-account-key-file=" + file("sa.pub"), "--service-account-signing-key-file=" + file("sa.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-cluster-ip-range=10.96.0.0/16",
		// There are no token controllers' Secrets to mount into the pods of a
		// lab.
		"--disable-admission-plugins=ServiceAccount",
		"--profiling=false",
	}
	return l.Start(name, filepath.Join(a.Dir, "kube-apiserver.log"), p.path("kube-apiserver"), append(args, a.Extra...), nil)
}

// StartControllerManager starts a kube-controller-manager that runs the named
// controllers and nothing else, and listens nowhere.
func (p Programs) StartControllerManager(l *proc.Launcher, name, dir, kubeconfig, saKey string, controllers ...string) (*proc.Process, error) {
	return l.Start(name, filepath.Join(dir, "kube-controller-manager.log"), p.path("kube-controller-manager"), []string{
		"--kubeconfig=" + kubeconfig,
		"--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=0",
		"--use-service-account-credentials=true", "--service-account-private-key-file=" + saKey,
		"--controllers=" + strings.Join(controllers, ","),
		"--kube-api-qps=100", "--kube-api-burst=200",
	}, nil)
}

// CAPI is the Cluster API manager.
type CAPI struct {
	// Host, WebhookPort and HealthPort are where it listens.
	Host                    string
	WebhookPort, HealthPort int
	// Dir is for the log, Certs has tls.{crt,key}.
	Dir, Certs, Kubeconfig string
	// WebhooksOnly runs no controllers.
	WebhooksOnly bool
}

// StartCAPI starts it. Its health probe answers on /readyz.
func (p Programs) StartCAPI(l *proc.Launcher, c CAPI) (*proc.Process, error) {
	args := []string{
		"--kubeconfig=" + c.Kubeconfig, "--webhook-cert-dir=" + c.Certs, "--host=" + c.Host,
		fmt.Sprintf("--webhook-port=%d", c.WebhookPort), fmt.Sprintf("--health-port=%d", c.HealthPort),
		fmt.Sprintf("--webhooks-only=%t", c.WebhooksOnly), "--sync-period=1m", "--connect-retry=2s", "--v=2",
	}
	return l.Start("cluster-api", filepath.Join(c.Dir, "cluster-api.log"), p.path("capi"), args,
		// Cluster API's managers read their own name from the environment.
		[]string{"POD_NAMESPACE=capi-system", "POD_NAME=capi-controller-manager", "POD_UID=lab"})
}
