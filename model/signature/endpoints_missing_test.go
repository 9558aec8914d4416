package signature

import (
	"slices"
	"testing"
	"time"

	"vksmedic/model"
)

func TestEndpointsMissing(t *testing.T) {
	table(t, EndpointsMissing, []try{
		{name: "all missing, VM Operator calls them Ready", change: func(s *site) { s.c.Endpoints[0].Subsets = nil }, want: model.Confirmed, severity: model.Critical,
			evidence: []string{"missing-is-healthy=yes", "control-plane-vm/web-cp-1=no", "image-differs=no", "operator-may-patch=unknown"}, says: "no address is left"},
		{name: "one of three", change: func(s *site) { s.unlist("10.0.0.3") }, want: model.Confirmed, severity: model.Warning, evidence: []string{"control-plane-vm/web-cp-1=yes", "control-plane-vm/web-cp-3=no"}, says: "10.0.0.3"},
		{name: "the newer name and the older", change: func(s *site) {
			s.c.Services[0].Name, s.c.Endpoints[0].Name = "web-control-plane-service", "web-control-plane-service"
			s.unlist("10.0.0.3")
		}, want: model.Confirmed},
		{name: "only the Endpoints are known", change: func(s *site) { s.c.Services = nil; s.unlist("10.0.0.3") }, want: model.Confirmed},
		{name: "no Endpoints object at all", change: func(s *site) { s.c.Endpoints = nil }, want: model.Confirmed, severity: model.Critical},
		{name: "not ready, its API server is", change: func(s *site) {
			s.unlist("10.0.0.3").probe("web-cp-3", "False", "dial tcp 10.0.0.3:6443: i/o timeout", time.Hour)
			s.endpoints().NotReady = []model.EndpointAddress{{IP: "10.0.0.3"}}
		}, want: model.Confirmed, says: "10.0.0.3"},
		{name: "not ready, only its node is", change: func(s *site) {
			s.unlist("10.0.0.3").probe("web-cp-3", "False", "dial tcp 10.0.0.3:6443: i/o timeout", time.Hour)
			s.c.Workload.Pods = nil
		}, want: model.Suspected, evidence: []string{"missing-is-healthy=unknown"}},
		{name: "all time out, nothing of the inside is known", change: func(s *site) {
			for _, n := range []string{"web-cp-1", "web-cp-2", "web-cp-3"} {
				s.probe(n, "False", "dial tcp: i/o timeout", time.Hour)
				s.machine(n).Conditions = model.Generations{}
			}
			s.c.Endpoints[0].Subsets = nil
			s.blind()
		}, want: model.Suspected, severity: model.Critical},
		{name: "no probe (NSX-VPC), and yet missing", change: func(s *site) {
			s.vm("web-cp-3").HasProbe, s.vm("web-cp-3").Conditions = false, nil
			s.unlist("10.0.0.3")
		}, want: model.Confirmed},
		{name: "images differ and there are two of one name", change: func(s *site) {
			s.unlist("10.0.0.3")
			s.vm("web-cp-3").Image = "vmi-old"
			s.sn.Images = []*model.VirtualMachineImage{{Meta: model.Meta{Name: "vmi-1"}, DisplayName: "photon-5"}, {Meta: model.Meta{Name: "vmi-2"}, DisplayName: "photon-5"}}
		}, want: model.Confirmed, evidence: []string{"image-differs=yes", "duplicate-images=yes"}},
		{name: "the privilege is missing too", change: func(s *site) {
			s.unlist("10.0.0.3")
			s.sn.Roles = []*model.ClusterRole{role(nil, "create", "get", "update")}
		}, want: model.Confirmed, evidence: []string{"operator-may-patch=no"}, says: "give that privilege back first"},
		{name: "a rollout waits", change: func(s *site) {
			s.unlist("10.0.0.3")
			s.add("web-cp-4", "", true)
			s.machine("web-cp-4").NodeName, s.machine("web-cp-4").Phase = "", "Provisioned"
		}, want: model.Confirmed, evidence: []string{"rollout-waits=yes"}},
		{name: "the kubelets fell silent since nobody is listed", change: func(s *site) {
			s.c.Endpoints[0].Subsets = nil
			s.silent("web-cp-1", 10*time.Minute).silent("web-cp-2", 10*time.Minute).silent("web-cp-3", 10*time.Minute)
		}, want: model.Confirmed, severity: model.Critical},
		{name: "a dump whose Cluster does not say whether it is initialised", change: func(s *site) {
			s.unlist("10.0.0.3")
			s.c.Object.ControlPlaneInitialized = false
		}, want: model.Confirmed},

		// Near misses.
		{name: "listed by its other family", change: func(s *site) {
			s.unlist("10.0.0.3")
			s.vm("web-cp-3").Address6 = "fd00::3"
			s.endpoints().Ready = append(s.endpoints().Ready, model.EndpointAddress{IP: "FD00:0::3"})
		}},
		{name: "complete", change: func(*site) {}},
		{name: "an address too many", change: func(s *site) {
			s.endpoints().Ready = append(s.endpoints().Ready, model.EndpointAddress{IP: "10.0.0.99"})
		}},
		{name: "the API server is really down", change: func(s *site) {
			s.unlist("10.0.0.3").probe("web-cp-3", "False", "dial tcp 10.0.0.3:6443: connect: connection refused", time.Hour)
			s.endpoints().NotReady = []model.EndpointAddress{{IP: "10.0.0.3"}}
			s.podNamed("kube-apiserver-web-cp-3").Ready = false
		}},
		{name: "its node is NotReady", change: func(s *site) {
			s.unlist("10.0.0.3").probe("web-cp-3", "False", "dial tcp 10.0.0.3:6443: i/o timeout", time.Hour).silent("web-cp-3", time.Hour)
		}},
		{name: "its VM is being deleted", change: func(s *site) {
			s.unlist("10.0.0.3")
			s.vm("web-cp-3").Deleting = ago(time.Minute)
		}},
		{name: "its Machine is being deleted", change: func(s *site) {
			s.unlist("10.0.0.3").deleting("web-cp-3", 5*time.Minute, "DrainingNode", header)
		}},
		{name: "a VM without an address yet", change: func(s *site) { s.unlist("10.0.0.3"); s.vm("web-cp-3").Address = "" }},
		{name: "Ready just now", change: func(s *site) { s.unlist("10.0.0.3").probe("web-cp-3", "True", "", 20*time.Second) }},
		{name: "made just now, its probe has said nothing", change: func(s *site) {
			s.unlist("10.0.0.3")
			s.vm("web-cp-3").Conditions, s.vm("web-cp-3").Created = nil, ago(3*time.Minute)
		}},
		{name: "not initialised", change: func(s *site) {
			s.c.Endpoints[0].Subsets = nil
			s.c.Object.ControlPlaneInitialized, s.c.Object.ControlPlaneUninitialized = false, true
		}},
		{name: "no service at all (TKGm)", change: func(s *site) { s.c.Services, s.c.Endpoints = nil, nil }},
		{name: "somebody's own service", change: func(s *site) {
			s.c.Services = []*model.VirtualMachineService{{Meta: model.Meta{Name: "minio"}, Selector: map[string]string{"app": "minio"}}}
			s.c.Endpoints = []*model.Endpoints{{Meta: model.Meta{Name: "minio", Owners: []model.Owner{{Kind: "VirtualMachineService", Name: "minio"}}}}}
		}},
		{name: "workers are none of its business", change: func(s *site) {
			s.vm("web-np-1").Conditions = model.Conditions{{Type: "Ready", Status: "True"}}
		}},
		{name: "the Endpoints may not be read", change: func(s *site) {
			s.c.Endpoints = nil
			s.source("endpoints", model.SourceForbidden, "forbidden")
		}},
		{name: "a dump without the Endpoints", change: func(s *site) { s.c.Endpoints, s.sn.Dump = nil, true }},
		{name: "powered off", change: func(s *site) {
			s.unlist("10.0.0.3").probe("web-cp-3", "False", "virtual machine is not powered on", time.Hour)
			s.vm("web-cp-3").PowerState = "PoweredOff"
		}},
	})
}

func TestEndpointsFacts(t *testing.T) {
	s := newSite(t)
	s.unlist("10.0.0.3").probe("web-cp-2", "False", "dial tcp 10.0.0.2:6443: connect: connection refused", time.Hour)
	s.podNamed("kube-apiserver-web-cp-2").Ready = false
	s.unlist("10.0.0.2")
	f, ok := s.find(EndpointsMissing).Facts.(*EndpointsFacts)
	if !ok {
		t.Fatal("no facts")
	}
	if f.Namespace != "team-a" || f.Name != "web" || f.Port != 6443 || f.PortName != "apiserver" || len(f.VMs) != 3 {
		t.Errorf("%+v", f)
	}
	if !slices.Equal(f.Missing, []string{"10.0.0.3"}) || !slices.Equal(f.Keep, []string{"10.0.0.1"}) {
		t.Errorf("missing %v, keep %v: a dead node is not to be added", f.Missing, f.Keep)
	}
}

// role is VM Operator's ClusterRole with these verbs on endpoints and the resources beside them.
func role(beside []string, verbs ...string) *model.ClusterRole {
	return &model.ClusterRole{Meta: model.Meta{Kind: "ClusterRole", Name: model.VMOperatorRole}, Rules: []model.PolicyRule{
		{Groups: []string{""}, Resources: append([]string{"endpoints"}, beside...), Verbs: verbs},
		{Groups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "watch"}},
	}}
}
