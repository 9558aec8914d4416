package cli

import (
	"context"

	"vksmedic/model"
	"vksmedic/probes"
	"vksmedic/probes/capture"
	"vksmedic/ui"
)

// liveReader reads objects of the Supervisor and of workload clusters.
type liveReader struct{ live *probes.Live }

func (r liveReader) YAML(ctx context.Context, t ui.Target) (string, error) {
	return r.live.YAML(ctx, inside(t), t.Ref)
}

func (r liveReader) Describe(ctx context.Context, t ui.Target) (string, error) {
	return r.live.Describe(ctx, inside(t), t.Ref)
}

// inside is the workload cluster that an object is read from, zero for the Supervisor.
func inside(t ui.Target) model.ClusterRef { return t.In.Cluster }

// attend has the cluster that is open looked at closely.
func attend(live *probes.Live) func(model.Place) {
	return func(p model.Place) { live.Attend(p.Cluster) }
}

// dumpReader reads objects of a dump.
type dumpReader struct{ dump *capture.Dump }

func (r dumpReader) YAML(ctx context.Context, t ui.Target) (string, error) {
	return r.dump.YAML(ctx, inside(t), t.Ref)
}

func (r dumpReader) Describe(ctx context.Context, t ui.Target) (string, error) {
	return r.dump.Describe(ctx, inside(t), t.Ref)
}
