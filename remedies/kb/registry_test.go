package kb

import (
	"errors"
	"testing"

	"vksmedic/remedies"
)

// registry is what the articles and the tables of README.md can speak of. The general actions are those of
// the program, by their parameters; the others are what KB 410900 needs beside them.
func registry() Registry {
	return Registry{
		Actions: []Action{
			{Name: "look", Kind: remedies.StepLook, Own: true, Doc: "reads objects and shows them", Params: func() any { return &Look{} }},
			{Name: "choose", Kind: remedies.StepChoose, Own: true, Doc: "asks the engineer one question", Params: func() any { return &Choose{} }},
			{Name: "wait-condition", Kind: remedies.StepWait, Own: true, Doc: "waits until an object is as it should be", Params: func() any { return &WaitCondition{} }},
			{Name: "by-hand", Kind: remedies.StepManual, Own: true, Doc: "shows commands to a person and sees whether it was done", Params: func() any { return &ByHand{} }},
			{Name: "annotate", Kind: remedies.StepChange, Own: true, Doc: "sets annotations of an object", Params: func() any { return &Annotate{} }},
			{Name: "change-object", Kind: remedies.StepChange, Own: true, Doc: "creates an object or changes one", Params: func() any { return &ChangeObject{} },
				Check: func(p any) error {
					if p.(*ChangeObject).Object["kind"] == "Secret" {
						return At("object.kind", "a Secret; expected another kind")
					}
					return nil
				}},
			{Name: "take-back", Kind: remedies.StepChange, Own: true, Doc: "takes back what an earlier step did", Params: func() any { return &TakeBack{} }},
			{Name: "look-at-agents", Kind: remedies.StepLook, Doc: "shows the agents that hold a drain, and the drain rules", Params: func() any { return &agentParams{} }},
			{Name: "drain-rule", Kind: remedies.StepChange, Doc: "creates a MachineDrainRule that has a drain skip the agents", Params: func() any { return &drainRuleParams{} },
				Check: func(p any) error {
					if p.(*drainRuleParams).Label == "never" {
						return At("label", "label never; expected another")
					}
					return nil
				}},
			{Name: "wait-machine-gone", Kind: remedies.StepWait, Doc: "follows the deletion of the Machine stage by stage", Params: func() any { return &goneParams{} }},
		},
		Signatures: Signatures(),
		Guards:     []Named{{"not-paused", "the Cluster is not paused"}, {"quorum", "etcd keeps its quorum without this node"}},
	}
}

// testRegistry has more: what articles of the program do that come later.
func testRegistry() Registry {
	r := registry()
	r.Each = []Named{{"nodes", "the nodes that the finding names"}}
	r.Actions = append(r.Actions, []Action{
		{Name: "restart-service", Kind: remedies.StepChange, Doc: "restarts a service on a node", Params: func() any { return &serviceParams{} }},
		{Name: "pick", Kind: remedies.StepChoose, Doc: "asks which node is meant, with the nodes as they are then", Params: func() any { return &pickParams{} },
			Check: func(p any) error {
				if p.(*pickParams).From == "" {
					return errors.New("from is empty; expected where the options come from")
				}
				return nil
			}},
	}...)
	return r
}

type agentParams struct {
	Label string `yaml:"label" need:"yes" doc:"the label by which agents are known"`
}

type drainRuleParams struct {
	Name  string `yaml:"name" need:"yes" form:"name" doc:"the name of the rule"`
	Label string `yaml:"label" need:"yes" doc:"the label by which agents are known"`
	Reach string `yaml:"reach" need:"yes" oneof:"namespace,cluster" doc:"which clusters it reaches"`
}

type goneParams struct {
	After string `yaml:"after" need:"yes" template:"no" step:"change" doc:"the id of the step that lets the drain pass"`
	Label string `yaml:"label" need:"yes" doc:"the label by which agents are known"`
}

type serviceParams struct {
	Node    string `yaml:"node" need:"yes" doc:"the node"`
	Service string `yaml:"service" need:"yes" doc:"the service"`
	Times   int    `yaml:"times" doc:"how often it is tried"`
}

type pickParams struct {
	From string `yaml:"from" doc:"where the options come from"`
}

func TestRegistry(t *testing.T) {
	reg := testRegistry()
	if err := reg.Check(); err != nil {
		t.Error(err)
	}
	reg.Actions = append(reg.Actions, Action{Name: "Bad name", Doc: "", Params: nil},
		Action{Name: "bad-params", Doc: "x", Params: func() any { return &struct{ C chan int }{} }})
	if err := reg.Check(); err == nil {
		t.Error("a registry with an action without a doc and with a channel is taken")
	}
}
