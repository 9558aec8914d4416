package object

import (
	"strings"

	"vksmedic/model"
)

// virtualMachineRow reads a VirtualMachine of VM Operator, v1alpha1 to v1alpha6:
//
//	image    spec.imageName; from v1alpha3 spec.image.name; status.image.name in v1alpha2
//	power    poweredOn in v1alpha1, PoweredOn later
//	host     status.host; from v1alpha4 status.nodeName
//	address  status.vmIp in v1alpha1, status.network.primaryIP4 or primaryIP6 later
//	class    spec.className; status.class.name; from v1alpha4 spec.class.name too
func virtualMachineRow(t tree) model.Object {
	v := &model.VirtualMachine{Meta: meta(t), Conditions: conditions(t.list("status", "conditions"))}
	v.Cluster = clusterOf(t, &v.Meta)
	v.PowerState = power(t.str("status", "powerState"))
	v.WantPower = power(t.str("spec", "powerState"))
	v.Host = intern(first(t.str("status", "nodeName"), t.str("status", "host")))
	v.Address = first(t.str("status", "network", "primaryIP4"), t.str("status", "network", "primaryIP6"), t.str("status", "vmIp"))
	if v6 := t.str("status", "network", "primaryIP6"); v6 != v.Address {
		v.Address6 = v6
	}
	v.Image = intern(first(t.str("spec", "image", "name"), t.str("status", "image", "name"), t.str("spec", "imageName")))
	v.Class = intern(first(t.str("spec", "className"), t.str("spec", "class", "name"), t.str("status", "class", "name")))
	v.MoID = t.str("status", "uniqueID")
	v.BiosUUID = first(t.str("status", "biosUUID"), t.str("spec", "biosUUID"))
	v.HasProbe = len(t.sub("spec", "readinessProbe")) > 0
	v.Paused = annotated(&v.Meta, "vmoperator.vmware.com/paused")
	return v
}

// power spells a power state as the newer versions do; one that is not known stays as it is.
func power(s string) string {
	for _, known := range []string{"PoweredOn", "PoweredOff", "Suspended"} {
		if strings.EqualFold(s, known) {
			return known
		}
	}
	return intern(s)
}

// virtualMachineServiceRow reads a VirtualMachineService. The cluster is told by a label,
// by the selector that CAPV sets, or by the VSphereCluster that owns it, which is named
// like the cluster.
func virtualMachineServiceRow(t tree) model.Object {
	s := &model.VirtualMachineService{Meta: meta(t)}
	s.Type = t.word("spec", "type")
	s.Selector = t.table("spec", "selector")
	s.Cluster = intern(first(clusterOf(t, &s.Meta),
		s.Selector["capv.vmware.com/cluster.name"], s.Selector["capw.vmware.com/cluster.name"], s.Selector["cluster.x-k8s.io/cluster-name"]))
	for _, o := range s.Owners {
		if s.Cluster == "" && o.Kind == "VSphereCluster" {
			s.Cluster = o.Name
		}
	}
	s.Ports = ports(t.list("spec", "ports"))
	for _, i := range t.list("status", "loadBalancer", "ingress") {
		if a := first(i.str("ip"), i.str("hostname")); a != "" {
			s.Ingress = append(s.Ingress, a)
		}
	}
	return s
}

// imageRow reads a VirtualMachineImage or ClusterVirtualMachineImage: v1alpha1 says its
// display name in status.imageName, later versions in status.name.
func imageRow(t tree) model.Object {
	return &model.VirtualMachineImage{
		Meta:        meta(t),
		DisplayName: first(t.str("status", "name"), t.str("status", "imageName")),
		ProviderID:  first(t.str("status", "providerItemID"), t.str("spec", "imageID"), t.str("spec", "providerRef", "name")),
	}
}

func ports(list []tree) []model.ServicePort {
	var out []model.ServicePort
	for _, p := range list {
		out = append(out, model.ServicePort{Name: p.word("name"), Port: p.count("port"), Protocol: intern(first(p.str("protocol"), "TCP"))})
	}
	return out
}

// stripMachine leaves of what a VirtualMachine is started with only where it is read from.
func stripMachine(u map[string]any) {
	spec, _ := u["spec"].(map[string]any)
	delete(spec, "advancedOptions")
	delete(spec, "advanced")
	boot, _ := spec["bootstrap"].(map[string]any)
	only(boot, "cloudInit", "rawCloudConfig", "instanceID")
	only(boot, "sysprep", "rawSysprep")
	only(boot, "vAppConfig", "rawProperties")
	only(boot, "linuxPrep", "hardwareClockIsUTC", "timeZone")
}

// stripImage leaves of an image's status what tells which it is.
func stripImage(u map[string]any) {
	only(u, "status", "name", "imageName", "providerItemID", "productInfo", "osInfo", "type", "firmware", "hardwareVersion", "conditions")
}
