package capture

import (
	"regexp"
	"slices"
	"strings"

	"vksmedic/probes/object"
)

// What is secret by its name or by its form is left out of everything that is written.

// hide takes out what is known to be a credential in use, by its letters; nil knows none.
type hide func(string) string

// clean copies a value without what is secret.
func (h hide) clean(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		named, _ := x["name"].(string)
		for k, v := range x {
			switch {
			case bookkeeping(k), object.SecretName(k) && tells(v) && !refers(v):
			case k == "value" && object.SecretName(named) && tells(v) && !refers(v):
				out[k] = object.LeftOut // as variables and environments have it.
			default:
				out[h.text(k)] = h.clean(v)
			}
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = h.clean(x[i])
		}
		return out
	case string:
		return h.text(x)
	}
	return v
}

func (h hide) text(s string) string {
	if h != nil {
		s = h(s)
	}
	return cleanString(s)
}

// tells says whether a value can hold a secret: a number or a yes cannot.
func tells(v any) bool {
	switch v.(type) {
	case string, map[string]any, []any:
		return true
	}
	return false
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

// form is how a secret stands within other text. What the pattern's first group matched stays before it.
type form struct {
	// hints are what one of must be in a text (in lower case) for it to be looked at by the pattern, which is slow.
	hints   []string
	pattern *regexp.Regexp
	by      string
}

// knownForms are never changed. Where a product has a prefix for its tokens, the prefix is here; when one comes
// up in the field, it is added.
var knownForms = []form{
	// A private key, as it is and as a Secret or a kubeconfig has it.
	{[]string{"private key-----"}, regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), object.LeftOut},
	{[]string{"ls0tls1crudjti"}, regexp.MustCompile(`LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0Eg|BFQyBQ|BEU0Eg|BPUEVOU1NI|BFTkNSWVBU)[A-Za-z0-9+/=]*`), object.LeftOut},
	// Users in addresses, with a password or alone (a token).
	{[]string{"://"}, regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/\s@"'<>?#]+@`), "$1"},
	// JSON Web Tokens.
	{[]string{"eyj"}, regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}`), object.LeftOut},
	// Headers.
	{[]string{"bearer", "basic", "negotiate", "apikey", "digest"}, regexp.MustCompile(`(?i)\b((?:bearer|basic|negotiate|apikey|digest)\s+)[A-Za-z0-9._~+/=-]{8,}`), "$1" + object.LeftOut},
	{[]string{"cookie", "authorization", "-token", "-key", "-session"}, regexp.MustCompile(`(?i)\b((?:set-cookie|cookie|(?:proxy-)?authorization|x-[a-z0-9-]*(?:token|key|session-id|secret)|vmware-api-session-id)"?\s*[:=]\s*)[^\r\n]+`), "$1" + object.LeftOut},
	// The tokens that kubeadm joins a cluster with.
	{[]string{"token"}, regexp.MustCompile(`(?i)(token[ =:"']+)[a-z0-9]{6}\.[a-z0-9]{16}\b`), "$1" + object.LeftOut},
	// What is called a password, whatever it looks like.
	{[]string{"pass", "pwd"}, regexp.MustCompile(`(?i)((?:password|passwd|passphrase|pwd)\\?["']?\s*[:=]\s*)(?:\\?"[^"]*"|'[^']*'|[^\s,;&}\]"']+)`), "$1" + object.LeftOut},
	{[]string{"pass"}, regexp.MustCompile(`(?i)(\b(?:password|passphrase)\s+)(?:"[^"\s]+"|'[^'\s]+')`), "$1" + object.LeftOut},
	// Names of secrets with something behind them that looks like one.
	{[]string{"secret", "token", "key", "auth", "cred"}, regexp.MustCompile(`(?i)([a-z0-9_.-]*(?:secret|token|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?key(?:-data)?|credentials?)[a-z_-]*\\?["']?\s*[:=]\s*\\?["']?)[A-Za-z0-9+/_~.=-]*[0-9+/=_][A-Za-z0-9+/_~.=-]{7,}`), "$1" + object.LeftOut},
	{[]string{"auth"}, regexp.MustCompile(`(?i)(\\?"(?:auth|identitytoken|registrytoken)\\?"\s*:\s*\\?")[^"\\]+`), "$1" + object.LeftOut},
	// Prefixes of products.
	{[]string{"akia", "asia", "abia", "acca"}, regexp.MustCompile(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`), object.LeftOut},
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{16,}`), object.LeftOut},
	{[]string{"github_pat_"}, regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{16,}`), object.LeftOut},
	{[]string{"glpat-", "gldt-", "glrt-", "glcbt-", "glsoat-", "glptt-", "glagent-"}, regexp.MustCompile(`\bgl(?:pat|dt|rt|cbt|soat|ptt|agent)-[A-Za-z0-9_.-]{16,}`), object.LeftOut},
	{[]string{"hvs.", "hvb.", "hvr."}, regexp.MustCompile(`\bhv[sbr]\.[A-Za-z0-9_-]{16,}`), object.LeftOut},
	{[]string{"xox", "xapp-"}, regexp.MustCompile(`\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}`), object.LeftOut},
	{[]string{"aiza"}, regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}`), object.LeftOut},
	{[]string{"ya29."}, regexp.MustCompile(`\bya29\.[A-Za-z0-9_-]{16,}`), object.LeftOut},
	{[]string{"sha256~"}, regexp.MustCompile(`\bsha256~[A-Za-z0-9_-]{16,}`), object.LeftOut},
	{[]string{"npm_"}, regexp.MustCompile(`\bnpm_[A-Za-z0-9]{30,}`), object.LeftOut},
	{[]string{"pypi-"}, regexp.MustCompile(`\bpypi-[A-Za-z0-9_-]{30,}`), object.LeftOut},
	{[]string{"dckr_"}, regexp.MustCompile(`\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{16,}`), object.LeftOut},
	{[]string{"glsa_"}, regexp.MustCompile(`\bglsa_[A-Za-z0-9_]{16,}`), object.LeftOut},
	{[]string{"dop_v1_", "doo_v1_"}, regexp.MustCompile(`\bdo[op]_v1_[a-f0-9]{32,}`), object.LeftOut},
	{[]string{"sk_live_", "rk_live_"}, regexp.MustCompile(`\b[rs]k_live_[A-Za-z0-9]{16,}`), object.LeftOut},
	{[]string{"sg."}, regexp.MustCompile(`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`), object.LeftOut},
	{[]string{".atlasv1."}, regexp.MustCompile(`\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}`), object.LeftOut},
	{[]string{"age-secret-key-"}, regexp.MustCompile(`\bAGE-SECRET-KEY-1[0-9A-Z]{20,}`), object.LeftOut},
}

// cleanString takes secrets out of a text by their form; what is told about them stays.
func cleanString(s string) string {
	const shortest = 8
	if len(s) < shortest {
		return s
	}
	low := strings.ToLower(s)
	for i := range knownForms {
		f := &knownForms[i]
		if slices.ContainsFunc(f.hints, func(h string) bool { return strings.Contains(low, h) }) {
			if out := f.pattern.ReplaceAllString(s, f.by); out != s {
				s, low = out, strings.ToLower(out)
			}
		}
	}
	return s
}
