package probes

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/probes/capture"
	"vksmedic/probes/supervisor"
)

// Taking says what is captured, and where to.
type Taking struct {
	// File is the file to write; empty for one in the current folder, called after the context.
	File string
	// Cluster is the only one to capture, NAME or NAMESPACE/NAME; empty for all.
	Cluster string
	// Redact replaces addresses, hosts' and users' names by stand-ins.
	Redact bool
	// Tool is the program's name and version.
	Tool string
	// Timeout is how long to wait for answers.
	Timeout time.Duration
	// Report is told in a few words how far it is; nil for nobody. It is called from several goroutines.
	Report func(string)
}

// Taken is a capture that was written.
type Taken struct {
	capture.Summary
	File string
	Size int64 // in bytes.
}

// String says where it is, how large, and what it lacks.
func (t Taken) String() string {
	s := fmt.Sprintf("%s (%s): %s, %s", t.File, bytes(t.Size), text.Plural(t.Clusters, "cluster"), text.Plural(t.Objects, "object"))
	if len(t.Missing) > 0 {
		s += "; not read: " + strings.Join(t.Missing, "; ")
	}
	return text.Clean(s)
}

func bytes(n int64) string {
	const k, m = 1 << 10, 1 << 20
	if n < m {
		return fmt.Sprintf("%d kB", (n+k-1)/k)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/m)
}

// ErrNothing says that there is nothing to capture.
var ErrNothing = errors.New("nothing could be read")

// Take looks once, as Once does, and writes what it saw as a capture. It returns ErrNothing where
// nothing could be read, and writes no file then; what else could not be read is in the capture.
func Take(ctx context.Context, conn *supervisor.Connection, config Config, judge model.Judge, t Taking) (Taken, error) {
	if t.Report == nil {
		t.Report = func(string) {}
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	var redactor *capture.Redactor
	if t.Redact {
		redactor = capture.NewRedactor()
	}
	if t.File != "" {
		if err := capture.Check(t.File); err != nil {
			return Taken{}, err //nolint:wrapcheck // the sentence is complete.
		}
	}
	rec, err := capture.NewRecorder("")
	if err != nil {
		return Taken{}, err //nolint:wrapcheck // the sentence is complete.
	}
	defer func() { _ = rec.Close() }() // It only holds what is written elsewhere by then.
	rec.Hide(conn.Hide)
	only := t.only()
	config.Keep, config.Only, config.Seen = rec.Keep, only, t.seen(config.Seen, only)
	look, cancel := context.WithTimeout(ctx, t.Timeout)
	sn, err := Once(look, conn, config, judge)
	cancel()
	if err != nil {
		return Taken{}, err
	}
	if err := t.worth(sn, only); err != nil {
		return Taken{}, err
	}
	out := Taken{File: t.File}
	if out.File == "" {
		name := sn.Supervisor.Context
		if t.Redact {
			name = "redacted"
		}
		out.File = free(capture.FileName(name, sn.At))
	}
	out.Summary, out.Size, err = capture.Save(ctx, out.File, sn, rec, capture.WriteOptions{
		Tool: t.Tool, Only: only, Redactor: redactor,
		Progress: func(done, of int) { t.Report(fmt.Sprintf("writing: %d of %s", done, text.Plural(of, "object"))) },
	})
	if err != nil {
		return Taken{}, err //nolint:wrapcheck // the sentence is complete.
	}
	if abs, err := filepath.Abs(out.File); err == nil {
		out.File = abs
	}
	return out, nil
}

// only is the choice of clusters; nil for all.
func (t Taking) only() func(model.ClusterRef) bool {
	if t.Cluster == "" {
		return nil
	}
	ns, name, full := strings.Cut(t.Cluster, "/")
	if !full {
		ns, name = "", t.Cluster
	}
	return func(ref model.ClusterRef) bool { return ref.Name == name && (ns == "" || ref.Namespace == ns) }
}

// seen reports how far the looking is.
func (t Taking) seen(also func(*model.Snapshot), only func(model.ClusterRef) bool) func(*model.Snapshot) {
	last := ""
	return func(sn *model.Snapshot) {
		if also != nil {
			also(sn)
		}
		answered, looked, of := 0, 0, 0
		for _, s := range sn.Sources {
			if s.State != model.SourceWaiting {
				answered++
			}
		}
		for _, c := range sn.Clusters {
			if only != nil && !only(c.Ref) {
				continue
			}
			of++
			if c.Workload.NodesSource.State != "" {
				looked++
			}
		}
		if s := fmt.Sprintf("looking: %d of %s answered, %d of %s looked into", answered, text.Plural(len(sn.Sources), "source"), looked, text.Plural(of, "cluster")); s != last {
			last = s
			t.Report(s)
		}
	}
}

// worth says why a picture is not worth a file.
func (t Taking) worth(sn *model.Snapshot, only func(model.ClusterRef) bool) error {
	readable := func(s model.Source) bool {
		_, _, supervisor := s.Name.Supervisor()
		return supervisor && s.Readable()
	}
	if len(sn.Clusters) == 0 && !slices.ContainsFunc(sn.Sources, readable) {
		for _, s := range sn.Sources {
			if s.Detail != "" {
				return fmt.Errorf("%w: %s", ErrNothing, text.Clean(s.Detail))
			}
		}
		return ErrNothing
	}
	if only != nil && !slices.ContainsFunc(sn.Clusters, func(c *model.Cluster) bool { return only(c.Ref) }) {
		var there []string
		for _, c := range sn.Clusters {
			there = append(there, c.Ref.String())
		}
		const shown = 10
		if len(there) > shown {
			there = append(there[:shown], "…")
		}
		return fmt.Errorf("there is no cluster %s; there are: %s", t.Cluster, text.Clean(strings.Join(there, ", ")))
	}
	return nil
}

// free is a name that is not taken, like the given one.
func free(name string) string {
	out := name
	for n := 2; errors.Is(capture.Check(out), capture.ErrExists); n++ {
		out = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, capture.Ending), n, capture.Ending)
	}
	return out
}
