package object

import "vksmedic/model"

// clusterRoleRow reads a ClusterRole.
func clusterRoleRow(t tree) model.Object {
	r := &model.ClusterRole{Meta: meta(t)}
	for _, x := range t.list("rules") {
		r.Rules = append(r.Rules, model.PolicyRule{
			Groups: interned(x.strings("apiGroups")), Resources: interned(x.strings("resources")),
			Verbs: interned(x.strings("verbs")), Names: x.strings("resourceNames"),
		})
	}
	return r
}

func interned(list []string) []string {
	for i := range list {
		list[i] = intern(list[i])
	}
	return list
}

// nodeConfigRow reads an object of a kind in model.NodeConfigKinds: its metadata.
func nodeConfigRow(t tree) model.Object { return &model.NodeConfig{Meta: meta(t)} }

// stripNodeConfig leaves only when it came, since no more is looked at: it may hold a registry's
// credentials.
func stripNodeConfig(u map[string]any) {
	for k := range u {
		if k != "apiVersion" && k != "kind" && k != "metadata" {
			delete(u, k)
		}
	}
	if m, ok := u["metadata"].(map[string]any); ok {
		delete(m, "annotations")
	}
}
