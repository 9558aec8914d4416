package supervisor

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/version"
)

// classVersion is the release in the name of a ClusterClass, such as 3.5.0 of
// builtin-generic-v3.5.0; empty where the name has none.
func classVersion(class string) string {
	m := regexp.MustCompile(`-v(\d+\.\d+(?:\.\d+)?)$`).FindStringSubmatch(class)
	if m == nil {
		return ""
	}
	return m[1]
}

// newerRelease compares releases such as 3.5.0; what is not one is never newer.
func newerRelease(a, b string) bool {
	x, err := version.ParseGeneric(a)
	if err != nil {
		return false
	}
	y, err := version.ParseGeneric(b)
	return err != nil || y.LessThan(x)
}
