package object

import (
	"slices"
	"strings"

	"vksmedic/model"
)

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

// ofVirtualMachines keeps the Endpoints that VM Operator writes for a
// VirtualMachineService: it owns them, unless the Service was there before it.
func ofVirtualMachines(o model.Object) bool {
	e, ok := o.(*model.Endpoints)
	if !ok {
		return false
	}
	for _, w := range e.Owners {
		if w.Kind == "VirtualMachineService" {
			return true
		}
	}
	for label := range e.Labels {
		if strings.HasPrefix(label, "capv.vmware.com/") || strings.HasPrefix(label, "capw.vmware.com/") {
			return true
		}
	}
	for _, s := range e.Subsets {
		for _, a := range append(slices.Clone(s.Ready), s.NotReady...) {
			if a.Target.Kind == "VirtualMachine" {
				return true
			}
		}
	}
	return strings.HasSuffix(e.Name, "-control-plane-service")
}
