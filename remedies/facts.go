package remedies

import "vksmedic/model/signature"

// factsOf makes an empty value of what a signature hands over to its article, or nil
// where a signature hands over nothing that an article could work with.
func factsOf(signatureID string) any {
	s, ok := signature.ByID(signatureID)
	if !ok {
		return nil
	}
	return s.Facts()
}
