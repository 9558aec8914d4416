package capture

import (
	"regexp"
	"slices"
	"strings"

	"vksmedic/model"
)

// What a capture never holds, although the objects that are looked at may: see [strip].

// captured says whether objects of that kind may be in a capture at all.
func captured(u map[string]any) bool {
	kind, _ := u["kind"].(string)
	return kind != "Secret" && kind != "ConfigMap"
}

// strip copies an object without what no capture holds: Secrets' data in any place where people
// and programs are known to put them, environments and command lines of pods, what a machine
// is started with, the server's book-keeping and annotations that repeat the whole object.
// Everything that the signatures read stays. The object is not changed.
func strip(u map[string]any) map[string]any {
	kind, _ := u["kind"].(string)
	out, _ := clean(u).(map[string]any)
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
		if _, text := m["value"].(string); text && secretName(name) {
			m["value"] = leftOut
		}
	}
}

// leftOut stands where something secret stood.
const leftOut = "(left out)"

// clean copies a value without what is secret by its name or its form.
func clean(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, v := range x {
			if !bookkeeping(k) && (!secretName(k) || refers(v)) {
				out[k] = clean(v)
			}
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = clean(x[i])
		}
		return out
	case string:
		return cleanString(x)
	}
	return v
}

// refers says whether a value only tells where something is.
func refers(v any) bool {
	m, _ := v.(map[string]any)
	name, ok := m["name"].(string)
	return ok && name != ""
}

// bookkeeping names what only the server and kubectl need: large, and copies of everything
// that is left out elsewhere.
func bookkeeping(key string) bool {
	switch key {
	case "managedFields", "kubectl.kubernetes.io/last-applied-configuration", "cluster.x-k8s.io/conversion-data", "vmoperator.vmware.com/conversion":
		return true
	}
	return false
}

// secretName says whether a field or variable of that name holds a secret. One that
// only refers to one stays.
func secretName(key string) bool {
	switch k := strings.ToLower(key); k {
	case "token", "tokens", "bearertoken", "accesstoken", "secretkey", "accesskey", "privatekey", "apikey", "credentials",
		"stringdata", "client-key-data", "clientkeydata", "userdata", "additionaluserdata", "customvmxkeys":
		return true
	default:
		return strings.Contains(k, "password") || strings.Contains(k, "passwd") || strings.Contains(k, "passphrase")
	}
}

// The forms of secrets that stand within other text.
var (
	userInURL  = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/\s:@"']*:[^/\s@"']*@`)
	privateKey = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)
	webToken   = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)
	bearer     = regexp.MustCompile(`(?i)(bearer\s+)[A-Za-z0-9._~+/=-]{16,}`)
	joinToken  = regexp.MustCompile(`(?i)(token[ =:"']+)[a-z0-9]{6}\.[a-z0-9]{16}\b`)
)

// cleanString takes secrets out of a text by their form; what is told about them stays.
func cleanString(s string) string {
	if strings.Contains(s, "://") {
		s = userInURL.ReplaceAllString(s, "$1")
	}
	if strings.Contains(s, "PRIVATE KEY-----") {
		s = privateKey.ReplaceAllString(s, leftOut)
	}
	if strings.Contains(s, "eyJ") {
		s = webToken.ReplaceAllString(s, leftOut)
	}
	if len(s) > len("token ")+16 {
		l := strings.ToLower(s)
		if strings.Contains(l, "bearer") {
			s = bearer.ReplaceAllString(s, "${1}"+leftOut)
		}
		if strings.Contains(l, "token") {
			s = joinToken.ReplaceAllString(s, "${1}"+leftOut)
		}
	}
	return s
}
