package capture

import (
	"regexp"
	"strings"

	"vksmedic/probes/object"
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
	out, _ := clean(u).(map[string]any)
	name, _ := u["kind"].(string)
	if k, ok := object.Named(name); ok && k.Strip != nil {
		k.Strip(out)
	}
	return out
}

// clean copies a value without what is secret by its name or its form.
func clean(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, v := range x {
			if !bookkeeping(k) && (!object.SecretName(k) || refers(v)) {
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
		s = privateKey.ReplaceAllString(s, object.LeftOut)
	}
	if strings.Contains(s, "eyJ") {
		s = webToken.ReplaceAllString(s, object.LeftOut)
	}
	if len(s) > len("token ")+16 {
		l := strings.ToLower(s)
		if strings.Contains(l, "bearer") {
			s = bearer.ReplaceAllString(s, "${1}"+object.LeftOut)
		}
		if strings.Contains(l, "token") {
			s = joinToken.ReplaceAllString(s, "${1}"+object.LeftOut)
		}
	}
	return s
}
