package kb

import (
	"slices"
	"strings"
)

// ownMay is how much of an object an own article may write.
type ownMay int

const (
	ownNothing ownMay = iota
	// ownMarks are labels and annotations of an object that is there.
	ownMarks
	ownAll
)

// ownRule is what holds for a kind: how much may be written, and why not more. ByGroup says that
// no kind of the group may be written.
type ownRule struct {
	may     ownMay
	why     string
	byGroup bool
}

// ownKinds are the kinds of Kubernetes itself that own articles may write whole. None of them
// deletes anything, runs or ends a program, gives rights, leads the traffic of others, or reads a
// Secret: what is not here may, and is refused.
func ownKinds() map[string][]string {
	return map[string][]string{
		"":                        {"ConfigMap", "Event", "LimitRange", "PersistentVolumeClaim", "ResourceQuota"},
		"events.k8s.io":           {"Event"},
		"networking.k8s.io":       {"NetworkPolicy"},
		"snapshot.storage.k8s.io": {"VolumeSnapshot"},
	}
}

// refusedKinds are those that own articles may not write to at all, with the reason, by group;
// "*" is every kind of it, and a group that begins with a dot is every group that ends so.
func refusedKinds() map[string]map[string]string {
	const (
		wide    = "belongs to no namespace"
		rights  = "gives rights"
		runs    = "runs a program, which may read every Secret of its namespace"
		ends    = "decides which programs are ended"
		leader  = "says which program leads: one that loses it ends"
		traffic = "leads the traffic of others, with their tokens"
		anybody = "writes any object into clusters"
		applies = "has a controller make, change and delete any object"
		secrets = "has a controller read and write Secrets"
		list    = "may hold any object"
		private = "is for nobody else to read"
	)
	every := func(why string) map[string]string { return map[string]string{"*": why} }
	return map[string]map[string]string{
		"": {
			"Secret": private, "ServiceAccount": rights, "Namespace": wide, "Node": wide, "PersistentVolume": wide,
			"ComponentStatus": wide, "Pod": runs, "PodTemplate": runs, "ReplicationController": runs, "Binding": runs, "List": list,
			"Service": traffic, "Endpoints": traffic,
		},
		"apps":                                   every(runs),
		"batch":                                  every(runs),
		"extensions":                             every(runs),
		"autoscaling":                            every(ends),
		"policy":                                 every(ends),
		"coordination.k8s.io":                    every(leader),
		"discovery.k8s.io":                       every(traffic),
		"rbac.authorization.k8s.io":              every(rights),
		"authentication.k8s.io":                  every(rights),
		"authorization.k8s.io":                   every(rights),
		"certificates.k8s.io":                    every(rights),
		"admissionregistration.k8s.io":           every(wide),
		"apiextensions.k8s.io":                   every(wide),
		"apiregistration.k8s.io":                 every(wide),
		"flowcontrol.apiserver.k8s.io":           every(wide),
		"node.k8s.io":                            every(wide),
		"scheduling.k8s.io":                      every(wide),
		"networking.k8s.io":                      {"IngressClass": wide, "IPAddress": wide, "ServiceCIDR": wide, "Ingress": traffic},
		"addons.cluster.x-k8s.io":                every(anybody),
		"vmware.infrastructure.cluster.x-k8s.io": {"ProviderServiceAccount": rights},
		"kappctrl.k14s.io":                       every(applies),
		"packaging.carvel.dev":                   every(applies),
		"internal.packaging.carvel.dev":          every(applies),
		"data.packaging.carvel.dev":              every(applies),
		"argoproj.io":                            every(applies),
		".toolkit.fluxcd.io":                     every(applies),
		"velero.io":                              every(applies),
		"cert-manager.io":                        every(secrets),
		"acme.cert-manager.io":                   every(secrets),
		"external-secrets.io":                    every(secrets),
		"bitnami.com":                            every(secrets),
		"secretgen.carvel.dev":                   every(secrets),
		"secretgen.k14s.io":                      every(secrets),
	}
}

// Why only labels and annotations may be written of the objects that make up a cluster.
const (
	marksOfClusterAPI = "Cluster API makes and deletes Machines, runs commands on nodes and reads Secrets by what stands in it"
	marksOfHealth     = "Machines are deleted by what stands in it"
	marksOfDrains     = "drains skip and end Pods by what stands in it, in every cluster of the vSphere Namespace"
	marksOfVMware     = "the controllers of the Supervisor make, power off and delete VMs and read Secrets by what stands in it"
)

// ownRuleFor says what an own article may write of a kind. Objects that make up clusters and VMs
// get labels and annotations only. A group that nobody here knows, such as that of a team's own
// CustomResourceDefinition, may be written; whether its kind is namespaced says the server, when
// the step is previewed.
func ownRuleFor(group, kind string) ownRule {
	for g, kinds := range refusedKinds() {
		if g != group && (!strings.HasPrefix(g, ".") || !strings.HasSuffix(group, g)) {
			continue
		}
		if why := kinds["*"]; why != "" {
			return ownRule{why: why, byGroup: true}
		}
		if why := kinds[kind]; why != "" {
			return ownRule{why: why}
		}
	}
	if strings.HasSuffix(kind, "List") {
		return ownRule{why: refusedKinds()[""]["List"]}
	}
	switch {
	case slices.Contains(ownKinds()[group], kind):
		return ownRule{may: ownAll}
	case group == "cluster.x-k8s.io" && kind == "MachineHealthCheck":
		return ownRule{may: ownMarks, why: marksOfHealth}
	case group == "cluster.x-k8s.io" && kind == "MachineDrainRule":
		return ownRule{may: ownMarks, why: marksOfDrains}
	case inDomain(group, "cluster.x-k8s.io"):
		return ownRule{may: ownMarks, why: marksOfClusterAPI}
	case inDomain(group, "vmware.com"):
		return ownRule{may: ownMarks, why: marksOfVMware}
	case group == "", !strings.Contains(group, "."), inDomain(group, "k8s.io"):
		const why = "is no kind of Kubernetes that may be written"
		return ownRule{why: why, byGroup: len(ownKinds()[group]) == 0}
	}
	return ownRule{may: ownAll}
}

// inDomain says whether a group, or the prefix of a label, is a domain or stands below it.
func inDomain(name, domain string) bool {
	return name == domain || strings.HasSuffix(name, "."+domain)
}

// ownKindWords name the kinds that may be written whole.
func ownKindWords() string {
	var out []string
	for _, kinds := range ownKinds() {
		out = append(out, kinds...)
	}
	slices.Sort(out)
	return oneOf(append(slices.Compact(out), "a kind of a team's own API"))
}
