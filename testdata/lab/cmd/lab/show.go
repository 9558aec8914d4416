package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vksmedic/testdata/lab/internal/state"
)

// status says what runs. It fails when nothing does.
func status(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags("status", stderr)
	if err := flags.Parse(args); err != nil {
		return err //nolint:wrapcheck // The flag package has said it.
	}
	folder, err := state.Open(*dir)
	if err != nil {
		return err
	}
	pid, err := folder.Running()
	if err != nil {
		return err
	}
	if pid == 0 {
		return errors.New("no lab is running")
	}
	err = describe(folder, stdout)
	if errors.Is(err, state.ErrNotReady) {
		say(stdout, "The lab (process %d) is being staged.", pid)
		return nil
	}
	return err
}

// describe tells people how to use a lab that is ready.
func describe(folder state.Dir, stdout io.Writer) error {
	ready, err := folder.ReadReady()
	if err != nil {
		return err
	}
	say(stdout, "The lab is ready: Supervisor %s, process %d, logs in %s", ready.Supervisor.Server, ready.PID, folder.Path(""))
	for _, user := range slices.Sorted(maps.Keys(ready.Supervisor.Kubeconfigs)) {
		say(stdout, "  %-14s %s", user, ready.Supervisor.Kubeconfigs[user])
	}
	for _, cluster := range ready.Clusters {
		say(stdout, "  %-14s %s  %s", cluster.Namespace+"/"+cluster.Name, cluster.Kubeconfig, cluster.Server)
	}
	total := memory(ready.PID)
	for _, process := range ready.Processes {
		total += memory(process.PID)
	}
	say(stdout, "  %d processes, %d MiB", len(ready.Processes)+1, total)
	return nil
}

// memory is the resident memory of a process in MiB, 0 if it is gone.
func memory(pid int) int {
	content, err := os.ReadFile(filepath.Clean(fmt.Sprintf("/proc/%d/status", pid)))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(content)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			return kib / 1024
		}
	}
	return 0
}

// kubeconfig prints somebody's kubeconfig.
func kubeconfig(_ context.Context, args []string, stdout, stderr io.Writer) error {
	file, err := kubeconfigPath("kubeconfig", args, stderr)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Clean(file)) //nolint:gosec // The lab wrote the path itself.
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	if _, err := stdout.Write(content); err != nil {
		return fmt.Errorf("print the kubeconfig: %w", err)
	}
	return nil
}

// path prints where somebody's kubeconfig is.
func path(_ context.Context, args []string, stdout, stderr io.Writer) error {
	file, err := kubeconfigPath("path", args, stderr)
	if err != nil {
		return err
	}
	say(stdout, "%s", file)
	return nil
}

// kubeconfigPath reads the flags that kubeconfig and path have in common.
func kubeconfigPath(command string, args []string, stderr io.Writer) (string, error) {
	flags, dir := newFlags(command, stderr)
	user := flags.String("as", "administrator", "whose: administrator, devops or viewer")
	cluster := flags.String("cluster", "", "the lab's own for a workload cluster, NAMESPACE/NAME, instead of the Supervisor's")
	if err := flags.Parse(args); err != nil {
		return "", err //nolint:wrapcheck // The flag package has said it.
	}
	folder, err := state.Open(*dir)
	if err != nil {
		return "", err
	}
	ready, err := folder.ReadReady()
	if err != nil {
		return "", err
	}
	if *cluster != "" {
		return workloadKubeconfig(ready, *cluster)
	}
	file := ready.Supervisor.Kubeconfigs[*user]
	if file == "" {
		return "", fmt.Errorf("--as: the lab has no user %q; it has %s", *user, strings.Join(slices.Sorted(maps.Keys(ready.Supervisor.Kubeconfigs)), ", "))
	}
	return file, nil
}

func workloadKubeconfig(ready state.Ready, cluster string) (string, error) {
	for _, c := range ready.Clusters {
		if c.Namespace+"/"+c.Name == cluster {
			return c.Kubeconfig, nil
		}
	}
	return "", fmt.Errorf("--cluster: the lab has no cluster %q", cluster)
}
