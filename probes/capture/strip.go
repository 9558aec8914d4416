package capture

import (
	"slices"

	"vksmedic/model"
)

// What a capture never holds, although the objects that are looked at may: see hide.strip.

// captured says whether objects of that kind may be in a capture at all.
func captured(u map[string]any) bool {
	kind, _ := u["kind"].(string)
	return kind != "Secret" && kind != "ConfigMap"
}

// strip copies an object without what no capture holds: Secrets' data in any place where people
// and programs are known to put them, environments and command lines of pods, what a machine
// is started with, the server's book-keeping and annotations that repeat the whole object.
// Everything that the signatures read stays. The object is not changed.
func (h hide) strip(u map[string]any) map[string]any {
	kind, _ := u["kind"].(string)
	out, _ := h.clean(u).(map[string]any)
	spec, _ := out["spec"].(map[string]any)
	switch kind {
	case "Pod":
		stripPod(spec)
	case "KubeadmControlPlane":
		// Files, users, commands and tokens of the machines to come.
		delete(spec, "kubeadmConfigSpec")
	case "VirtualMachine":
		stripMachine(spec)
	case "VirtualMachineImage", "ClusterVirtualMachineImage":
		only(out, "status", "name", "imageName", "providerItemID", "productInfo", "osInfo", "type", "firmware", "hardwareVersion", "conditions")
	case "Cluster":
		stripVariables(spec)
	case "Namespace":
		delete(out, "spec")
	}
	if slices.Contains(model.NodeConfigKinds(), kind) {
		// Only when they came is looked at; they may hold a registry's credentials.
		for k := range out {
			if k != "apiVersion" && k != "kind" && k != "metadata" {
				delete(out, k)
			}
		}
		if m, ok := out["metadata"].(map[string]any); ok {
			delete(m, "annotations")
		}
	}
	return out
}

// only keeps some fields of a part of an object.
func only(in map[string]any, part string, keep ...string) {
	m, _ := in[part].(map[string]any)
	for k := range m {
		if !slices.Contains(keep, k) {
			delete(m, k)
		}
	}
}

// stripPod leaves of each container what it is, not what it is started with. Probes and hooks
// hold command lines and headers.
func stripPod(spec map[string]any) {
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		items, _ := spec[list].([]any)
		for i := range items {
			only(map[string]any{"": items[i]}, "", "name", "image", "imagePullPolicy", "ports", "resources", "restartPolicy",
				"securityContext", "terminationMessagePath", "terminationMessagePolicy", "volumeMounts", "volumeDevices")
		}
	}
	volumes, _ := spec["volumes"].([]any)
	for _, v := range volumes {
		// Which claims it needs is looked at; drivers' options may be anything.
		for _, driver := range []string{"csi", "flexVolume"} {
			if m, ok := v.(map[string]any); ok {
				only(m, driver, "driver", "readOnly", "fsType")
			}
		}
	}
}

// stripMachine leaves of what a VirtualMachine is started with only where it is read from.
func stripMachine(spec map[string]any) {
	delete(spec, "advancedOptions")
	delete(spec, "advanced")
	boot, _ := spec["bootstrap"].(map[string]any)
	only(boot, "cloudInit", "rawCloudConfig", "instanceID")
	only(boot, "sysprep", "rawSysprep")
	only(boot, "vAppConfig", "rawProperties")
	only(boot, "linuxPrep", "hardwareClockIsUTC", "timeZone")
}

// stripVariables takes the values of a topology's variables whose names say that they are secret.
func stripVariables(spec map[string]any) {
	topology, _ := spec["topology"].(map[string]any)
	list, _ := topology["variables"].([]any)
	for _, v := range list {
		m, _ := v.(map[string]any)
		name, _ := m["name"].(string)
		if _, there := m["value"]; there && secretName(name) && !refers(m["value"]) {
			m["value"] = leftOut
		}
	}
}
