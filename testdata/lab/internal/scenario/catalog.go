package scenario

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vksmedic/testdata/lab/internal/supervisor"
	"vksmedic/testdata/lab/internal/vsphere"
)

// serviceVersion is the version of the Kubernetes Service (VKS) that the lab's
// Supervisor says it has.
const serviceVersion = "3.6.1+v1.35"

// Catalog creates what a Supervisor has before anybody makes a cluster: the
// installed Kubernetes Service and the node images.
func Catalog(ctx context.Context, c client.Client) error {
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "packaging.carvel.dev/v1alpha1", "kind": "PackageInstall",
		"spec": map[string]any{
			"serviceAccountName": "tkg-vsphere-vmware-com-sa",
			"packageRef":         map[string]any{"refName": "tkg.vsphere.vmware.com", "versionSelection": map[string]any{"constraints": serviceVersion}},
		},
	}}
	service.SetNamespace(supervisor.ServicesNamespace)
	service.SetName("svc-tkg.vsphere.vmware.com")
	if err := createWithStatus(ctx, c, service, map[string]any{
		"version": serviceVersion, "friendlyDescription": "Reconcile succeeded",
		"conditions": []any{map[string]any{"type": "ReconcileSucceeded", "status": "True"}},
	}); err != nil {
		return err
	}
	for _, version := range []string{oldVersion, newVersion} {
		images := []client.Object{vsphere.New("ClusterVirtualMachineImage", "", imageName(version))}
		for _, namespace := range supervisor.VSphereNamespaces() {
			images = append(images, vsphere.New("VirtualMachineImage", namespace, imageName(version)))
		}
		for _, image := range images {
			if err := createWithStatus(ctx, c, image.(*unstructured.Unstructured), imageStatus(version)); err != nil { //nolint:forcetypeassert // New makes nothing else.
				return err
			}
		}
	}
	return nil
}

func createWithStatus(ctx context.Context, c client.Client, object *unstructured.Unstructured, status map[string]any) error {
	name := object.GetKind() + " " + object.GetName()
	if err := c.Create(ctx, object); err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	object.Object["status"] = status
	if err := c.Status().Update(ctx, object); err != nil {
		return fmt.Errorf("write the status of %s: %w", name, err)
	}
	return nil
}

func imageStatus(version string) map[string]any {
	return map[string]any{
		"name":        "ob-" + dashed(version) + "-photon-5-amd64",
		"osInfo":      map[string]any{"type": "vmwarePhoton64Guest"},
		"productInfo": map[string]any{"vendor": "VMware by Broadcom", "product": "Photon 5 for the Kubernetes Service", "fullVersion": version + "+vmware.1"},
		"conditions":  []any{map[string]any{"type": "Ready", "status": "True", "reason": "True", "message": "", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}},
	}
}

// imageName is the object name of a version's node image, made like VM Operator's
// from a hash.
func imageName(version string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(version)) // Never fails.
	return fmt.Sprintf("vmi-%016x0", hash.Sum64())
}

func dashed(version string) string { return strings.ReplaceAll(version, ".", "-") }
