package guest

import (
	"context"
	"fmt"
	"path/filepath"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vksmedic/testdata/lab/internal/component"
	"vksmedic/testdata/lab/internal/kube"
	"vksmedic/testdata/lab/internal/proc"
)

// controllers are what the cluster's real kube-controller-manager runs. The node
// lifecycle controller is not among them, so the played kubelets need no heartbeats.
func controllers() []string {
	return []string{
		"deployment-controller", "replicaset-controller", "daemonset-controller", "disruption-controller",
		"garbage-collector-controller", "namespace-controller", "serviceaccount-controller", "pod-garbage-collector-controller",
	}
}

// apiServer is the cluster's API server with the controllers behind it.
type apiServer struct {
	process, controllerManager *proc.Process
	config                     *rest.Config
	client                     client.Client
}

func (a *apiServer) stop() {
	if a.controllerManager != nil {
		a.controllerManager.Kill()
	}
	a.process.Kill()
}

// apiServer starts the API server and, behind it, the real controllers and the
// played ones, when the first control plane VM boots.
func (c *Cluster) apiServer(ctx context.Context, ca *authorities) (*apiServer, error) {
	c.mu.Lock()
	api := c.api
	c.mu.Unlock()
	if api != nil {
		return api, nil
	}
	server := component.APIServer{Host: c.Net.Endpoint(c.Index), Dir: c.Dir, Certs: ca.dir}
	for slot := 1; slot <= maxMembers; slot++ {
		server.Etcd = append(server.Etcd, component.Etcd{Host: c.Net.Member(c.Index, slot)}.ClientURL())
	}
	file := func(name string) string { return filepath.Join(ca.dir, name) }
	server.Extra = []string{
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--enable-bootstrap-token-auth=true", "--allow-privileged=true",
		"--kubelet-client-certificate=" + file("apiserver-kubelet-client.crt"), "--kubelet-client-key=" + file("apiserver-kubelet-client.key"),
		"--kubelet-certificate-authority=" + file("ca.crt"),
		// A Node's internal address is its VM's, which is data only; the kubelet
		// that is played for it listens on the external one.
		"--kubelet-preferred-address-types=ExternalIP",
	}
	process, err := c.Programs.StartAPIServer(c.Launcher, c.processName("kube-apiserver"), server)
	if err != nil {
		return nil, fmt.Errorf("start the API server of %s: %w", c.Name, err)
	}
	api = &apiServer{process: process}
	if err := c.completeAPIServer(ctx, ca, api); err != nil {
		api.stop()
		return nil, err
	}
	c.mu.Lock()
	c.api = api
	c.mu.Unlock()
	close(c.apiReady)
	return api, nil
}

func (c *Cluster) completeAPIServer(ctx context.Context, ca *authorities, api *apiServer) error {
	access, err := kube.NewAccess(ca.cluster, c.Server(), kube.AdminUser, kube.AdminGroup)
	if err != nil {
		return fmt.Errorf("get access to %s: %w", c.Name, err)
	}
	access.Cluster = c.Name
	api.config = access.Config()
	if err := access.WriteKubeconfig(c.Kubeconfig()); err != nil {
		return fmt.Errorf("get access to %s: %w", c.Name, err)
	}
	if err := kube.WaitReady(ctx, api.config, api.process.Done()); err != nil {
		return fmt.Errorf("start the API server of %s: %w", c.Name, err)
	}
	if api.client, err = kube.NewClient(api.config); err != nil {
		return fmt.Errorf("get access to %s: %w", c.Name, err)
	}
	if err := c.startControllerManager(ca, api); err != nil {
		return err
	}
	return c.startPlayed(api.config)
}

func (c *Cluster) startControllerManager(ca *authorities, api *apiServer) error {
	access, err := kube.NewAccess(ca.cluster, c.Server(), "system:kube-controller-manager")
	if err != nil {
		return fmt.Errorf("get the controllers' access to %s: %w", c.Name, err)
	}
	kubeconfig := filepath.Join(ca.dir, "controller-manager.kubeconfig")
	if err := access.WriteKubeconfig(kubeconfig); err != nil {
		return fmt.Errorf("get the controllers' access to %s: %w", c.Name, err)
	}
	api.controllerManager, err = c.Programs.StartControllerManager(c.Launcher, c.processName("kube-controller-manager"), c.Dir, kubeconfig, filepath.Join(ca.dir, "sa.key"), controllers()...)
	if err != nil {
		return fmt.Errorf("start the controllers of %s: %w", c.Name, err)
	}
	return nil
}
