//go:build tools

// Package lab pins the real programs that the lab builds and runs: they are
// main packages of other modules, so nothing else in this module imports them.
package lab

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
