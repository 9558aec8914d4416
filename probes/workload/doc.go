// Package workload looks into workload clusters: their nodes always, and on a node that is
// drained, cordoned or unhealthy its pods, the budgets that may hold them, the labels of
// their namespaces, the volumes that hang on it, and kube-cert-agent pods anywhere.
//
// It looks as often as need be: a cluster with a hint of trouble, or open on the screen,
// at once and every few seconds, a healthy one every minute; each with its own deadline,
// a bounded number at a time, and ever more seldom where nobody answers, so that dead
// clusters cost nothing.
//
// It reaches a cluster by the kubeconfig in the Secret <cluster>-kubeconfig, read by name
// when needed and never stored or logged, and accepts certificates and tokens from it,
// nothing else (see [Vet]); or by a file that the engineer names, which may do all that a
// kubeconfig can. It never writes to a cluster.
//
// Start reading at [Looker], then look.go for what one look reads.
package workload
