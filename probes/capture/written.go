package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"sigs.k8s.io/yaml"

	"vksmedic/probes/describe"
)

// written is how a document stands in a capture: as YAML, and as JSON, which is YAML too, where it is so deep
// that the indentation would be most of it.
func written(raw []byte) ([]byte, error) {
	if deep(raw) > describe.Deep {
		return append(bytes.Clone(describe.Escaped(raw)), '\n'), nil
	}
	return describe.FromJSON(raw) //nolint:wrapcheck // the caller says what it was.
}

// risky says whether writing a document may fail, or not read back as it was: nearly none is.
func risky(raw []byte) bool {
	return deep(raw) > describe.Deep || len(describe.Escaped(raw)) != len(raw) || len(raw) > yamlBytes/4
}

// leaveOutUnwritable moves the objects that cannot be written, or would not read back as they were, to what is
// missing.
func (w *writer) leaveOutUnwritable(ctx context.Context) error {
	kept := w.objects[:0]
	for _, k := range w.objects {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("the capture was given up: %w", err)
		}
		p, err := w.rec.get(k)
		if err != nil {
			return err
		}
		why := ""
		if raw, err := p.json(); err != nil {
			why = err.Error()
		} else if risky(raw) {
			why = unwritable(raw)
		}
		if why != "" {
			w.missing = append(w.missing, missingDoc{What: fmt.Sprintf("%s %s/%s", k.kind, k.namespace, k.name), Why: "it cannot be written: " + why})
			continue
		}
		kept = append(kept, k)
	}
	w.objects = kept
	return nil
}

// unwritable says why a document cannot be written so that it reads back; empty where it can.
func unwritable(raw []byte) string {
	out, err := written(raw)
	if err != nil {
		return err.Error()
	}
	if err := boundYAML(out); err != nil {
		return err.Error()
	}
	back, err := yaml.YAMLToJSON(out)
	if err != nil {
		return err.Error()
	}
	var was, is any
	if err := json.Unmarshal(raw, &was); err != nil {
		return err.Error()
	}
	if err := json.Unmarshal(back, &is); err != nil {
		return err.Error()
	}
	if !reflect.DeepEqual(was, is) {
		return "it does not read back as it was"
	}
	return ""
}
