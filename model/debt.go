package model

import "strings"

// DebtAnnotation begins the names of the annotations by which this program marks an object from
// which it took something that it has to give back. The mark of the write that took it follows.
const DebtAnnotation = "debt.vksmedic/"

// Indebted says whether an object's annotations say that this program took something from it and
// has not given it back.
func Indebted(annotations map[string]string) bool {
	for k := range annotations {
		if strings.HasPrefix(k, DebtAnnotation) {
			return true
		}
	}
	return false
}
