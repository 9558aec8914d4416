package object

import (
	"errors"
	"fmt"

	"vksmedic/model"
)

// ErrNotObject is returned for what is no Kubernetes object: without a kind, or without
// metadata that names it.
var ErrNotObject = errors.New("not a Kubernetes object")

// ErrUnknownKind is returned for an object of a kind that is not looked at.
var ErrUnknownKind = errors.New("not a kind that is looked at")

// Row projects an object, as JSON decodes it into a map, to its row in package model.
// The error is ErrNotObject or ErrUnknownKind, with the name of what was found.
func Row(u map[string]any) (model.Object, error) {
	t := tree(u)
	kind, apiVersion := t.str("kind"), t.str("apiVersion")
	if kind == "" {
		return nil, fmt.Errorf("%w: it has no kind", ErrNotObject)
	}
	if t.str("metadata", "name") == "" {
		return nil, fmt.Errorf("%w: the %s has no metadata.name", ErrNotObject, kind)
	}
	read := reader(apiVersion, kind)
	if read == nil {
		return nil, fmt.Errorf("%w: %s of %s", ErrUnknownKind, kind, apiVersion)
	}
	return read(t), nil
}

// StrictRow does what Row does, and refuses an object whose metadata, spec or status is something
// else than an object: its row is empty there, and looks like one with nothing wrong. The error is then
// ErrMalformed, and the row is returned with it.
func StrictRow(u map[string]any) (model.Object, error) {
	row, err := Row(u)
	if err != nil {
		return nil, err
	}
	for _, part := range []string{"spec", "status"} {
		if _, ok := u[part].(map[string]any); !ok && u[part] != nil {
			m := row.GetMeta()
			return row, fmt.Errorf("%w: the %s of %s %s is no object", ErrMalformed, part, m.Kind, m.Name)
		}
	}
	return row, nil
}

// ErrMalformed is returned by StrictRow for an object of a known kind whose parts are not what they have to be.
var ErrMalformed = errors.New("not as its kind has to be")
