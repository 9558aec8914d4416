package supervisor

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd/api"

	"vksmedic/model"
)

func namespace(w http.ResponseWriter, name, uid string) {
	answer(w, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name, "uid": uid}})
}

func TestMarks(t *testing.T) {
	f := newFakeAPI(t)
	sum := sha256.Sum256(f.Certificate().Raw)
	ca := hex.EncodeToString(sum[:])
	for name, tt := range map[string]struct {
		forbidden string // the namespaces that may not be read.
		missing   string
		insecure  bool
		ask       string
		want      model.Marks
	}{
		"an administrator":            {"", "", false, "team-a", model.Marks{Namespace: "team-a", NamespaceUID: "uid-team-a", SystemUID: "the-uid", CA: ca}},
		"an administrator, no object": {"", "", false, "", model.Marks{SystemUID: "the-uid", CA: ca}},
		"a namespace user":            {"kube-system", "", false, "team-a", model.Marks{Namespace: "team-a", NamespaceUID: "uid-team-a", CA: ca}},
		"nothing may be read":         {"kube-system team-a", "", true, "team-a", model.Marks{Namespace: "team-a"}},
		"the namespace is not there":  {"", "team-a", false, "team-a", model.Marks{Namespace: "team-a", SystemUID: "the-uid", CA: ca}},
		"certificates not verified":   {"", "", true, "team-a", model.Marks{Namespace: "team-a", NamespaceUID: "uid-team-a", SystemUID: "the-uid"}},
	} {
		t.Run(name, func(t *testing.T) {
			f.set(func(w http.ResponseWriter, r *http.Request) bool {
				ns, ok := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/")
				switch {
				case !ok:
					return false
				case strings.Contains(tt.forbidden, ns):
					status(w, http.StatusForbidden, "Forbidden", "no")
				case ns == tt.missing:
					status(w, http.StatusNotFound, "NotFound", "no")
				case ns == "team-a":
					namespace(w, ns, "uid-team-a")
				default:
					return false
				}
				return true
			})
			c, err := Connect(t.Context(), Options{Kubeconfig: f.kubeconfig(t, func(c *api.Config) {
				if tt.insecure {
					c.Clusters["sv"].InsecureSkipTLSVerify, c.Clusters["sv"].CertificateAuthorityData = true, nil
				}
			})})
			if err != nil {
				t.Fatal(err)
			}
			if m, err := c.Marks(t.Context(), tt.ask); err != nil || m != tt.want {
				t.Errorf("%+v, %v", m, err)
			}
		})
	}
}

// A server that does not answer gives no marks at all: half of them could be taken for
// those of a user who may not read the others.
func TestMarksOfASilentServer(t *testing.T) {
	f := newFakeAPI(t)
	c := connectTo(t, f)
	for _, code := range []int{http.StatusUnauthorized, http.StatusServiceUnavailable} {
		f.set(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "kube-system") {
				namespace(w, "team-a", "uid-team-a")
				return true
			}
			status(w, code, "", "not now")
			return true
		})
		if m, err := c.Marks(t.Context(), "team-a"); err == nil || m != (model.Marks{}) {
			t.Errorf("%d: %+v, %v", code, m, err)
		}
	}
}

func TestMarksAreReadAgain(t *testing.T) {
	f := newFakeAPI(t)
	c := connectTo(t, f)
	for _, uid := range []string{"n1", "n2"} {
		f.set(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/team-a") {
				return false
			}
			namespace(w, "team-a", uid)
			return true
		})
		if m, err := c.Marks(t.Context(), "team-a"); err != nil || m.NamespaceUID != uid {
			t.Errorf("%+v, %v, want %s", m, err, uid)
		}
	}
}

func TestHashOfCertificates(t *testing.T) {
	f := newFakeAPI(t)
	one := pemOf(f.Certificate().Raw)
	other := pemOf([]byte("another certificate"))
	same := func(a, b []byte) bool { return hashOfCertificates(a) == hashOfCertificates(b) }
	if !same(one, append([]byte("# by a script\n\n"), one...)) {
		t.Error("a comment in the file changes the hash")
	}
	if !same(append(one[:len(one):len(one)], other...), append(other[:len(other):len(other)], one...)) {
		t.Error("the order in the file changes the hash")
	}
	if !same(one, append(one[:len(one):len(one)], one...)) {
		t.Error("a certificate that is in the file twice changes the hash")
	}
	if same(one, other) || same(one, append(one[:len(one):len(one)], other...)) {
		t.Error("different certificates have one hash")
	}
	if h := hashOfCertificates([]byte("none")); h != "" {
		t.Errorf("no certificate: %q", h)
	}
}

func connectTo(t testing.TB, f *fakeAPI) *Connection {
	t.Helper()
	c, err := Connect(t.Context(), Options{Kubeconfig: f.kubeconfig(t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
