package remedies

import "vksmedic/model/signature"

// factsOf makes an empty value of what a signature hands over to its article, or nil
// where a signature hands over nothing that an article could work with.
func factsOf(signatureID string) any {
	if signatureID == "kube-cert-agent-blocks-drain" {
		return &signature.AgentFacts{}
	}
	return nil
}
