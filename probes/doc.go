// Package probes brings the looking together: it owns the store, takes in what the
// packages below it observe (supervisor: watches; workload: looks into workload
// clusters), and hands out snapshots, at most ten a second, at once when it was quiet.
//
// It never writes to a cluster and never blocks whoever reads its snapshots: a reader
// that is slow gets the newest and misses those between.
//
// Start reading at [Run], and [Once] for a single picture.
package probes
