package capture

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"vksmedic/model"
	"vksmedic/probes/object"
)

// Where things stand in a capture:
//
//	vksmedic-capture/index.yaml
//	vksmedic-capture/supervisor/namespaces/<namespace>/<resource>/<name>.yaml
//	vksmedic-capture/supervisor/cluster-scoped/<resource>/<name>.yaml
//	vksmedic-capture/workload/<namespace>/<cluster>/look.yaml
//	vksmedic-capture/workload/<namespace>/<cluster>/namespaces/<namespace>/<resource>/<name>.yaml
//	vksmedic-capture/workload/<namespace>/<cluster>/cluster-scoped/<resource>/<name>.yaml
//
// Only the part up to the cluster means something to the reader: it says whose a node or pod is.
const (
	topFolder      = "vksmedic-capture"
	workloadFolder = "workload"
)

// pathOf is where an object stands, without its ending. The names have been redacted.
func pathOf(in model.Place, kind, namespace, name string) string {
	parts := []string{topFolder, "supervisor"}
	if in.Kind == model.PlaceCluster {
		parts = []string{topFolder, workloadFolder, segment(in.Cluster.Namespace), segment(in.Cluster.Name)}
	}
	if namespace == "" {
		parts = append(parts, "cluster-scoped")
	} else {
		parts = append(parts, "namespaces", segment(namespace))
	}
	return strings.Join(append(parts, segment(resourceOf(kind)), segment(name)), "/")
}

func lookPath(ref model.ClusterRef) string {
	return strings.Join([]string{topFolder, workloadFolder, segment(ref.Namespace), segment(ref.Name), lookFile}, "/")
}

// segment makes a name fit to be one part of a path on every system.
func segment(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() == 0 {
		return "%"
	}
	return b.String()
}

// placeOfPath is where the objects in a file of a capture live: in a workload cluster, or no place
// where the path does not say.
func placeOfPath(file string) model.Place {
	parts := strings.Split(strings.ReplaceAll(file, "\\", "/"), "/")
	i := slices.Index(parts, workloadFolder)
	if i < 0 || len(parts) < i+4 {
		return model.Place{}
	}
	ns, err := url.PathUnescape(parts[i+1])
	if err != nil {
		return model.Place{}
	}
	name, err := url.PathUnescape(parts[i+2])
	if err != nil {
		return model.Place{}
	}
	return model.InCluster("", model.ClusterRef{Namespace: ns, Name: name})
}

// resourceOf is the plural of a kind; of one that another infrastructure provider has, as kubectl
// would make it.
func resourceOf(kind string) string {
	if k, ok := object.Named(kind); ok {
		return k.Resource
	}
	k := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(k, "s"):
		return k
	case strings.HasSuffix(k, "y"):
		return strings.TrimSuffix(k, "y") + "ies"
	}
	return k + "s"
}

// onNodes are the nodes of which all pods are known, sorted.
func onNodes(m map[string]bool) []string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(m)) {
		if m[n] {
			out = append(out, n)
		}
	}
	return out
}
