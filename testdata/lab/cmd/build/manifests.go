package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// CAPV's module brings its own definitions and those of VM Operator. It is not
// among the lab's dependencies, because it is built against an older Cluster API;
// only its files are used. The sum is what go.sum would have.
const (
	capvModule = "sigs.k8s.io/cluster-api-provider-vsphere@v1.16.1"
	capvSum    = "h1:6fN9Df5EBtxzI5546L4kzevCyE/wM9qWv8ZS+iAU9f8="
)

// clusterAPIModule is among the lab's dependencies.
const clusterAPIModule = "sigs.k8s.io/cluster-api"

// module is what the go command says of a downloaded one.
type module struct {
	Dir, Sum, Error string
}

// manifests copies definitions and webhook configurations out of the modules.
func (b builder) manifests(ctx context.Context) error {
	key := b.sources.modules + "\n" + capvModule
	target := filepath.Join(b.dir, "crds")
	if b.isCurrent("manifests", key, target) {
		return nil
	}
	b.log("copying the definitions of Cluster API, CAPV and VM Operator")
	clusterAPI, err := download(ctx, clusterAPIModule)
	if err != nil {
		return err
	}
	capv, err := download(ctx, capvModule)
	if err != nil {
		return err
	}
	if capv.Sum != capvSum {
		return fmt.Errorf("check %s: its sum is %s, not %s", capvModule, capv.Sum, capvSum)
	}
	for _, set := range []struct{ pattern, to string }{
		{clusterAPI.Dir + "/core/config/crd/bases/*.yaml", "crds/cluster-api"},
		{clusterAPI.Dir + "/bootstrap/kubeadm/config/crd/bases/*.yaml", "crds/cluster-api"},
		{clusterAPI.Dir + "/controlplane/kubeadm/config/crd/bases/*.yaml", "crds/cluster-api"},
		{capv.Dir + "/config/supervisor/crd/bases/*.yaml", "crds/capv"},
		{capv.Dir + "/config/deployments/integration-tests/crds/vmoperator.vmware.com_*.yaml", "crds/vm-operator"},
	} {
		if err := copyAll(set.pattern, filepath.Join(b.dir, set.to)); err != nil {
			return err
		}
	}
	for from, to := range map[string]string{"core": "core", "bootstrap/kubeadm": "bootstrap", "controlplane/kubeadm": "control-plane"} {
		if err := copyFile(filepath.Join(clusterAPI.Dir, from, "config/webhook/manifests.yaml"), filepath.Join(b.dir, "webhooks", to+".yaml")); err != nil {
			return err
		}
	}
	return b.setCurrent("manifests", key)
}

func download(ctx context.Context, name string) (module, error) {
	var m module
	out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", name).Output()
	if jsonErr := json.Unmarshal(out, &m); err != nil || jsonErr != nil || m.Dir == "" {
		return module{}, errors.Join(fmt.Errorf("download module %s: %s", name, m.Error), err, jsonErr)
	}
	return m, nil
}

func copyAll(pattern, to string) error {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		return errors.Join(fmt.Errorf("find %s", pattern), err)
	}
	for _, file := range files {
		if err := copyFile(file, filepath.Join(to, filepath.Base(file))); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(filepath.Clean(from))
	if err != nil {
		return fmt.Errorf("copy a definition: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("copy a definition: %w", err)
	}
	if err := os.WriteFile(to, content, 0o600); err != nil { //nolint:gosec // Both folders are the lab's own.
		return fmt.Errorf("copy a definition: %w", err)
	}
	return nil
}
