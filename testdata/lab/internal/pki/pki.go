// Package pki makes the lab's certificates: authorities of its own for the
// Supervisor, and certificates signed by the authorities that Cluster API made
// for a workload cluster. Keys never leave the lab's state folder.
//
// Start reading at NewCA and ParseCA.
package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/cluster-api/util/certs"
)

// validity is how long a certificate lives. Cluster API's control plane provider renews
// kubeconfigs that are within half a year of their end, so a shorter one would be
// renewed at once.
const validity = 365 * 24 * time.Hour

// CA is a certificate authority.
type CA struct {
	// PEM is its certificate.
	PEM []byte

	cert *x509.Certificate
	key  crypto.Signer
}

// Request says what a certificate is for.
type Request struct {
	// CommonName is the user name of a client, Organizations its groups.
	CommonName    string
	Organizations []string
	// DNSNames and IPs are where a server answers.
	DNSNames []string
	IPs      []string
}

// NewCA makes an authority.
func NewCA(name string, now time.Time) (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for %s: %w", name, err)
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validity),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate of %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of %s back: %w", name, err)
	}
	return &CA{PEM: encode("CERTIFICATE", der), cert: cert, key: key}, nil
}

// ParseCA reads an authority from tls.crt and tls.key of one of Cluster API's
// Secrets (<cluster>-ca, <cluster>-etcd).
func ParseCA(data map[string][]byte) (*CA, error) {
	cert, err := certs.DecodeCertPEM(data["tls.crt"])
	if err != nil {
		return nil, fmt.Errorf("read tls.crt: %w", err)
	}
	if cert == nil {
		return nil, errors.New("read tls.crt: no certificate in it")
	}
	key, err := certs.DecodePrivateKeyPEM(data["tls.key"])
	if err != nil {
		return nil, fmt.Errorf("read tls.key: %w", err)
	}
	return &CA{PEM: bytes.Clone(data["tls.crt"]), cert: cert, key: key}, nil
}

// Issue makes a certificate, good for servers and clients, and its key, both in
// PEM.
func (ca *CA) Issue(r Request) (certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key for %s: %w", r.CommonName, err)
	}
	serial, err := newSerial()
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: r.CommonName, Organization: r.Organizations},
		NotBefore: ca.cert.NotBefore, NotAfter: ca.cert.NotBefore.Add(validity), DNSNames: r.DNSNames,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, ip := range r.IPs {
		parsed := net.ParseIP(ip)
		if parsed == nil {
			return nil, nil, fmt.Errorf("issue a certificate for %s: %q is no IP address", r.CommonName, ip)
		}
		template.IPAddresses = append(template.IPAddresses, parsed)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key)
	if err != nil {
		return nil, nil, fmt.Errorf("sign the certificate of %s: %w", r.CommonName, err)
	}
	keyPEM, err = encodeKey(key)
	if err != nil {
		return nil, nil, err
	}
	return encode("CERTIFICATE", der), keyPEM, nil
}

// Write issues a certificate into dir/name.crt and dir/name.key.
func (ca *CA) Write(dir, name string, r Request) error {
	cert, key, err := ca.Issue(r)
	if err != nil {
		return err
	}
	return WriteFiles(dir, map[string][]byte{name + ".crt": cert, name + ".key": key})
}

// TLS returns a configuration with a fresh certificate that trusts the authority
// on both sides.
func (ca *CA) TLS(r Request) (*tls.Config, error) {
	certPEM, keyPEM, err := ca.Issue(r)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of %s back: %w", r.CommonName, err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool, ClientCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// NewSigningKey returns a key pair for service account tokens, in PEM.
func NewSigningKey() (private, public []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key for service accounts: %w", err)
	}
	if private, err = encodeKey(key); err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, nil, fmt.Errorf("encode the public key for service accounts: %w", err)
	}
	return private, encode("PUBLIC KEY", der), nil
}

// WriteFiles writes files that only their owner may read into dir, and makes dir.
func WriteFiles(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder for certificates: %w", err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func newSerial() (*big.Int, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 62))
	if err != nil {
		return nil, fmt.Errorf("choose a serial number: %w", err)
	}
	return serial, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	return encode("EC PRIVATE KEY", der), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
