package capi

import (
	"context"
	"fmt"
	"strings"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	addonsv1beta1 "sigs.k8s.io/cluster-api/api/addons/v1beta1" //nolint:staticcheck // What the webhooks convert.
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1" //nolint:staticcheck // What the webhooks convert.
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1beta1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta1" //nolint:staticcheck // What the webhooks convert.
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1" //nolint:staticcheck // What the webhooks convert.
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1alpha1 "sigs.k8s.io/cluster-api/api/ipam/v1alpha1" //nolint:staticcheck // What the webhooks convert.
	ipamv1beta1 "sigs.k8s.io/cluster-api/api/ipam/v1beta1"   //nolint:staticcheck // What the webhooks convert.
	ipamv1 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	runtimev1alpha1 "sigs.k8s.io/cluster-api/api/runtime/v1alpha1" //nolint:staticcheck // What the webhooks convert.
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	controlplaneconversion "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/conversion"
	"sigs.k8s.io/cluster-api/core/setup"
	"sigs.k8s.io/cluster-api/core/webhooks/conversion"
	"sigs.k8s.io/cluster-api/util/index"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// userAgent is what Cluster API's own core manager calls itself.
const userAgent = "cluster-api-controller-manager"

// Options say where the manager listens and how much of Cluster API it runs.
type Options struct {
	// Host is the loopback address for the webhook server and the health probe.
	Host string
	// WebhookPort and HealthPort are TCP ports on Host.
	WebhookPort, HealthPort int
	// CertDir holds tls.crt and tls.key of the webhook server.
	CertDir string
	// SyncPeriod is how often everything is reconciled even when nothing changed. The
	// control plane provider looks at etcd only in a reconcile, so this is short in a
	// lab.
	SyncPeriod time.Duration
	// ConnectRetry is the pause before a workload cluster that did not answer is
	// tried again. Cluster API's own 30 s would make each new cluster wait.
	ConnectRetry time.Duration
	// WebhooksOnly serves the webhooks and reconciles nothing. Then nothing is
	// listed or watched either, so it runs where v1beta2 is not served.
	WebhooksOnly bool
}

// Run runs the manager until ctx ends. It returns an error when the manager cannot be
// set up or loses something that it cannot run without.
func Run(ctx context.Context, cfg *rest.Config, o Options) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(cfg, managerOptions(scheme, o))
	if err != nil {
		return fmt.Errorf("create the Cluster API manager: %w", err)
	}
	if err := mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return fmt.Errorf("add the readiness check: %w", err)
	}
	conversion.SetAPIVersionGetter(contractVersion(mgr.GetAPIReader()))
	controlplaneconversion.SetAPIVersionGetter(contractVersion(mgr.GetAPIReader()))

	w := webhooks{mgr: mgr}
	if !o.WebhooksOnly {
		if err := index.AddDefaultIndexes(ctx, mgr); err != nil {
			return fmt.Errorf("add Cluster API's indexes: %w", err)
		}
		if w.clusterCache, err = addReconcilers(ctx, mgr, cfg, o); err != nil {
			return err
		}
	}
	if err := w.add(); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run the Cluster API manager: %w", err)
	}
	return nil
}

func managerOptions(scheme *runtime.Scheme, o Options) ctrl.Options {
	cacheOptions := setup.ManagerCacheOptions(scheme, userAgent, "", o.SyncPeriod)
	// Core drops the data of all Secrets but kubeconfigs from its cache, the
	// control plane provider drops the specs of worker Machines from its own.
	// One manager for both has to keep both.
	for object, byObject := range cacheOptions.ByObject {
		byObject.Transform = nil
		cacheOptions.ByObject[object] = byObject
	}
	return ctrl.Options{
		Scheme:                 scheme,
		Controller:             config.Controller{UsePriorityQueue: ptr.To(true), CacheSyncTimeout: 5 * time.Minute},
		HealthProbeBindAddress: fmt.Sprintf("%s:%d", o.Host, o.HealthPort),
		Metrics:                metricsserver.Options{BindAddress: "0"}, // Off.
		Cache:                  cacheOptions,
		Client:                 setup.ManagerClientOptions(),
		WebhookServer:          webhook.NewServer(webhook.Options{Host: o.Host, Port: o.WebhookPort, CertDir: o.CertDir}),
	}
}

// newScheme knows every API version that Cluster API's conversion webhooks
// convert from or to.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, storagev1.AddToScheme,
		clusterv1beta1.AddToScheme, clusterv1.AddToScheme,
		addonsv1beta1.AddToScheme, addonsv1.AddToScheme,
		ipamv1alpha1.AddToScheme, ipamv1beta1.AddToScheme, ipamv1.AddToScheme,
		runtimev1alpha1.AddToScheme, runtimev1.AddToScheme,
		bootstrapv1beta1.AddToScheme, bootstrapv1.AddToScheme,
		controlplanev1beta1.AddToScheme, controlplanev1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register API types: %w", err)
		}
	}
	return scheme, nil
}

// contractVersion answers, for the conversion webhooks, which API version of
// another provider's kind to write into an old-style reference: the newest one
// that the contract labels of its CustomResourceDefinition name. Cluster API
// keeps the same function in an internal package.
func contractVersion(reader client.Reader) func(context.Context, schema.GroupKind) (string, error) {
	return func(ctx context.Context, kind schema.GroupKind) (string, error) {
		crd := &metav1.PartialObjectMetadata{}
		crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		name := strings.ToLower(kind.Kind) + "s." + kind.Group
		if err := reader.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
			return "", fmt.Errorf("get CustomResourceDefinition %s: %w", name, err)
		}
		for _, contract := range []string{"cluster.x-k8s.io/v1beta2", "cluster.x-k8s.io/v1beta1"} {
			if label := crd.Labels[contract]; label != "" {
				versions := strings.Split(label, "_")
				return kind.Group + "/" + versions[len(versions)-1], nil
			}
		}
		return "", fmt.Errorf("CustomResourceDefinition %s has no Cluster API contract label", name)
	}
}

// newSecretCache is the cache of Secrets' metadata that ClusterResourceSets need.
func newSecretCache(mgr ctrl.Manager, cfg *rest.Config, syncPeriod time.Duration) (cache.Cache, error) {
	secrets, err := cache.New(cfg, cache.Options{
		Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient(),
		SyncPeriod: &syncPeriod, DefaultTransform: cache.TransformStripManagedFields(),
	})
	if err != nil {
		return nil, fmt.Errorf("create the cache of Secrets: %w", err)
	}
	if err := mgr.Add(secrets); err != nil {
		return nil, fmt.Errorf("add the cache of Secrets: %w", err)
	}
	return secrets, nil
}
