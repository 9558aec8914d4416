package remedies

// Address is where a knowledge base article can be read; empty where it has no number,
// and so is not public.
func Address(kb string) string {
	if kb == "" {
		return ""
	}
	return "https://knowledge.broadcom.com/external/article/" + kb
}
