package object

import (
	"slices"
	"strings"
)

// What [Kind.Strip] takes out is in the file of its kind; this is what those have in common.

// LeftOut stands in a capture where something secret stood.
const LeftOut = "(left out)"

// SecretName says whether a field or variable of that name holds a secret. One that
// only refers to one stays.
func SecretName(key string) bool {
	switch k := strings.ToLower(key); k {
	case "token", "tokens", "bearertoken", "accesstoken", "secretkey", "accesskey", "privatekey", "apikey", "credentials",
		"stringdata", "client-key-data", "clientkeydata", "userdata", "additionaluserdata", "customvmxkeys":
		return true
	default:
		return strings.Contains(k, "password") || strings.Contains(k, "passwd") || strings.Contains(k, "passphrase")
	}
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
