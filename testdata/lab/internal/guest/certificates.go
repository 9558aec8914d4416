package guest

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vksmedic/testdata/lab/internal/pki"
)

// authorities are the cluster's, which Cluster API's control plane provider made
// and keeps in Secrets on the Supervisor.
type authorities struct {
	cluster, etcd *pki.CA
	dir           string // Where all certificates are.
}

// certificates reads the authorities and writes the certificates that all control
// plane VMs share, once.
func (c *Cluster) certificates(ctx context.Context) (*authorities, error) {
	if c.authority != nil {
		return c.authority, nil
	}
	var data [3]map[string][]byte
	for i, purpose := range []string{"ca", "etcd", "sa"} {
		secret := &corev1.Secret{}
		key := client.ObjectKey{Namespace: c.Namespace, Name: c.Name + "-" + purpose}
		if err := c.Supervisor.Get(ctx, key, secret); err != nil {
			return nil, fmt.Errorf("get Secret %s: %w", key, err)
		}
		data[i] = secret.Data
	}
	cluster, err := pki.ParseCA(data[0])
	if err != nil {
		return nil, fmt.Errorf("read the authority of %s: %w", c.Name, err)
	}
	etcd, err := pki.ParseCA(data[1])
	if err != nil {
		return nil, fmt.Errorf("read the etcd authority of %s: %w", c.Name, err)
	}
	dir := c.Dir
	if err := pki.WriteFiles(dir, map[string][]byte{
		"ca.crt": cluster.PEM, "etcd-ca.crt": etcd.PEM, "sa.pub": data[2]["tls.crt"], "sa.key": data[2]["tls.key"],
	}); err != nil {
		return nil, fmt.Errorf("write the authorities of %s: %w", c.Name, err)
	}
	for _, certificate := range []struct {
		ca      *pki.CA
		name    string
		request pki.Request
	}{
		// The common name is what the control plane provider expects of the peer
		// when it reads the certificate's end.
		{cluster, "apiserver", pki.Request{
			CommonName: "kube-apiserver",
			DNSNames:   []string{"kubernetes", "kubernetes.default", "localhost"},
			IPs:        []string{c.Net.Endpoint(c.Index), "10.96.0.1"},
		}},
		{cluster, "apiserver-kubelet-client", pki.Request{CommonName: "kube-apiserver-kubelet-client"}},
		{etcd, "apiserver-etcd-client", pki.Request{CommonName: "kube-apiserver-etcd-client"}},
	} {
		if err := certificate.ca.Write(dir, certificate.name, certificate.request); err != nil {
			return nil, fmt.Errorf("write certificates of %s: %w", c.Name, err)
		}
	}
	c.authority = &authorities{cluster: cluster, etcd: etcd, dir: dir}
	return c.authority, nil
}

// memberCertificates writes the certificates of one etcd member.
func (a *authorities) memberCertificates(name, host string) error {
	for _, use := range []string{"server", "peer"} {
		request := pki.Request{
			CommonName: name,
			DNSNames:   []string{name, "localhost"},
			// A connection to 127.x.0.N comes from 127.0.0.1 on Linux, and etcd checks
			// that a peer's certificate is for the address that it comes from.
			IPs: []string{host, "127.0.0.1"},
		}
		if err := a.etcd.Write(a.dir, name+"-etcd-"+use, request); err != nil {
			return fmt.Errorf("write the etcd certificates of %s: %w", name, err)
		}
	}
	return nil
}
