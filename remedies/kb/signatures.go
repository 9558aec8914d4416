package kb

import "vksmedic/model/signature"

// Signatures are the signatures that articles can mend, with the facts that their findings carry.
func Signatures() []SignatureFacts {
	facts := map[string]func() any{
		signature.KubeCertAgentBlocksDrain:   func() any { return &signature.AgentFacts{} },
		signature.DrainBlocked:               func() any { return &signature.DrainFacts{} },
		signature.ContainerRuntimeDown:       func() any { return &signature.RuntimeFacts{} },
		signature.PortHeldByOrphan:           func() any { return &signature.OrphanFacts{} },
		signature.EndpointsMissing:           func() any { return &signature.EndpointsFacts{} },
		signature.VMGone:                     func() any { return &signature.VMFacts{} },
		signature.MachineDeletionStalled:     func() any { return &signature.DeletionFacts{} },
		signature.RemediationBlockedByQuorum: func() any { return &signature.QuorumFacts{} },
		signature.EndpointsPrivilegeMissing:  func() any { return &signature.PrivilegeFacts{} },
		signature.MachineUnhealthy:           func() any { return &signature.MachineFacts{} },
		signature.NodeNotReady:               func() any { return &signature.NodeFacts{} },
	}
	var out []SignatureFacts
	for _, s := range signature.All() {
		if f := facts[s.ID]; f != nil {
			out = append(out, SignatureFacts{ID: s.ID, Title: s.Title, Facts: f, General: signature.General(s.ID)})
		}
	}
	return out
}
