package capi

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/logutil"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/reconcilers/kubeadmconfig"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/reconcilers/kubeadmcontrolplane"
	"sigs.k8s.io/cluster-api/core/reconcilers/cluster"
	"sigs.k8s.io/cluster-api/core/reconcilers/clusterresourceset"
	"sigs.k8s.io/cluster-api/core/reconcilers/clusterresourcesetbinding"
	"sigs.k8s.io/cluster-api/core/reconcilers/machine"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinedeployment"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinehealthcheck"
	"sigs.k8s.io/cluster-api/core/reconcilers/machineset"
	"sigs.k8s.io/cluster-api/core/setup"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

// addReconcilers adds Cluster API's controllers with the settings of its own
// programs, and returns the cache of connections to workload clusters.
func addReconcilers(ctx context.Context, mgr ctrl.Manager, cfg *rest.Config, o Options) (clustercache.ClusterCache, error) {
	secretClient, err := setup.CreateSecretCachingClient(mgr)
	if err != nil {
		return nil, fmt.Errorf("create the client for Secrets: %w", err)
	}
	clusters, err := clustercache.SetupWithManager(ctx, mgr, clustercache.Options{
		SecretClient: secretClient,
		Cache:        setup.ClusterCacheCacheOptions(),
		Client:       setup.ClusterCacheClientOptions(userAgent, 20, 30),
	}, concurrency(10))
	if err != nil {
		return nil, fmt.Errorf("set up the connections to workload clusters: %w", err)
	}
	// The setting is on the implementation only, not on the interface.
	if c, ok := clusters.(interface{ SetConnectionCreationRetryInterval(time.Duration) }); ok {
		c.SetConnectionCreationRetryInterval(o.ConnectRetry)
	}
	secretCache, err := newSecretCache(mgr, cfg, o.SyncPeriod)
	if err != nil {
		return nil, err
	}
	etcdLogger, err := logutil.CreateDefaultZapLogger(zapcore.InfoLevel)
	if err != nil {
		return nil, fmt.Errorf("create the logger for etcd: %w", err)
	}

	c, reader := mgr.GetClient(), mgr.GetAPIReader()
	const grace = 5 * time.Minute // Cluster API's default for conditions read from a workload cluster.
	for name, reconciler := range map[string]interface {
		SetupWithManager(context.Context, ctrl.Manager, controller.Options) error
	}{
		"Cluster":                   &cluster.Reconciler{Client: c, APIReader: reader, ClusterCache: clusters, RemoteConnectionGracePeriod: 50 * time.Second},
		"Machine":                   &machine.Reconciler{Client: c, APIReader: reader, ClusterCache: clusters, RemoteConditionsGracePeriod: grace},
		"MachineSet":                &machineset.Reconciler{Client: c, APIReader: reader, ClusterCache: clusters, PreflightChecks: sets.New(clusterv1.MachineSetPreflightCheckAll)},
		"MachineDeployment":         &machinedeployment.Reconciler{Client: c, APIReader: reader},
		"MachineHealthCheck":        &machinehealthcheck.Reconciler{Client: c, ClusterCache: clusters},
		"ClusterResourceSetBinding": &clusterresourcesetbinding.Reconciler{Client: c},
		"KubeadmConfig":             &kubeadmconfig.Reconciler{Client: c, SecretCachingClient: secretClient, APIReader: reader, ClusterCache: clusters, TokenTTL: 15 * time.Minute},
		"KubeadmControlPlane": &kubeadmcontrolplane.Reconciler{
			Client: c, APIReader: reader, SecretCachingClient: secretClient, ClusterCache: clusters,
			EtcdDialTimeout: 10 * time.Second, EtcdCallTimeout: 15 * time.Second, EtcdLogger: etcdLogger, RemoteConditionsGracePeriod: grace,
		},
	} {
		if err := reconciler.SetupWithManager(ctx, mgr, concurrency(10)); err != nil {
			return nil, fmt.Errorf("set up the %s controller: %w", name, err)
		}
	}
	resourceSets := &clusterresourceset.Reconciler{Client: c, ClusterCache: clusters}
	if err := resourceSets.SetupWithManager(ctx, mgr, concurrency(10), secretCache); err != nil {
		return nil, fmt.Errorf("set up the ClusterResourceSet controller: %w", err)
	}
	return clusters, nil
}

func concurrency(n int) controller.Options { return controller.Options{MaxConcurrentReconciles: n} }
