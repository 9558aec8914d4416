package action

import (
	"context"
	"strings"

	"vksmedic/remedies"
	"vksmedic/remedies/action/drainrule"
	"vksmedic/remedies/kb"
)

// entry is an action with what the loader of articles has to know of it.
type entry struct {
	kb.Action
	do remedies.Action
}

// entries are all actions, in the order of the README's table: the general ones first.
func entries() []entry {
	return append(general(), special()...)
}

// special are the actions that belong to one article each.
func special() []entry {
	var out []entry
	do := drainrule.Actions()
	for _, k := range drainrule.Known() {
		out = append(out, entry{k, do[k.Name]})
	}
	return out
}

func general() []entry {
	params := func(name, doc string, do remedies.Action, params func() any, check func(any) error) entry {
		return entry{kb.Action{Name: name, Kind: do.Kind(), Doc: doc, Params: params, Own: true, Check: check}, do}
	}
	return []entry{
		params("look", "reads objects and shows them", look{}, func() any { return &kb.Look{} }, nil),
		params("choose", "asks the engineer one question", choose{}, func() any { return &kb.Choose{} }, nil),
		params("wait-condition", "waits until an object is as it should be, and has stayed so", waitCondition{}, func() any { return &kb.WaitCondition{} }, nil),
		params("by-hand", "shows commands to a person, and sees whether it was done", byHand{}, func() any { return &kb.ByHand{} }, nil),
		params("annotate", "sets annotations of an object", annotate{}, func() any { return &kb.Annotate{} }, checkAnnotate),
		params("change-object", "creates an object, or sets fields of one that is there", changeObject{}, func() any { return &kb.ChangeObject{} }, checkChangeObject),
		params("take-back", "takes back what an earlier step of the same walk changed", takeBack{}, func() any { return &kb.TakeBack{} }, nil),
	}
}

// All are the actions by the names that articles have for them.
func All() map[string]remedies.Action {
	out := map[string]remedies.Action{}
	for _, e := range entries() {
		out[e.Name] = e.do
	}
	return out
}

// Registry is what articles can speak of.
func Registry() kb.Registry {
	r := kb.Registry{Signatures: kb.Signatures()}
	for _, e := range entries() {
		r.Actions = append(r.Actions, e.Action)
	}
	for _, g := range guards() {
		r.Guards = append(r.Guards, kb.Named{Name: g.name, Doc: g.doc})
	}
	return r
}

// Guards read the conditions that articles name, by name.
func Guards() map[string]func(context.Context, *remedies.Scene) (remedies.Guard, error) {
	out := map[string]func(context.Context, *remedies.Scene) (remedies.Guard, error){}
	for _, g := range guards() {
		out[g.name] = g.read
	}
	return out
}

const secretExpected = "expected another kind: a Secret would stand in the preview and in the journal"

func checkAnnotate(params any) error {
	p, ok := params.(*kb.Annotate)
	if !ok {
		return wrongParams("annotate", params)
	}
	if p.Object.Kind == "Secret" && p.Object.Group == "" {
		return kb.At("object.kind", "a Secret; %s", secretExpected)
	}
	for k := range p.Annotations {
		if strings.Contains(k, "vksmedic") {
			return kb.At("annotations."+k, "annotation %s is this program's record of its debts; expected another", k)
		}
	}
	return nil
}

func checkChangeObject(params any) error {
	p, ok := params.(*kb.ChangeObject)
	if !ok {
		return wrongParams("change-object", params)
	}
	if p.Object["kind"] == "Secret" && p.Object["apiVersion"] == "v1" {
		return kb.At("object.kind", "a Secret; %s", secretExpected)
	}
	if _, ok := p.Object["status"]; ok {
		return kb.At("object.status", "status; expected none: it is written by controllers")
	}
	return nil
}
