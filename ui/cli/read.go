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
	return r.live.YAML(ctx, placed(t))
}

func (r liveReader) Describe(ctx context.Context, t ui.Target) (string, error) {
	return r.live.Describe(ctx, placed(t))
}

// placed is the reference of an object, with where it is read.
func placed(t ui.Target) model.ObjectRef { return t.Ref.In(t.In) }

// dumpReader reads objects of a dump.
type dumpReader struct{ dump *capture.Dump }

func (r dumpReader) YAML(ctx context.Context, t ui.Target) (string, error) {
	return r.dump.YAML(ctx, placed(t))
}

func (r dumpReader) Describe(ctx context.Context, t ui.Target) (string, error) {
	return r.dump.Describe(ctx, placed(t))
}
