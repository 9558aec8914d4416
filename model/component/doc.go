// Package component knows the system components of a VKS node whose ports an
// orphaned process can hold (KB article "Cluster nodes are stuck in NotReady
// State"), which pod is one of them, and how each says that its port is taken.
//
// Whether a pod is a component is decided by the name, labels and owner that kubeadm,
// the kubelet or its controller gave it, never by its namespace alone, its port or its
// log: other products run the same code on the same port, and ending the process that
// holds it would end a healthy component. The package only reads text and rows.
//
// Start reading at [Of] and [Binds].
package component
