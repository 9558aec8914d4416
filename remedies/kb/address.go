package kb

// Address is where a knowledge base article can be read; empty where it has no number,
// and so is not public.
func Address(number string) string {
	if number == "" {
		return ""
	}
	return "https://knowledge.broadcom.com/external/article/" + number
}
