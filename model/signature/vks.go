package signature

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"vksmedic/model"
	"vksmedic/model/text"
)

// atLeast says whether a version such as 3.6.1+v1.35 is 3.minor or later; ok is false where it
// cannot be read.
func atLeast(release string, minor uint) (yes, ok bool) {
	v, err := version.ParseGeneric(release)
	if err != nil {
		return false, false
	}
	return v.AtLeast(version.MajorMinor(3, minor)), true
}

// checkVKS is the article's "VKS 3.3 and later". It decides nothing: the version is not
// always to be had, and the cause is the same elsewhere.
func (v *view) checkVKS() model.Check {
	c := model.Check{Name: "vks-version", Title: "VKS 3.3 or later", Weight: model.Supporting, Source: "VKS version", Verdict: model.Unknown}
	if s := v.sn.Source(model.SourceVKS); s != nil {
		c.Seen = s.Seen
	}
	sup := &v.sn.Supervisor
	if yes, ok := atLeast(sup.VKS, 3); ok {
		c.Verdict, c.Detail = model.No, text.Clean(sup.VKS)
		if yes {
			c.Verdict = model.Yes
		}
		return c
	}
	if yes, ok := atLeast(sup.VKSAtLeast, 3); ok && yes {
		c.Verdict, c.Detail = model.Yes, "at least "+text.Clean(sup.VKSAtLeast)
		return c
	}
	c.Settle = "look in vCenter under Supervisor Management, Services"
	switch {
	case v.sn.Dump:
		c.Detail = "the dump does not say"
	case sup.VKSDetail != "":
		c.Detail = text.Clean(sup.VKSDetail)
	default:
		c.Detail = "it could not be read"
	}
	return c
}

// checkVKSAffected: known in 3.6.0 and 3.6.1, resolved in 3.6.2 (its release notes).
func (v *view) checkVKSAffected() model.Check {
	c := v.checkVKS()
	c.Name, c.Title = "vks-affected", "a VKS version in which this is known (3.6.0 and 3.6.1)"
	release, _, _ := strings.Cut(strings.TrimPrefix(v.sn.Supervisor.VKS, "v"), "+")
	later, ok := atLeast(v.sn.Supervisor.VKS, 6)
	switch {
	case !ok:
		if floor, ok := atLeast(v.sn.Supervisor.VKSAtLeast, 7); ok && floor {
			c.Verdict = model.No // Whatever exactly it is, it has the fix.
			return c
		}
		c.Verdict = model.Unknown
	case release == "3.6.0" || release == "3.6.1":
		c.Verdict, c.Detail = model.Yes, text.Clean(v.sn.Supervisor.VKS)+"; resolved in 3.6.2"
	case later:
		c.Verdict, c.Detail = model.No, text.Clean(v.sn.Supervisor.VKS)+" has the fix of 3.6.2"
	default:
		c.Verdict, c.Detail = model.No, text.Clean(v.sn.Supervisor.VKS)+" does not change nodes in place yet"
	}
	return c
}
