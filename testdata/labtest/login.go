package labtest

import (
	"encoding/pem"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Login is a kubeconfig for a server of a test, as kubectl vsphere login writes it.
func Login(server *httptest.Server) *api.Config {
	const user = "wcp:192.0.2.10:anna@vsphere.local"
	c := api.NewConfig()
	c.Clusters["sv"] = &api.Cluster{Server: server.URL, CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})}
	c.AuthInfos[user] = &api.AuthInfo{Token: "one"}
	c.Contexts["sv"] = &api.Context{Cluster: "sv", AuthInfo: user}
	c.CurrentContext = "sv"
	return c
}

// LoginFile writes it, changed if need be, and returns the file.
func LoginFile(t testing.TB, server *httptest.Server, change func(*api.Config)) string {
	t.Helper()
	c := Login(server)
	if change != nil {
		change(c)
	}
	file := filepath.Join(t.TempDir(), "config")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	return file
}
