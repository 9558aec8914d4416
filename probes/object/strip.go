package object

import (
	"slices"
	"strings"
	"unicode"

	"vksmedic/model/text"
)

// What [Kind.Strip] takes out is in the file of its kind; this is what those have in common.

// LeftOut stands in a capture where something secret stood.
const LeftOut = text.LeftOut

// SecretName says whether a field, variable, label or annotation of that name holds a secret. It goes by the
// words that the name is made of: apiToken, api-token and API_TOKEN are the same. One that only says where a
// secret is, or what a public key is for, is none.
func SecretName(key string) bool {
	words := nameWords(key)
	if len(words) == 0 {
		return false
	}
	switch last := words[len(words)-1]; last {
	case "name", "names", "namespace", "ref", "refs", "reference", "path", "type", "kind", "id", "hash", "seconds", "count", "policy", "version", "class", "method", "methods", "mode", "url", "expiration", "size":
		return false
	}
	has := func(w ...string) bool {
		return slices.ContainsFunc(words, func(x string) bool { return slices.Contains(w, x) })
	}
	if has("password", "passwords", "passwd", "passphrase", "pw", "pwd", "pass", "userpassword", "token", "tokens", "bearertoken", "accesstoken", "authtoken", "secret", "secrets",
		"credential", "credentials", "cred", "creds", "apikey", "apikeys", "secretkey", "accesskey", "privatekey", "sshkey", "auth", "authorization", "dockerconfigjson", "dockercfg",
		"cookie", "cookies", "stringdata", "userdata", "additionaluserdata", "customvmxkeys", "keyring", "kubeconfig") {
		return true
	}
	for i := range len(words) - 1 {
		switch words[i] + " " + words[i+1] {
		case "api key", "api keys", "access key", "access keys", "secret keys", "private key", "private keys", "secret key", "client key", "ssh key", "ssh keys", "signing key", "encryption key", "user data", "string data", "docker config", "session key", "shared key", "vmx keys":
			return true
		}
	}
	return strings.Contains(strings.ToLower(key), "password")
}

// nameWords takes a name apart at capitals and at whatever is neither letter nor digit, in lower case. The
// domain before a slash is no part of it.
func nameWords(key string) []string {
	key = key[strings.LastIndexByte(key, '/')+1:]
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(key)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end()
		}
		word = append(word, r)
	}
	end()
	return words
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
