package ui

import (
	"vksmedic/model"
	"vksmedic/model/text"
)

// newObject is an object that has conditions and no Machine: a control plane,
// a MachineDeployment, the Cluster.
func newObject(ref model.ClusterRef, object model.ObjectRef) *listScreen {
	s := newDetails(ref, clean(object.Name))
	s.rows = func(f *frame, _ string) rowList { return objectRows(f, ref, object) }
	return s
}

func objectRows(f *frame, ref model.ClusterRef, object model.ObjectRef) rowList {
	c := f.cluster(ref)
	if c == nil {
		return nil
	}
	d := details{f: f}
	found := func(meta *model.Meta, g model.Generations, facts ...string) {
		if meta.Ref() != object {
			return
		}
		d.object(clean(meta.Kind)+" "+clean(meta.Name), "", &Target{Ref: object, In: onSupervisor()})
		for i := 0; i+1 < len(facts); i += 2 {
			d.fact(facts[i], clean(facts[i+1]))
		}
		d.fact("created", exact(meta.Created)+", "+text.Since(f.now, meta.Created)+" ago")
		d.conditions(g)
	}
	if c.Object != nil {
		found(&c.Object.Meta, c.Object.Conditions, "phase", c.Object.Phase, "version", c.Object.Version, "class", c.Object.Class, "endpoint", c.Object.Endpoint)
	}
	if c.ControlPlane != nil {
		found(&c.ControlPlane.Meta, c.ControlPlane.Conditions, "wanted", c.ControlPlane.Version, "oldest", c.ControlPlane.OldestVersion)
	}
	for _, x := range c.Deployments {
		found(&x.Meta, x.Conditions, "phase", x.Phase, "version", x.Version)
	}
	for _, x := range c.Sets {
		found(&x.Meta, x.Conditions, "of", x.Deployment, "version", x.Version)
	}
	for _, x := range c.HealthChecks {
		found(&x.Meta, x.Conditions)
	}
	if c.InfraCluster != nil {
		found(&c.InfraCluster.Meta, c.InfraCluster.Conditions)
	}
	if len(d.rows) == 0 {
		return rowList{line("  this object is not there any more")}
	}
	return d.rows
}
