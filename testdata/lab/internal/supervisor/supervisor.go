// Package supervisor starts the lab's Supervisor: a real API server with RBAC and
// an audit log, the real controllers it needs, the real definitions of Cluster
// API, CAPV and VM Operator, and the people who log in to it. It stages no
// clusters.
//
// Start reading at Start.
package supervisor

import (
	"context"
	_ "embed" // For the audit policy.
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"vksmedic/testdata/lab/internal/component"
	"vksmedic/testdata/lab/internal/kube"
	"vksmedic/testdata/lab/internal/loopback"
	"vksmedic/testdata/lab/internal/manifest"
	"vksmedic/testdata/lab/internal/pki"
	"vksmedic/testdata/lab/internal/proc"
)

const (
	webhookPort = 9443
	healthPort  = 9440
)

//go:embed audit.yaml
var auditPolicy []byte

// Options say what to start and where.
type Options struct {
	// Dir is for data, logs, certificates and kubeconfigs. Manifests is the
	// folder with crds and webhooks.
	Dir, Manifests string
	Net            *loopback.Net
	Programs       component.Programs
	Launcher       *proc.Launcher
	Log            func(format string, args ...any)
	// OnlyAPIs starts no controllers: the definitions and webhooks alone.
	OnlyAPIs bool
	// NoDrainRules leaves MachineDrainRule out, as before Cluster API 1.9.
	NoDrainRules bool
	Now          time.Time
}

// Supervisor is a running one.
type Supervisor struct {
	// Server is its URL.
	Server string
	// Access is the lab's own.
	Access kube.Access
	Client client.Client
	// Kubeconfigs are the files of the people in Users and of the lab itself.
	Kubeconfigs map[string]string
	// AuditLog has one JSON audit event a line, for every request but those of
	// the lab and of the controllers.
	AuditLog string

	options Options
	ca      *pki.CA
	process *proc.Process
}

// Start starts the Supervisor and returns when everything in it is ready.
func Start(ctx context.Context, o Options) (*Supervisor, error) {
	host := o.Net.Supervisor()
	s := &Supervisor{
		Server: component.APIServer{Host: host}.URL(), Kubeconfigs: map[string]string{},
		AuditLog: filepath.Join(o.Dir, "audit.log"), options: o,
	}
	if err := s.startAPIServer(ctx, host); err != nil {
		return nil, err
	}
	o.Log("Supervisor API server is ready at %s", s.Server)
	if err := s.createPeople(ctx); err != nil {
		return nil, err
	}
	if err := s.installClusterAPI(ctx, host); err != nil {
		return nil, err
	}
	o.Log("Cluster API is ready")
	return s, nil
}

func (s *Supervisor) certs() string { return filepath.Join(s.options.Dir, "pki") }

func (s *Supervisor) startAPIServer(ctx context.Context, host string) error {
	if err := s.writeCertificates(host); err != nil {
		return err
	}
	o := s.options
	etcd := component.Etcd{Member: "supervisor", Host: host, Dir: o.Dir, Certs: s.certs()}
	if _, err := o.Programs.StartEtcd(o.Launcher, "supervisor etcd", etcd); err != nil {
		return fmt.Errorf("start the Supervisor: %w", err)
	}
	process, err := o.Programs.StartAPIServer(o.Launcher, "supervisor kube-apiserver", component.APIServer{
		Host: host, Etcd: []string{etcd.ClientURL()}, Dir: o.Dir, Certs: s.certs(),
		Extra: []string{
			"--authorization-mode=RBAC",
			"--audit-policy-file=" + filepath.Join(s.certs(), "audit.yaml"), "--audit-log-path=" + s.AuditLog,
			"--audit-log-mode=blocking", // A request is in the log before its answer is sent.
		},
	})
	if err != nil {
		return fmt.Errorf("start the Supervisor: %w", err)
	}
	s.process = process
	if s.Access, err = kube.NewAccess(s.ca, s.Server, kube.AdminUser, kube.AdminGroup); err != nil {
		return fmt.Errorf("get access to the Supervisor: %w", err)
	}
	if s.Client, err = s.Access.Client(); err != nil {
		return fmt.Errorf("get access to the Supervisor: %w", err)
	}
	if err := kube.WaitReady(ctx, s.Access.Config(), process.Done()); err != nil {
		return fmt.Errorf("start the Supervisor: %w", err)
	}
	return s.startControllerManager()
}

// writeCertificates makes the Supervisor's authorities and all certificates.
func (s *Supervisor) writeCertificates(host string) error {
	ca, err := pki.NewCA("kubernetes", s.options.Now)
	if err != nil {
		return fmt.Errorf("make the Supervisor's certificates: %w", err)
	}
	etcd, err := pki.NewCA("etcd", s.options.Now)
	if err != nil {
		return fmt.Errorf("make the Supervisor's certificates: %w", err)
	}
	s.ca = ca
	private, public, err := pki.NewSigningKey()
	if err != nil {
		return fmt.Errorf("make the Supervisor's certificates: %w", err)
	}
	if err := pki.WriteFiles(s.certs(), map[string][]byte{
		"ca.crt": ca.PEM, "etcd-ca.crt": etcd.PEM, "sa.key": private, "sa.pub": public, "audit.yaml": auditPolicy,
	}); err != nil {
		return fmt.Errorf("write the Supervisor's certificates: %w", err)
	}
	for _, certificate := range []struct {
		ca      *pki.CA
		name    string
		request pki.Request
	}{
		{ca, "apiserver", pki.Request{CommonName: "kube-apiserver", DNSNames: []string{"kubernetes", "localhost"}, IPs: []string{host, "10.96.0.1"}}},
		{ca, "webhooks/tls", pki.Request{CommonName: "webhooks", IPs: []string{host}}},
		// A connection to 127.x.0.1 comes from 127.0.0.1; etcd checks that.
		{etcd, "supervisor-etcd-server", pki.Request{CommonName: "supervisor", IPs: []string{host, "127.0.0.1"}}},
		{etcd, "supervisor-etcd-peer", pki.Request{CommonName: "supervisor", IPs: []string{host, "127.0.0.1"}}},
		{etcd, "apiserver-etcd-client", pki.Request{CommonName: "kube-apiserver-etcd-client"}},
	} {
		dir, name := filepath.Split(filepath.Join(s.certs(), certificate.name))
		if err := certificate.ca.Write(dir, name, certificate.request); err != nil {
			return fmt.Errorf("write the Supervisor's certificates: %w", err)
		}
	}
	return nil
}

func (s *Supervisor) startControllerManager() error {
	kubeconfig, err := s.kubeconfigFor("system:kube-controller-manager")
	if err != nil {
		return err
	}
	o := s.options
	if _, err := o.Programs.StartControllerManager(o.Launcher, "supervisor kube-controller-manager", o.Dir, kubeconfig, filepath.Join(s.certs(), "sa.key"),
		"clusterrole-aggregation-controller", "garbage-collector-controller", "namespace-controller",
		"endpointslice-mirroring-controller", "serviceaccount-controller"); err != nil {
		return fmt.Errorf("start the Supervisor's controllers: %w", err)
	}
	return nil
}

// installClusterAPI installs all definitions and starts Cluster API's manager.
func (s *Supervisor) installClusterAPI(ctx context.Context, host string) error {
	o := s.options
	source := manifest.Source{
		Dir: o.Manifests, WebhookURL: fmt.Sprintf("https://%s:%d", host, webhookPort), WebhookCA: s.ca.PEM, NoDrainRules: o.NoDrainRules,
	}
	if err := manifest.Install(ctx, s.Client, source); err != nil {
		return fmt.Errorf("install the definitions: %w", err)
	}
	o.Log("definitions of Cluster API, CAPV and VM Operator are installed")
	kubeconfig, err := s.kubeconfigFor("capi-controller-manager", kube.AdminGroup)
	if err != nil {
		return err
	}
	process, err := o.Programs.StartCAPI(o.Launcher, component.CAPI{
		Host: host, WebhookPort: webhookPort, HealthPort: healthPort, Dir: o.Dir,
		Certs: filepath.Join(s.certs(), "webhooks"), Kubeconfig: kubeconfig, WebhooksOnly: o.OnlyAPIs,
	})
	if err != nil {
		return fmt.Errorf("start Cluster API: %w", err)
	}
	if err := waitHealthy(ctx, fmt.Sprintf("http://%s:%d/readyz", host, healthPort), process); err != nil {
		return fmt.Errorf("start Cluster API: %w", err)
	}
	if err := manifest.InstallWebhooks(ctx, s.Client, source); err != nil {
		return fmt.Errorf("install Cluster API's webhooks: %w", err)
	}
	return nil
}

func waitHealthy(ctx context.Context, url string, process *proc.Process) error {
	err := kube.Poll(ctx, 50*time.Millisecond, process.Name+" to be ready", func(ctx context.Context) (bool, error) {
		if process.Exited() {
			return false, fmt.Errorf("%s ended, see its log", process.Name)
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false, fmt.Errorf("ask %s: %w", url, err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, nil //nolint:nilerr // Not listening yet.
		}
		ready := response.StatusCode == http.StatusOK
		return ready, response.Body.Close()
	})
	return err
}

// kubeconfigFor writes a component's kubeconfig into the certificates' folder.
func (s *Supervisor) kubeconfigFor(user string, groups ...string) (string, error) {
	access, err := kube.NewAccess(s.ca, s.Server, user, groups...)
	if err != nil {
		return "", fmt.Errorf("get access to the Supervisor: %w", err)
	}
	path := filepath.Join(s.certs(), filepath.Base(user)+".kubeconfig")
	if err := access.WriteKubeconfig(path); err != nil {
		return "", fmt.Errorf("get access to the Supervisor: %w", err)
	}
	return path, nil
}
