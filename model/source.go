package model

import (
	"strings"
	"time"
)

// SourceState says what can be said about a source of knowledge.
type SourceState string

// The states of a source. They are part of the JSON that scan prints.
const (
	SourceOK            SourceState = "ok"
	SourceStale         SourceState = "stale"
	SourceForbidden     SourceState = "forbidden"
	SourceUnreachable   SourceState = "unreachable"
	SourceNotServed     SourceState = "not-served"
	SourceNotUnderstood SourceState = "not-understood"
	// SourceWaiting is a source that has not answered yet and is not overdue. It is
	// shown on the screen; scan, which waits, prints it as unreachable.
	SourceWaiting SourceState = "waiting"
)

// SourceName names a source. Its text is a path, such as supervisor/machines,
// supervisor/machines@team-a, workload/team-a/web/nodes or file/objects.yaml, and is part of the JSON
// that scan prints; it is made and taken apart by the functions here only.
type SourceName string

// The names of single sources.
const (
	// SourceDump stands for all of a dump.
	SourceDump SourceName = "dump"
	// SourceLogin is there while the login to the Supervisor does not work.
	SourceLogin SourceName = supervisorFolder + "login"
	// SourceVKS is the version of the vSphere Kubernetes Service.
	SourceVKS SourceName = supervisorFolder + "vks"
	// SourceJudge is there only when judging itself failed.
	SourceJudge SourceName = "vksmedic/judge"
)

// The first parts of the names.
const (
	supervisorFolder = "supervisor/"
	workloadFolder   = "workload/"
	fileFolder       = "file/"
)

// SupervisorSource names what is read of a resource of the Supervisor, such as machines: in a
// namespace, or in all of them where that is empty.
func SupervisorSource(resource, namespace string) SourceName {
	if namespace == "" {
		return SourceName(supervisorFolder + resource)
	}
	return SourceName(supervisorFolder + resource + "@" + namespace)
}

// The parts of a workload cluster that have a source each.
const (
	PartNodes   = "nodes"
	PartPods    = "pods"
	PartBudgets = "budgets"
)

// WorkloadSource names what is read of a part of a workload cluster.
func WorkloadSource(c ClusterRef, part string) SourceName {
	return SourceName(workloadFolder + c.Namespace + "/" + c.Name + "/" + part)
}

// FileSource names a file of a dump.
func FileSource(file string) SourceName { return SourceName(fileFolder + file) }

// Supervisor takes the name of a source of the Supervisor apart; namespace is empty for all of them.
func (n SourceName) Supervisor() (resource, namespace string, ok bool) {
	rest, ok := strings.CutPrefix(string(n), supervisorFolder)
	resource, namespace, _ = strings.Cut(rest, "@")
	if !ok {
		return "", "", false
	}
	return resource, namespace, true
}

// Workload takes the name of a source of a workload cluster apart.
func (n SourceName) Workload() (c ClusterRef, part string, ok bool) {
	rest, ok := strings.CutPrefix(string(n), workloadFolder)
	p := strings.Split(rest, "/")
	if !ok || len(p) != 3 {
		return ClusterRef{}, "", false
	}
	return ClusterRef{Namespace: p[0], Name: p[1]}, p[2], true
}

// Of says whether this is a resource of the Supervisor, in whichever namespace.
func (n SourceName) Of(resource string) bool {
	r, _, ok := n.Supervisor()
	return ok && r == resource
}

// Short is the name as a person needs it who knows that it is one of the Supervisor's.
func (n SourceName) Short() string { return strings.TrimPrefix(string(n), supervisorFolder) }

// Source is one place that is looked at, and how that went.
type Source struct {
	Name  SourceName
	State SourceState
	// Seen is when the source was last known to be up to date: for a watch, the last
	// event or bookmark while it was connected. Zero if never.
	Seen time.Time
	// Live says that the source is being watched right now, so that what it told is
	// current although Seen may be a while ago.
	Live bool
	// Lost says that something which may be an object was there and could not be read, so that what is
	// not found in the rest may have been in it. It is for dumps.
	Lost bool
	// Detail says in words what is wrong and what to do about it; empty when ok.
	Detail string
}

// Age is how old the knowledge is: zero for a live source, negative if it was never seen.
func (s Source) Age(now time.Time) time.Duration {
	if s.Live && s.State == SourceOK {
		return 0
	}
	if s.Seen.IsZero() {
		return -1
	}
	return now.Sub(s.Seen)
}

// Readable says whether what the source told can be relied on: ok, or only old.
func (s Source) Readable() bool { return s.State == SourceOK || s.State == SourceStale }
