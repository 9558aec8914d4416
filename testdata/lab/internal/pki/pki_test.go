package pki_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vksmedic/testdata/lab/internal/pki"
)

func parse(t *testing.T, certPEM []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(certPEM)
	if block == nil {
		t.Fatalf("no PEM: %q", certPEM)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestIssue(t *testing.T) {
	now := time.Now()
	ca, err := pki.NewCA("test", now)
	if err != nil {
		t.Fatal(err)
	}
	certPEM, _, err := ca.Issue(pki.Request{CommonName: "devops@vsphere.local", Organizations: []string{"team"}, DNSNames: []string{"localhost"}, IPs: []string{"127.20.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	cert := parse(t, certPEM)
	if cert.Subject.CommonName != "devops@vsphere.local" || len(cert.Subject.Organization) != 1 || cert.Subject.Organization[0] != "team" {
		t.Errorf("subject = %v", cert.Subject)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.PEM)
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth} {
		if _, err := cert.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{usage}, DNSName: "127.20.0.1", CurrentTime: now}); err != nil {
			t.Errorf("usage %v: %v", usage, err)
		}
	}
	// Cluster API's control plane provider renews what ends within half a year.
	if left := cert.NotAfter.Sub(now); left < 200*24*time.Hour {
		t.Errorf("valid for %v only", left)
	}
	other, err := pki.NewCA("other", now)
	if err != nil {
		t.Fatal(err)
	}
	strangers := x509.NewCertPool()
	strangers.AppendCertsFromPEM(other.PEM)
	if _, err := cert.Verify(x509.VerifyOptions{Roots: strangers, CurrentTime: now}); err == nil {
		t.Error("another authority vouches for the certificate")
	}
}

func TestIssueRefusesWhatIsNoAddress(t *testing.T) {
	ca, err := pki.NewCA("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ca.Issue(pki.Request{CommonName: "x", IPs: []string{"localhost"}}); err == nil || !strings.Contains(err.Error(), "localhost") {
		t.Errorf("err = %v", err)
	}
}

func TestParseCA(t *testing.T) {
	ca, err := pki.NewCA("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pki.ParseCA(map[string][]byte{"tls.crt": ca.PEM}); err == nil {
		t.Error("an authority without a key was accepted")
	}
	if _, err := pki.ParseCA(map[string][]byte{}); err == nil {
		t.Error("an empty Secret was accepted")
	}
}

func TestWriteKeepsKeysPrivate(t *testing.T) {
	ca, err := pki.NewCA("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := ca.Write(dir, "user", pki.Request{CommonName: "user"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"user.crt", "user.key"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}
