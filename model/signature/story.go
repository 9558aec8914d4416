package signature

import (
	"slices"

	"vksmedic/model"
)

// link tells which findings of a cluster bring about which: a node that is down holds its drain,
// and a drain that is held stalls the deletion. What is one story is shown as one, the cause first.
func link(findings []model.Finding) {
	for i := range findings {
		for j := range findings {
			if i != j && brings(&findings[i], &findings[j]) {
				cause, effect := &findings[i], &findings[j]
				cause.Causes = append(cause.Causes, effect.Link())
				effect.CausedBy = append(effect.CausedBy, cause.Link())
			}
		}
	}
}

// brings says whether a finding brings another about.
func brings(cause, effect *model.Finding) bool {
	switch effect.Signature {
	case DrainBlocked, MachineDeletionStalled:
		switch cause.Signature {
		case ContainerRuntimeDown, PortHeldByOrphan, VMGone, NodeNotReady, MachineUnhealthy:
			return share(cause, effect, "Machine")
		case KubeCertAgentBlocksDrain, DrainBlocked:
			return effect.Signature == MachineDeletionStalled && share(cause, effect, "Machine")
		}
	case RemediationBlockedByQuorum:
		switch cause.Signature {
		case ContainerRuntimeDown, PortHeldByOrphan, VMGone, NodeNotReady:
			return controlPlaneDown(cause)
		}
	case NodeNotReady:
		return cause.Signature == PortHeldByOrphan && share(cause, effect, "Node")
	case EndpointsMissing:
		return cause.Signature == PortHeldByOrphan && share(cause, effect, "Machine")
	case MachineUnhealthy:
		f, ok := effect.Facts.(*MachineFacts)
		return cause.Signature == EndpointsMissing && ok && f.Phase == "Provisioned" && effect.Severity == model.Critical
	}
	return false
}

// controlPlaneDown says whether a finding is about a control plane node.
func controlPlaneDown(f *model.Finding) bool {
	switch x := f.Facts.(type) {
	case *RuntimeFacts:
		return x.ControlPlane
	case *VMFacts:
		return x.ControlPlane
	case *OrphanFacts:
		return x.Component.Static
	case *NodeFacts:
		return x.ControlPlane
	}
	return false
}

// share says whether two findings are about the same object of a kind.
func share(a, b *model.Finding, kind string) bool {
	return slices.ContainsFunc(a.Subjects, func(s model.ObjectRef) bool {
		return s.Kind == kind && slices.Contains(b.Subjects, s)
	})
}
