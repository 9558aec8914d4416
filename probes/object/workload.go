package object

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"vksmedic/model"
)

// nodeRow reads a Node.
func nodeRow(t tree) model.Object {
	n := &model.Node{Meta: meta(t), Conditions: conditions(t.list("status", "conditions"))}
	n.Unschedulable = t.boolean("spec", "unschedulable")
	for _, x := range t.list("spec", "taints") {
		n.Taints = append(n.Taints, model.Taint{Key: x.word("key"), Value: x.word("value"), Effect: x.word("effect")})
	}
	n.Addresses = addresses(t.list("status", "addresses"))
	n.ProviderID = t.str("spec", "providerID")
	n.Version = t.word("status", "nodeInfo", "kubeletVersion")
	for _, c := range t.list("status", "conditions") {
		if c.str("type") == "Ready" {
			n.Heartbeat = c.when("lastHeartbeatTime")
		}
	}
	return n
}

// podRow reads a Pod.
func podRow(t tree) model.Object {
	p := &model.Pod{Meta: meta(t)}
	p.Node = intern(t.str("spec", "nodeName"))
	p.Phase = t.word("status", "phase")
	p.Mirror = annotated(&p.Meta, "kubernetes.io/config.mirror")
	c := p.Controller()
	p.DaemonSet = c != nil && c.Kind == "DaemonSet"
	p.Ready = conditions(t.list("status", "conditions")).True("Ready")
	p.HostNetwork = t.boolean("spec", "hostNetwork")
	statuses := append(t.list("status", "initContainerStatuses"), t.list("status", "containerStatuses")...)
	p.Waiting, p.WaitingMessage = waiting(statuses)
	inits := len(t.list("status", "initContainerStatuses"))
	for i, s := range statuses {
		p.Restarts += s.count("restartCount")
		p.Containers = append(p.Containers, containerRow(s, i < inits))
	}
	p.Claims = claims(t, p.Name)
	return p
}

// containerRow reads one container's status.
func containerRow(s tree, initial bool) model.Container {
	return model.Container{
		Name: s.word("name"), Init: initial, Ready: s.boolean("ready"), Running: s.has("state", "running"), Restarts: s.count("restartCount"),
		Waiting: s.word("state", "waiting", "reason"), Ended: ending(s.sub("state", "terminated")), Last: ending(s.sub("lastState", "terminated")),
	}
}

func ending(t tree) *model.Ending {
	if t == nil {
		return nil
	}
	return &model.Ending{ExitCode: t.count("exitCode"), Reason: t.word("reason"), Message: t.message("message"), At: t.when("finishedAt")}
}

// waiting is why a container waits. Being created or waiting for its turn is said only
// where no other container has a worse reason.
func waiting(statuses []tree) (reason, message string) {
	for _, s := range statuses {
		w := s.sub("state", "waiting")
		r := w.word("reason")
		if r == "" {
			continue
		}
		patient := r == "ContainerCreating" || r == "PodInitializing"
		if reason == "" || !patient {
			reason, message = r, w.message("message")
		}
		if !patient {
			return reason, message
		}
	}
	return reason, message
}

// claims are the PersistentVolumeClaims that the pod mounts; that of an ephemeral volume
// is named after pod and volume.
func claims(t tree, pod string) []string {
	var out []string
	for _, v := range t.list("spec", "volumes") {
		if c := v.str("persistentVolumeClaim", "claimName"); c != "" {
			out = append(out, c)
		} else if v.has("ephemeral") && v.str("name") != "" {
			out = append(out, pod+"-"+v.str("name"))
		}
	}
	return out
}

// namespaceRow reads a Namespace.
func namespaceRow(t tree) model.Object { return &model.Namespace{Meta: meta(t)} }

// budgetRow reads a PodDisruptionBudget. An empty selector selects every pod of the
// namespace in policy/v1 and none in policy/v1beta1.
func budgetRow(t tree) model.Object {
	b := &model.Budget{Meta: meta(t)}
	sel := t.at("spec", "selector")
	if b.APIVersion == "policy/v1beta1" && emptySelector(sel) {
		b.Selector = labels.Nothing()
	} else if s, err := selector(sel); err == nil {
		b.Selector = s
	}
	b.DisruptionsAllowed = t.count("status", "disruptionsAllowed")
	b.CurrentHealthy = t.count("status", "currentHealthy")
	b.DesiredHealthy = t.count("status", "desiredHealthy")
	b.ExpectedPods = t.count("status", "expectedPods")
	b.MinAvailable = intOrString(t.at("spec", "minAvailable"))
	b.MaxUnavailable = intOrString(t.at("spec", "maxUnavailable"))
	return b
}

func intOrString(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if n := int32Of(v); n != nil {
		return fmt.Sprint(*n)
	}
	return ""
}

// attachmentRow reads a VolumeAttachment.
func attachmentRow(t tree) model.Object {
	return &model.VolumeAttachment{
		Meta:     meta(t),
		Node:     intern(t.str("spec", "nodeName")),
		Volume:   t.str("spec", "source", "persistentVolumeName"),
		Attached: t.boolean("status", "attached"),
		Error:    first(t.message("status", "detachError", "message"), t.message("status", "attachError", "message")),
	}
}

// stripPod leaves of each container what it is, not what it is started with. Probes and hooks
// hold command lines and headers.
func stripPod(u map[string]any) {
	spec, _ := u["spec"].(map[string]any)
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		items, _ := spec[list].([]any)
		for i := range items {
			only(map[string]any{"": items[i]}, "", "name", "image", "imagePullPolicy", "ports", "resources", "restartPolicy",
				"securityContext", "terminationMessagePath", "terminationMessagePolicy", "volumeMounts", "volumeDevices")
		}
	}
	volumes, _ := spec["volumes"].([]any)
	for _, v := range volumes {
		// Which claims it needs is looked at; drivers' options may be anything.
		for _, driver := range []string{"csi", "flexVolume"} {
			if m, ok := v.(map[string]any); ok {
				only(m, driver, "driver", "readOnly", "fsType")
			}
		}
	}
}

// stripNamespace leaves of a Namespace its name and labels.
func stripNamespace(u map[string]any) { delete(u, "spec") }
