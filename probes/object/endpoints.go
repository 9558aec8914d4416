package object

import "vksmedic/model"

// endpointsRow reads core/v1 Endpoints.
func endpointsRow(t tree) model.Object {
	e := &model.Endpoints{Meta: meta(t)}
	for _, s := range t.list("subsets") {
		e.Subsets = append(e.Subsets, model.EndpointSubset{
			Ready:    endpointAddresses(s.list("addresses"), e.Namespace),
			NotReady: endpointAddresses(s.list("notReadyAddresses"), e.Namespace),
			Ports:    ports(s.list("ports")),
		})
	}
	return e
}

func endpointAddresses(list []tree, namespace string) []model.EndpointAddress {
	var out []model.EndpointAddress
	for _, a := range list {
		if a.str("ip") == "" {
			continue
		}
		out = append(out, model.EndpointAddress{
			IP: a.str("ip"), Target: ref(a.sub("targetRef"), namespace), UID: a.str("targetRef", "uid"),
		})
	}
	return out
}
