// Command capi runs the Cluster API controllers and webhooks of the lab.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"vksmedic/testdata/lab/capi"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "capi:", err)
		os.Exit(1)
	}
}

func run() error {
	o := capi.Options{}
	flag.StringVar(&o.Host, "host", "127.0.0.1", "loopback address to listen on")
	flag.IntVar(&o.WebhookPort, "webhook-port", 9443, "port of the webhook server")
	flag.IntVar(&o.HealthPort, "health-port", 9440, "port of the health probe")
	flag.StringVar(&o.CertDir, "webhook-cert-dir", "", "folder with tls.crt and tls.key")
	flag.DurationVar(&o.SyncPeriod, "sync-period", time.Minute, "how often everything is reconciled at least")
	flag.DurationVar(&o.ConnectRetry, "connect-retry", 2*time.Second, "pause between tries to connect to a workload cluster")
	flag.BoolVar(&o.WebhooksOnly, "webhooks-only", false, "serve the webhooks, reconcile nothing")
	klog.InitFlags(nil)
	flag.Parse()

	// controller-runtime has registered --kubeconfig.
	cfg, err := clientcmd.BuildConfigFromFlags("", flag.Lookup("kubeconfig").Value.String())
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	cfg.QPS, cfg.Burst = 100, 200
	ctrl.SetLogger(klog.Background())
	return capi.Run(ctrl.SetupSignalHandler(), cfg, o) //nolint:wrapcheck // Run says what was being done.
}
