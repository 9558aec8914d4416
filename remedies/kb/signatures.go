package kb

import "vksmedic/model/signature"

// Signatures are the signatures that articles can mend, with the facts that their findings carry.
func Signatures() []SignatureFacts {
	var out []SignatureFacts
	for _, s := range signature.All() {
		if s.Facts != nil {
			out = append(out, SignatureFacts{ID: s.ID, Title: s.Title, Facts: s.Facts, General: s.General})
		}
	}
	return out
}
