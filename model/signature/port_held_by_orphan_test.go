package signature

import (
	"testing"
	"time"

	"vksmedic/model"
)

const bindAPI = `E1019 20:33:37.958760       1 run.go:74] "command failed" err="failed to create listener: failed to listen on 0.0.0.0:6443: listen tcp 0.0.0.0:6443: bind: address already in use"`

// crash makes a component's container end again and again.
func (s *site) crash(component, node string, exit int32, waiting string) *model.Pod {
	p := s.podNamed(component + "-" + node)
	p.Ready, p.Waiting, p.Restarts = false, waiting, 9
	p.Containers[0] = model.Container{Name: component, Restarts: 9, Waiting: waiting, Last: &model.Ending{ExitCode: exit, Reason: "Error", At: ago(time.Minute)}}
	return p
}

func (s *site) log(p *model.Pod, container, body string) *site {
	s.c.Workload.Logs = append(s.c.Workload.Logs, model.LogExcerpt{Namespace: p.Namespace, Pod: p.Name, Container: container, PodUID: p.UID, Previous: true, Text: body, Read: now})
	return s
}

func listen(addr string) string {
	return "failed to create listener: failed to listen on " + addr + ": listen tcp " + addr + ": bind: address already in use"
}

func TestPortHeldByOrphan(t *testing.T) {
	const back = "CrashLoopBackOff"
	table(t, PortHeldByOrphan, []try{
		{name: "kube-apiserver, the node silent", change: func(s *site) {
			s.log(s.crash("kube-apiserver", "web-cp-1", 1, back), "kube-apiserver", bindAPI).silent("web-cp-1", 10*time.Minute)
		}, want: model.Confirmed, severity: model.Critical, says: "its port 6443 is held", evidence: []string{"own-port-in-use=yes", "node-affected=yes", "holder-is-orphan=unknown"}},
		{name: "kube-scheduler on a Ready node", change: func(s *site) {
			s.log(s.crash("kube-scheduler", "web-cp-2", 1, back), "kube-scheduler", listen("127.0.0.1:10259"))
		}, want: model.Confirmed, severity: model.Critical, evidence: []string{"node-affected=no"}},
		{name: "kube-controller-manager", change: func(s *site) {
			s.log(s.crash("kube-controller-manager", "web-cp-2", 1, back), "kube-controller-manager", listen("127.0.0.1:10257"))
		}, want: model.Confirmed},
		{name: "etcd, its JSON", change: func(s *site) {
			s.log(s.crash("etcd", "web-cp-2", 1, back), "etcd", `{"level":"fatal","msg":"discovery failed","error":"listen tcp 127.0.0.1:2380: bind: address already in use"}`)
		}, want: model.Confirmed, says: "its port 2380 is held"},
		{name: "antrea-agent", change: func(s *site) {
			p := s.crash("etcd", "web-cp-1", 1, back)
			p.Name, p.Mirror, p.Labels, p.Node = "antrea-agent-x", false, map[string]string{"app": "antrea", "component": "antrea-agent"}, "web-np-1"
			p.Owners = []model.Owner{{Kind: "DaemonSet", Name: "antrea-agent", Controller: true}}
			p.Containers[0].Name = "antrea-agent"
			s.log(p, "antrea-agent", listen("0.0.0.0:10350"))
		}, want: model.Confirmed, severity: model.Warning},
		{name: "its last words instead of a log", change: func(s *site) {
			p := s.crash("kube-scheduler", "web-cp-2", 1, back)
			p.Containers[0].Last.Message = listen("127.0.0.1:10259")
		}, want: model.Confirmed},
		{name: "no log, the node silent", change: func(s *site) {
			s.crash("kube-apiserver", "web-cp-1", 1, back)
			s.silent("web-cp-1", 10*time.Minute)
		}, want: model.Suspected, evidence: []string{"own-port-in-use=unknown"}, says: "kubectl logs"},
		{name: "no log, the node NotReady", change: func(s *site) {
			s.crash("etcd", "web-cp-1", 1, back)
			s.ready("web-cp-1", "False", "KubeletNotReady", "x", time.Hour)
		}, want: model.Suspected},
		{name: "an unclear log", change: func(s *site) {
			s.log(s.crash("kube-apiserver", "web-cp-1", 1, back), "kube-apiserver", `failed to start sandbox container for pod "kube-apiserver-web-cp-1": Error response from daemon: Address already in use`).silent("web-cp-1", 10*time.Minute)
		}, want: model.Suspected},
		{name: "the log could not be read", change: func(s *site) {
			p := s.crash("kube-apiserver", "web-cp-1", 1, back)
			s.c.Workload.Logs = []model.LogExcerpt{{Namespace: p.Namespace, Pod: p.Name, Container: "kube-apiserver", Why: "forbidden"}}
			s.silent("web-cp-1", 10*time.Minute)
		}, want: model.Suspected, evidence: []string{"own-port-in-use=unknown"}},

		// Near misses.
		{name: "no log, a Ready node", change: func(s *site) { s.crash("kube-apiserver", "web-cp-1", 1, back) }},
		{name: "another reason in the log", change: func(s *site) {
			s.log(s.crash("kube-apiserver", "web-cp-1", 1, back), "kube-apiserver", "failed to get cluster-cidr").silent("web-cp-1", 10*time.Minute)
		}},
		{name: "a port of another component", change: func(s *site) {
			s.log(s.crash("kube-scheduler", "web-cp-1", 1, back), "kube-scheduler", listen("127.0.0.1:10257")).silent("web-cp-1", 10*time.Minute)
		}, says: ""},
		{name: "the port of an older release", change: func(s *site) {
			s.log(s.crash("kube-controller-manager", "web-cp-1", 1, back), "kube-controller-manager", "listen tcp 0.0.0.0:10252: bind: address already in use").silent("web-cp-1", 10*time.Minute)
		}},
		{name: "another fault of bind", change: func(s *site) {
			s.log(s.crash("kube-apiserver", "web-cp-1", 1, back), "kube-apiserver", "listen tcp 10.0.0.9:6443: bind: cannot assign requested address").silent("web-cp-1", 10*time.Minute)
		}},
		{name: "a storage product's controller manager", change: func(s *site) {
			p := s.crash("kube-controller-manager", "web-cp-1", 1, back)
			p.Namespace, p.Name, p.Labels, p.Mirror = "portworx", "portworx-pvc-controller-7c-aaaaa", map[string]string{"name": "portworx-pvc-controller"}, false
			s.log(p, "kube-controller-manager", listen("0.0.0.0:10257")).silent("web-cp-1", 10*time.Minute)
		}},
		{name: "one dressed as the component, with a Deployment over it", change: func(s *site) {
			p := s.crash("kube-scheduler", "web-cp-1", 1, back)
			p.Mirror, p.Owners = false, []model.Owner{{Kind: "ReplicaSet", Name: "kube-scheduler-web", Controller: true}}
			s.log(p, "kube-scheduler", listen("127.0.0.1:10259"))
		}},
		{name: "it was killed for memory", change: func(s *site) {
			p := s.crash("kube-apiserver", "web-cp-1", 137, back)
			p.Containers[0].Last.Reason = "OOMKilled"
			s.silent("web-cp-1", 10*time.Minute)
		}},
		{name: "a sidecar fails, not the component", change: func(s *site) {
			p := s.podNamed("kube-apiserver-web-cp-1")
			p.Containers = append(p.Containers, model.Container{Name: "audit", Waiting: back, Restarts: 9})
			s.log(p, "audit", bindAPI).silent("web-cp-1", 10*time.Minute)
		}},
		{name: "the log of a pod that is no more", change: func(s *site) {
			p := s.crash("kube-apiserver", "web-cp-1", 1, back)
			s.log(p, "kube-apiserver", bindAPI)
			s.c.Workload.Logs[0].PodUID = "another"
		}},
		{name: "it runs again", change: func(s *site) { s.log(s.podNamed("kube-apiserver-web-cp-1"), "kube-apiserver", bindAPI) }},
		{name: "its image is missing", change: func(s *site) {
			p := s.crash("kube-apiserver", "web-cp-1", 1, "ImagePullBackOff")
			p.Containers[0].Last = nil
			s.silent("web-cp-1", 10*time.Minute)
		}},
		{name: "its VM is being destroyed", change: func(s *site) {
			s.log(s.crash("kube-apiserver", "web-cp-1", 1, back), "kube-apiserver", bindAPI)
			s.deleting("web-cp-1", 10*time.Minute, "WaitingForInfrastructureDeletion", "").silent("web-cp-1", 5*time.Minute)
		}},
		{name: "the pod is being deleted", change: func(s *site) {
			p := s.crash("kube-apiserver", "web-cp-1", 1, back)
			p.Deleting = ago(time.Minute)
			s.log(p, "kube-apiserver", bindAPI)
		}},
	})
}
