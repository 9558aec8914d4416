// Package capi runs the real Cluster API controllers (core, kubeadm bootstrap
// provider and kubeadm control plane provider) with their conversion and
// admission webhooks in one process of the lab.
//
// It only wires up Cluster API's own packages. It exists because Cluster API's
// stock programs bind their webhook server to every address of the machine and
// have no flag against it; here everything listens on the one loopback address
// that the lab gives. It never touches a cluster by itself.
//
// Start reading at Run.
package capi
