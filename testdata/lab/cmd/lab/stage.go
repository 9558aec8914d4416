package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vksmedic/testdata/lab/internal/scenario"
	"vksmedic/testdata/lab/internal/state"
)

// stage brings a failure about in a running lab. It prints the name of the
// Machine that hangs on standard output, and what it does on standard error.
func stage(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	what := args[0]
	flags, dir := newFlags("stage "+what, stderr)
	name := flags.String("cluster", "", "NAMESPACE/NAME of the workload cluster")
	agentNamespace := flags.String("agent-namespace", scenario.PinnipedNamespace, "stuck-worker: where pinniped's agent is")
	version := flags.String("version", "", "stuck-upgrade: the version to upgrade to; the next patch release if empty")
	timeout := flags.Duration("timeout", 3*time.Minute, "how long to wait for it")
	if err := flags.Parse(args[1:]); err != nil {
		return err //nolint:wrapcheck // The flag package has said it.
	}
	folder, err := state.Open(*dir)
	if err != nil {
		return err
	}
	ready, err := folder.ReadReady()
	if err != nil {
		return err
	}
	supervisor, err := clientFor(ready.Supervisor.Kubeconfigs["lab"])
	if err != nil {
		return err
	}
	plan, err := planOf(*name)
	if err != nil {
		return err
	}
	clusters := scenario.Clusters{
		Supervisor: supervisor,
		Workload: func(key types.NamespacedName) (client.Client, error) {
			path, err := workloadKubeconfig(ready, key.String())
			if err != nil {
				return nil, err
			}
			return clientFor(path)
		},
		Log: func(format string, args ...any) { say(stderr, format, args...) },
	}
	ctx, cancel := context.WithTimeoutCause(ctx, *timeout, fmt.Errorf("not there after %s", *timeout))
	defer cancel()
	machine := ""
	switch what {
	case "stuck-worker":
		machine, err = clusters.StuckWorker(ctx, plan.Key(), *agentNamespace)
	case "stuck-upgrade":
		machine, err = stuckUpgrade(ctx, clusters, plan, *version)
	case "clean":
		return clusters.Clean(ctx, plan.Key())
	default:
		return errUsage
	}
	if err != nil {
		return err
	}
	say(stdout, "%s", machine)
	return nil
}

func planOf(name string) (scenario.Plan, error) {
	plans := scenario.Plans()
	i := slices.IndexFunc(plans, func(p scenario.Plan) bool { return p.Key().String() == name })
	if i < 0 {
		return scenario.Plan{}, fmt.Errorf("--cluster: the lab has no cluster %q", name)
	}
	return plans[i], nil
}

// stuckUpgrade starts the next upgrade of a cluster whose last one is done.
func stuckUpgrade(ctx context.Context, clusters scenario.Clusters, plan scenario.Plan, version string) (string, error) {
	if len(plan.AgentNamespaces) == 0 {
		plan.AgentNamespaces = []string{scenario.PinnipedNamespace}
	}
	if version == "" {
		controlPlane := &controlplanev1.KubeadmControlPlane{}
		if err := clusters.Supervisor.Get(ctx, plan.Key(), controlPlane); err != nil {
			return "", fmt.Errorf("get KubeadmControlPlane %s: %w", plan.Key(), err)
		}
		var patch int
		minor, last, _ := cutLast(controlPlane.Spec.Version, ".")
		if _, err := fmt.Sscan(last, &patch); err != nil {
			return "", fmt.Errorf("read the version %q: %w", controlPlane.Spec.Version, err)
		}
		version = fmt.Sprintf("%s.%d", minor, patch+1)
	}
	return clusters.StuckUpgrade(ctx, plan, version)
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}
