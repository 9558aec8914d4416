// Package lifecycle is what is known about what Cluster API is doing with a
// cluster: how it drains a node before it deletes a Machine, with the message it
// writes while a drain is not done ([ParseMessage]), the stages of a deletion
// ([StageOf]), what MachineDrainRules and labels make of each pod ([NewPlan]), which
// versions a cluster has and is going to ([Versions]), and how its etcd stands ([Quorum]).
//
// It follows cluster-api's sources of releases 1.3 to 1.14:
// sigs.k8s.io/cluster-api/internal/controllers/machine/drain (core/reconcilers
// since v1.14) and sigs.k8s.io/cluster-api/internal/controllers/machine/machine_controller.go.
// It only computes: it reads no cluster and has no clock. What it is given may be
// incomplete, and then it says so instead of guessing.
//
// Start reading at [Message], then [Deletion], then [Plan].
package lifecycle
