package capture

import "vksmedic/probes/object"

// What a capture never holds, although the objects that are looked at may: see hide.strip.

// captured says whether objects of that kind may be in a capture at all.
func captured(u map[string]any) bool {
	kind, _ := u["kind"].(string)
	return kind != "Secret" && kind != "ConfigMap"
}

// strip copies an object without what no capture holds: Secrets' data in any place where people
// and programs are known to put them, environments and command lines of pods, what a machine
// is started with, the server's book-keeping and annotations that repeat the whole object.
// Everything that the signatures read stays. The object is not changed.
func (h hide) strip(u map[string]any) map[string]any {
	out, _ := h.clean(u).(map[string]any)
	name, _ := u["kind"].(string)
	if k, ok := object.Named(name); ok && k.Strip != nil {
		k.Strip(out)
	}
	return out
}
