// Package guest plays what happens inside the virtual machines of a workload
// cluster: kubeadm, kubelet and static pods. It stands in for real nodes.
//
// What is real: one etcd member for each control plane VM, which joins and leaves
// like kubeadm's, kube-apiserver and kube-controller-manager. What is played: the
// kubelets (Nodes, mirror pods, pods that start and end, port-forward), the
// scheduler, and pinniped's concierge in as far as it pins its agent to a node.
// All control plane VMs of a cluster share one API server process, at the
// cluster's own address.
//
// It never writes to the Supervisor; it only reads the Secrets that Cluster API
// made there. Start reading at Cluster.Boot.
package guest

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"vksmedic/testdata/lab/internal/component"
	"vksmedic/testdata/lab/internal/kube"
	"vksmedic/testdata/lab/internal/loopback"
	"vksmedic/testdata/lab/internal/proc"
)

// maxMembers is how many control plane VMs a cluster can have at a time. The API
// server is told all their addresses at once, so that members can come and go
// without a restart.
const maxMembers = 8

// VM is a virtual machine as the infrastructure sees it.
type VM struct {
	// Name is the VM's, the Machine's and the Node's.
	Name string
	// ProviderID joins Node and Machine.
	ProviderID string
	// Version is the Kubernetes version, such as "v1.36.3".
	Version string
	// Address is the VM's own; it is data only, nothing listens there.
	Address string
	// ControlPlane VMs run etcd and the API server.
	ControlPlane bool
}

// Config says where a cluster lives.
type Config struct {
	// Namespace and Name are the Cluster's.
	Namespace, Name string
	// Index is the cluster's number in the lab's network.
	Index int
	Net   *loopback.Net
	// Dir is for the cluster's data, logs and certificates.
	Dir      string
	Programs component.Programs
	Launcher *proc.Launcher
	// Supervisor is where the Secrets are.
	Supervisor client.Client
	// Log takes a line for people who watch the lab start.
	Log func(format string, args ...any)
}

// Cluster is one workload cluster.
type Cluster struct {
	Config

	ctx    context.Context // The cluster's life: boots go on after a reconcile.
	cancel context.CancelFunc

	boot sync.Mutex // One control plane VM joins at a time, as with kubeadm.

	mu        sync.Mutex
	machines  map[string]*machine
	authority *authorities
	api       *apiServer
	apiReady  chan struct{} // Closed once api is set.
}

// machine is a VM with what runs in it.
type machine struct {
	VM

	slot    int // 1 to maxMembers for the control plane, which decides its loopback address.
	etcd    *proc.Process
	learner uint64 // The etcd member id until it is promoted.
	kubelet *kubelet
	running bool // Its Node is registered.
	cancel  context.CancelFunc
}

// NewCluster returns a cluster without VMs, whose life ends with ctx or Stop.
func NewCluster(ctx context.Context, config Config) *Cluster {
	ctx, cancel := context.WithCancel(ctx)
	return &Cluster{
		Config: config, ctx: ctx, cancel: cancel,
		machines: map[string]*machine{}, apiReady: make(chan struct{}),
	}
}

// Server is the URL of the cluster's API server.
func (c *Cluster) Server() string { return "https://" + c.Net.Endpoint(c.Index) + ":6443" }

// Kubeconfig is the file with the lab's own access; it exists once the API server
// is up.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.Dir, "kubeconfig") }

// Boot boots the VM in the background, again and again until it is up. It does
// nothing for a VM that it knows already.
func (c *Cluster) Boot(vm VM) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.machines[vm.Name] != nil {
		return nil
	}
	m := &machine{VM: vm}
	if vm.ControlPlane {
		slot, err := c.freeSlot()
		if err != nil {
			return err
		}
		m.slot = slot
	}
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(c.ctx)
	c.machines[vm.Name] = m
	go c.bootUntilUp(ctx, m)
	return nil
}

// Running reports whether the VM has booted and its Node is registered.
func (c *Cluster) Running(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.machines[name] != nil && c.machines[name].running
}

// PowerOff ends the VM and all that runs in it. Its Node is left to Cluster API.
func (c *Cluster) PowerOff(ctx context.Context, name string) {
	c.mu.Lock()
	m := c.machines[name]
	delete(c.machines, name)
	api := c.api
	c.mu.Unlock()
	if m == nil {
		return
	}
	m.cancel()
	if !m.ControlPlane {
		return
	}
	if api != nil {
		// The pods go before etcd does: without its last member the API server has
		// no store, and each call would hang for a minute.
		removeMirrorPods(ctx, api.client, name)
	}
	c.boot.Lock() // A boot that is under way ends first; its context has.
	defer c.boot.Unlock()
	if m.kubelet != nil {
		m.kubelet.stop()
	}
	if m.etcd != nil {
		m.etcd.Kill()
	}
}

// Stop ends the cluster.
func (c *Cluster) Stop() {
	c.cancel()
	c.boot.Lock()
	defer c.boot.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.api != nil {
		c.api.stop()
	}
	for _, m := range c.machines {
		if m.kubelet != nil {
			m.kubelet.stop()
		}
		if m.etcd != nil {
			m.etcd.Kill()
		}
	}
}

// freeSlot returns the lowest slot that no control plane VM has.
func (c *Cluster) freeSlot() (int, error) {
	used := map[int]bool{}
	for _, m := range c.machines {
		used[m.slot] = true
	}
	for slot := 1; slot <= maxMembers; slot++ {
		if !used[slot] {
			return slot, nil
		}
	}
	return 0, fmt.Errorf("cluster %s/%s has %d control plane VMs already", c.Namespace, c.Name, maxMembers)
}

func (c *Cluster) bootUntilUp(ctx context.Context, m *machine) {
	start := time.Now()
	err := kube.Poll(ctx, 500*time.Millisecond, "VM "+m.Name, func(ctx context.Context) (bool, error) {
		boot := c.bootWorker
		if m.ControlPlane {
			boot = c.bootControlPlane
		}
		if err := boot(ctx, m); err != nil {
			if ctx.Err() == nil {
				c.Log("%s/%s: booting %s again: %v", c.Namespace, c.Name, m.Name, err)
			}
			return false, nil
		}
		return true, nil
	})
	if err != nil {
		return // Powered off meanwhile.
	}
	c.mu.Lock()
	m.running = true
	c.mu.Unlock()
	c.Log("%s/%s: VM %s is up (%.1f s)", c.Namespace, c.Name, m.Name, time.Since(start).Seconds())
}

// bootControlPlane does what kubeadm init or kubeadm join --control-plane does.
// Each step can be repeated.
func (c *Cluster) bootControlPlane(ctx context.Context, m *machine) error {
	c.boot.Lock()
	defer c.boot.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("boot %s: %w", m.Name, err)
	}
	ca, err := c.certificates(ctx)
	if err != nil {
		return err
	}
	if err := c.joinEtcd(ctx, ca, m); err != nil {
		return err
	}
	api, err := c.apiServer(ctx, ca)
	if err != nil {
		return err
	}
	if m.kubelet == nil {
		if m.kubelet, err = startKubelet(ctx, ca.cluster, m.Name, c.memberHost(m), c.forwardTarget(m)); err != nil {
			return err
		}
	}
	if err := registerNode(ctx, api.client, m.VM, c.memberHost(m)); err != nil {
		return err
	}
	if err := createMirrorPods(ctx, api.client, m.VM); err != nil {
		return err
	}
	// The control plane provider takes this ConfigMap as the sign that kubeadm
	// init is through.
	return createKubeadmConfig(ctx, api.client, c.Name, m.Version)
}

// bootWorker does what kubeadm join does.
func (c *Cluster) bootWorker(ctx context.Context, m *machine) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("boot %s: %w", m.Name, ctx.Err())
	case <-c.apiReady:
	}
	return registerNode(ctx, c.api.client, m.VM, "")
}

// memberHost is the loopback address of a control plane VM.
func (c *Cluster) memberHost(m *machine) string { return c.Net.Member(c.Index, m.slot) }

// forwardTarget says what a port-forward to one of the VM's static pods reaches.
func (c *Cluster) forwardTarget(m *machine) func(pod string, port int32) (string, error) {
	return func(pod string, port int32) (string, error) {
		switch {
		case pod == "etcd-"+m.Name && port == 2379:
			return c.memberHost(m) + ":2379", nil
		case pod == "kube-apiserver-"+m.Name:
			return c.Net.Endpoint(c.Index) + ":6443", nil
		default:
			return "", fmt.Errorf("nothing listens on port %d of pod %s", port, pod)
		}
	}
}
