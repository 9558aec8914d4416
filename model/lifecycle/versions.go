package lifecycle

import (
	"slices"

	"vksmedic/model"
)

// Versions are the lowest version that runs in a cluster and the one it is going to, as
// written in its objects; both empty where nothing says so, the same where nothing moves.
func Versions(c *model.Cluster) (from, to string) {
	if c.Object != nil {
		to = c.Object.Version
	}
	if to == "" && c.ControlPlane != nil {
		to = c.ControlPlane.Version
	}
	for _, m := range c.Machines {
		if m.Version != "" && (from == "" || Older(m.Version, from)) {
			from = m.Version
		}
	}
	if from == "" && c.ControlPlane != nil {
		from = c.ControlPlane.OldestVersion
	}
	if from == "" {
		from = to
	}
	if to == "" {
		for _, m := range c.Machines {
			if to == "" || Older(to, m.Version) {
				to = m.Version
			}
		}
	}
	return from, to
}

// Older compares two versions number by number, builds included.
func Older(a, b string) bool {
	return a != b && slices.Compare(VersionNumbers(a), VersionNumbers(b)) < 0
}

// VersionNumbers are the numbers in a version, in order: what versions are sorted by.
func VersionNumbers(v string) []int {
	const enough = 64 // bytes; what is longer is no version.
	v = v[:min(len(v), enough)]
	var out []int
	n, in := 0, false
	for _, r := range v {
		if r >= '0' && r <= '9' && n < 1<<24 {
			n, in = n*10+int(r-'0'), true
			continue
		}
		if in {
			out = append(out, n)
		}
		n, in = 0, false
	}
	if in {
		out = append(out, n)
	}
	return out
}
