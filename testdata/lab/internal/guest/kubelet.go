package guest

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"

	"vksmedic/testdata/lab/internal/pki"
)

// kubelet is the part of a kubelet's HTTPS server that the control plane provider
// needs: port-forward, through which it talks to etcd.
type kubelet struct {
	server *http.Server
}

// startKubelet listens on host. Clients have to show a certificate of the
// cluster's authority. target says which address stands for a pod's port.
func startKubelet(ctx context.Context, ca *pki.CA, node, host string, target func(pod string, port int32) (string, error)) (*kubelet, error) {
	config, err := ca.TLS(pki.Request{CommonName: "system:node:" + node, Organizations: []string{"system:nodes"}, IPs: []string{host}})
	if err != nil {
		return nil, fmt.Errorf("make the kubelet's certificate of %s: %w", node, err)
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(kubeletPort)))
	if err != nil {
		return nil, fmt.Errorf("listen for the kubelet of %s: %w", node, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/portForward/{namespace}/{pod}", func(w http.ResponseWriter, r *http.Request) {
		options, err := portforward.NewV4Options(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		portforward.ServePortForward(w, r, forwarder{target: target}, r.PathValue("pod"), "", options,
			5*time.Minute, 30*time.Second, portforward.SupportedProtocols)
	})
	k := &kubelet{server: &http.Server{
		Handler: mux, TLSConfig: config, ReadHeaderTimeout: 10 * time.Second,
		// SPDY takes the connection over, which HTTP/2 does not allow.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
		ErrorLog:     log.New(io.Discard, "", 0),
	}}
	go func() { _ = k.server.ServeTLS(listener, "", "") }() // Ends with stop.
	return k, nil
}

func (k *kubelet) stop() { _ = k.server.Close() }

// forwarder copies between a port-forward's stream and what stands for the port.
type forwarder struct {
	target func(pod string, port int32) (string, error)
}

// PortForward implements portforward.PortForwarder.
func (f forwarder) PortForward(ctx context.Context, pod, _ string, port int32, stream io.ReadWriteCloser) error {
	defer func() { _ = stream.Close() }()
	address, err := f.target(pod, port)
	if err != nil {
		return err
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("connect to port %d of pod %s: %w", port, pod, err)
	}
	defer func() { _ = connection.Close() }()
	done := make(chan struct{}, 2)
	pipe := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(to, from) // Ends when either side closes.
		done <- struct{}{}
	}
	go pipe(connection, stream)
	go pipe(stream, connection)
	<-done
	return nil
}
