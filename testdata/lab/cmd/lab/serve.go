package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"vksmedic/testdata/lab/internal/component"
	"vksmedic/testdata/lab/internal/kube"
	"vksmedic/testdata/lab/internal/loopback"
	"vksmedic/testdata/lab/internal/proc"
	"vksmedic/testdata/lab/internal/scenario"
	"vksmedic/testdata/lab/internal/state"
	"vksmedic/testdata/lab/internal/supervisor"
	"vksmedic/testdata/lab/internal/vsphere"
)

// stageTimeout is how long the staging may take. With two cores it takes a third of
// that.
const stageTimeout = 8 * time.Minute

// serveOptions are the flags of serve, which up passes on.
type serveOptions struct {
	scenario     string
	onlyAPIs     bool
	served       string
	noDrainRules bool
}

func (o *serveOptions) add(flags *flag.FlagSet) {
	flags.StringVar(&o.scenario, "scenario", "all", "workload clusters to stage: all, none, or a list of NAMESPACE/NAME")
	flags.BoolVar(&o.onlyAPIs, "only-apis", false, "no controllers and no workload clusters: a Supervisor's API with a few objects in it")
	flags.StringVar(&o.served, "served", "both", "with --only-apis: the versions of Cluster API that are served: v1beta1, v1beta2 or both")
	flags.BoolVar(&o.noDrainRules, "no-drain-rules", false, "with --only-apis: no MachineDrainRule, as before Cluster API 1.9")
}

func (o *serveOptions) args() []string {
	return []string{
		"--scenario=" + o.scenario, fmt.Sprintf("--only-apis=%t", o.onlyAPIs), "--served=" + o.served, fmt.Sprintf("--no-drain-rules=%t", o.noDrainRules),
	}
}

// plans are the clusters that the scenario names.
func (o *serveOptions) plans() ([]scenario.Plan, error) {
	all := scenario.Plans()
	switch {
	case o.scenario == "none" || o.onlyAPIs:
		return nil, nil
	case o.scenario == "all":
		return all, nil
	}
	var chosen []scenario.Plan
	for name := range strings.SplitSeq(o.scenario, ",") {
		i := slices.IndexFunc(all, func(p scenario.Plan) bool { return p.Key().String() == name })
		if i < 0 {
			return nil, fmt.Errorf("--scenario: the lab has no cluster %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// serve runs a lab until ctx ends.
func serve(ctx context.Context, args []string, _, stderr io.Writer) error {
	flags, dir := newFlags("serve", stderr)
	var options serveOptions
	options.add(flags)
	parentDeath := flags.Bool("parent-death", false, "end when standard input is closed, as it is when the parent dies")
	if err := flags.Parse(args); err != nil {
		return err //nolint:wrapcheck // The flag package has said it.
	}
	plans, err := options.plans()
	if err != nil {
		return err
	}
	if err := scenario.CheckServed(options.served); err != nil {
		return fmt.Errorf("--served: %w", err)
	}
	if *parentDeath {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	folder, err := state.Open(*dir)
	if err != nil {
		return err
	}
	lock, err := folder.Acquire()
	if err != nil {
		return err
	}
	l := &lab{options: options, plans: plans, dir: folder, launcher: proc.NewLauncher(), start: time.Now()}
	err = l.run(ctx, stderr)
	l.launcher.KillAll()
	if ctx.Err() != nil {
		err = nil // It was asked to end.
	}
	if err == nil {
		err = folder.Clean()
	}
	return errors.Join(err, lock.Release())
}

// lab is a running lab.
type lab struct {
	options  serveOptions
	plans    []scenario.Plan
	dir      state.Dir
	launcher *proc.Launcher
	start    time.Time
	provider *vsphere.Provider

	mu       sync.Mutex
	progress io.Writer
}

// log writes a line for people, with the time since the start.
func (l *lab) log(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	say(l.progress, "[%5.1f s] "+format, append([]any{time.Since(l.start).Seconds()}, args...)...)
}

// run starts everything, says so, and waits for the end.
func (l *lab) run(ctx context.Context, stderr io.Writer) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	progress, err := os.OpenFile(l.dir.Path(state.ProgressLog), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the progress log: %w", err)
	}
	defer func() { err = errors.Join(err, progress.Close()) }()
	l.progress = io.MultiWriter(progress, stderr)

	net, err := loopback.Take()
	if err != nil {
		return fmt.Errorf("find addresses for the lab: %w", err)
	}
	programs, err := component.FindPrograms(filepath.Join(home(), "bin"), os.Getenv("KUBEBUILDER_ASSETS"))
	if err != nil {
		return err
	}
	startCtx, done := context.WithTimeoutCause(ctx, stageTimeout, fmt.Errorf("not staged after %s", stageTimeout))
	defer done()
	s, err := supervisor.Start(startCtx, supervisor.Options{
		Dir: l.dir.Path(""), Manifests: home(), Net: net, Programs: programs, Launcher: l.launcher, Log: l.log,
		OnlyAPIs: l.options.onlyAPIs, NoDrainRules: l.options.noDrainRules, Now: time.Now(),
	})
	if err != nil {
		return err
	}
	if err := l.stageAll(ctx, startCtx, s, net, programs); err != nil {
		return err
	}
	if err := l.dir.WriteReady(l.ready(s, programs)); err != nil {
		return err
	}
	l.log("ready")
	<-ctx.Done()
	return nil
}

// stageAll fills the Supervisor. Everything that goes on afterwards ends with
// ctx; startCtx is for the staging.
func (l *lab) stageAll(ctx, startCtx context.Context, s *supervisor.Supervisor, net *loopback.Net, programs component.Programs) error {
	if err := scenario.Catalog(startCtx, s.Client); err != nil {
		return err
	}
	if l.options.onlyAPIs {
		return scenario.Sample(startCtx, s.Client, l.options.served)
	}
	if err := l.play(ctx, s, net, programs); err != nil {
		return err
	}
	clusters := scenario.Clusters{Supervisor: s.Client, Workload: l.workload, Log: l.log}
	results := make(chan error, len(l.plans))
	for _, plan := range l.plans {
		go func() {
			err := scenario.Stage(startCtx, clusters, plan)
			if err != nil {
				err = fmt.Errorf("stage %s: %w", plan.Key(), err)
			}
			results <- err
		}()
	}
	for range l.plans {
		if err := <-results; err != nil {
			return err // The others end with the lab.
		}
	}
	return nil
}

// play starts what stands in for vSphere.
func (l *lab) play(ctx context.Context, s *supervisor.Supervisor, net *loopback.Net, programs component.Programs) error {
	logFile, err := os.OpenFile(l.dir.Path("stand-ins.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the stand-ins' log: %w", err)
	}
	ctrl.SetLogger(funcr.New(func(prefix, args string) { say(logFile, "%s %s", prefix, args) }, funcr.Options{LogTimestamp: true}))
	scheme, err := kube.NewScheme()
	if err != nil {
		return fmt.Errorf("play vSphere: %w", err)
	}
	mgr, err := ctrl.NewManager(s.Access.Config(), ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Controller: config.Controller{MaxConcurrentReconciles: 8, SkipNameValidation: ptr.To(true)},
		Client:     client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	})
	if err != nil {
		return fmt.Errorf("play vSphere: %w", err)
	}
	l.provider = &vsphere.Provider{Net: net, Dir: l.dir.Path("clusters"), Programs: programs, Launcher: l.launcher, Log: l.log}
	if err := l.provider.Add(ctx, mgr); err != nil {
		return err
	}
	go func() {
		if err := mgr.Start(ctx); err != nil && ctx.Err() == nil {
			l.log("the stand-in for vSphere stopped: %v", err)
		}
	}()
	return nil
}

// workload returns a client of a workload cluster.
func (l *lab) workload(key types.NamespacedName) (client.Client, error) {
	cluster := l.provider.Cluster(key.Namespace, key.Name)
	if cluster == nil {
		return nil, fmt.Errorf("cluster %s has no infrastructure yet", key)
	}
	return clientFor(cluster.Kubeconfig())
}

func clientFor(kubeconfig string) (client.Client, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", kubeconfig, err)
	}
	return kube.NewClient(cfg)
}

func (l *lab) ready(s *supervisor.Supervisor, programs component.Programs) state.Ready {
	r := state.Ready{
		Supervisor: state.Supervisor{Server: s.Server, Kubeconfigs: s.Kubeconfigs, AuditLog: s.AuditLog},
		Clusters:   []state.Cluster{}, PID: os.Getpid(), Processes: l.launcher.Running(), Kubectl: programs.Kubectl(),
	}
	for _, plan := range l.plans {
		if cluster := l.provider.Cluster(plan.Namespace, plan.Name); cluster != nil {
			r.Clusters = append(r.Clusters, state.Cluster{
				Namespace: plan.Namespace, Name: plan.Name, Server: cluster.Server(), Kubeconfig: cluster.Kubeconfig(),
			})
		}
	}
	return r
}
