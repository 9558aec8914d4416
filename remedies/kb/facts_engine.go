package kb

// FactsOf is an empty value of what the findings of a signature carry, nil for an unknown one.
func (r *Registry) FactsOf(id string) any {
	if s := r.signature(id); s != nil {
		return s.Facts()
	}
	return nil
}
