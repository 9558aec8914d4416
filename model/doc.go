// Package model is what vksmedic knows: plain values for clusters, machines,
// nodes, virtual machines and endpoints, how fresh each source is, and what was
// found. It does no I/O, has no clock of its own and knows no Kubernetes client:
// the probes fill it, the signatures judge it, the screen shows it.
//
// Start reading at [Snapshot], the picture of one moment, then [Cluster], the
// unit that is judged, and [Finding], what judging yields. [Store] turns single
// observations into snapshots. The signatures are in package
// vksmedic/model/signature, what is known about drains in vksmedic/model/lifecycle.
//
// A value that was handed out is never changed afterwards; a cluster that did
// not change is the same pointer in the next snapshot.
package model
