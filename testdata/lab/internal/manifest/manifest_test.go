package manifest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"vksmedic/testdata/lab/internal/kube"
)

// crd is a definition with two versions, of which the second is stored.
func crd(group, kind, oldVersion, newVersion string) string {
	plural := strings.ToLower(kind) + "s"
	version := func(name, stored string) string {
		return "\n  - {name: " + name + ", served: true, storage: " + stored + ", schema: {openAPIV3Schema: {type: object}}}"
	}
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + plural + "." + group + "}\n" +
		"spec:\n  group: " + group + "\n  scope: Namespaced\n  names: {kind: " + kind + ", plural: " + plural + "}\n  versions:" +
		version(oldVersion, "false") + version(newVersion, "true") + "\n"
}

// source writes manifests like those that make lab copies.
func source(t *testing.T) Source {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"crds/cluster-api/machines.yaml":   crd("cluster.x-k8s.io", "Machine", "v1beta1", "v1beta2"),
		"crds/cluster-api/drainrules.yaml": crd("cluster.x-k8s.io", "MachineDrainRule", "v1beta1", "v1beta2"),
		"crds/capv/vspheremachines.yaml":   crd("vmware.infrastructure.cluster.x-k8s.io", "VSphereMachine", "v1beta1", "v1beta2"),
		"crds/vm-operator/vms.yaml":        crd("vmoperator.vmware.com", "VirtualMachine", "v1alpha1", "v1alpha5"),
		"webhooks/core.yaml": `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validating-webhook-configuration}
webhooks:
- name: validation.machine.cluster.x-k8s.io
  clientConfig: {service: {name: webhook-service, namespace: system, path: /validate-machine}}
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: v1
kind: Service
metadata: {name: webhook-service}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Source{Dir: dir, WebhookURL: "https://127.20.0.1:9443", WebhookCA: []byte("PEM")}
}

func byKind(crds []*apiextensionsv1.CustomResourceDefinition, kind string) *apiextensionsv1.CustomResourceDefinition {
	i := slices.IndexFunc(crds, func(crd *apiextensionsv1.CustomResourceDefinition) bool { return crd.Spec.Names.Kind == kind })
	if i < 0 {
		return nil
	}
	return crds[i]
}

func TestDefinitionsGetWhatTheirInstallersAdd(t *testing.T) {
	crds, err := source(t).definitions()
	if err != nil {
		t.Fatal(err)
	}
	machine := byKind(crds, "Machine")
	if machine == nil || len(machine.Spec.Versions) != 2 {
		t.Fatalf("Machine: %+v", machine)
	}
	if machine.Labels[contractV1Beta2] != "v1beta2" || machine.Labels[contractV1Beta1] != "v1beta1" {
		t.Errorf("Machine's contract labels: %v", machine.Labels)
	}
	conversion := machine.Spec.Conversion
	if conversion == nil || conversion.Strategy != apiextensionsv1.WebhookConverter || *conversion.Webhook.ClientConfig.URL != "https://127.20.0.1:9443/convert" {
		t.Errorf("Machine's conversion: %+v", conversion)
	}
	// Nobody converts CAPV's and VM Operator's versions here.
	for kind, version := range map[string]string{"VSphereMachine": "v1beta2", "VirtualMachine": "v1alpha5"} {
		crd := byKind(crds, kind)
		if crd == nil || len(crd.Spec.Versions) != 1 || crd.Spec.Versions[0].Name != version || crd.Spec.Conversion != nil {
			t.Errorf("%s is served as %+v, want %s alone", kind, crd, version)
		}
	}
	if labels := byKind(crds, "VSphereMachine").Labels; labels[contractV1Beta2] != "v1beta2" {
		t.Errorf("VSphereMachine's contract labels: %v", labels)
	}
	if byKind(crds, "PackageInstall") == nil {
		t.Error("no PackageInstall")
	}
}

func TestNoDrainRules(t *testing.T) {
	s := source(t)
	s.NoDrainRules = true
	crds, err := s.definitions()
	if err != nil {
		t.Fatal(err)
	}
	if byKind(crds, "MachineDrainRule") != nil {
		t.Error("MachineDrainRule is there")
	}
	if byKind(crds, "Machine") == nil {
		t.Error("Machine is not")
	}
}

func TestMissingDefinitionsSayWhatToDo(t *testing.T) {
	_, err := Source{Dir: t.TempDir()}.definitions()
	if err == nil || !strings.Contains(err.Error(), "make lab") {
		t.Errorf("err = %v", err)
	}
}

func TestWebhooksPointAtTheManager(t *testing.T) {
	scheme, err := kube.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).Build()
	if err := InstallWebhooks(t.Context(), c, source(t)); err != nil {
		t.Fatal(err)
	}
	hooks := &admissionv1.ValidatingWebhookConfiguration{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "validating-webhook-configuration-core"}, hooks); err != nil {
		t.Fatal(err)
	}
	config := hooks.Webhooks[0].ClientConfig
	if config.Service != nil || config.URL == nil || *config.URL != "https://127.20.0.1:9443/validate-machine" || string(config.CABundle) != "PEM" {
		t.Errorf("client config: %+v", config)
	}
}
