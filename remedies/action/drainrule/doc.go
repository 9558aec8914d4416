// Package drainrule has what is special about the drain that a pinniped
// kube-cert-agent holds up (KB 410900): which MachineDrainRule lets it pass, how it
// stands beside the rules that are there, and how it is taken back.
//
// The decision is a function without any I/O, [decideRule]; live.go reads what it rests
// on, and the actions are one file each: look_at_agents.go, drain_rule.go and
// wait_machine_gone.go.
package drainrule

import (
	"vksmedic/remedies"
	"vksmedic/remedies/kb"
)

// The actions of this package, by the names that articles have for them.
const (
	LookAtAgents    = "look-at-agents"
	DrainRule       = "drain-rule"
	WaitMachineGone = "wait-machine-gone"
)

// Actions are the actions of this package.
func Actions() map[string]remedies.Action {
	return map[string]remedies.Action{
		LookAtAgents:    lookAtAgents{},
		DrainRule:       drainRule{},
		WaitMachineGone: waitMachineGone{},
	}
}

// Known is what the loader of articles has to know of them.
func Known() []kb.Action {
	return []kb.Action{
		{Name: LookAtAgents, Kind: remedies.StepLook, Params: func() any { return &LookAtAgentsParams{} },
			Doc: "reads the Machine, the kube-cert-agents and the drain rules, and shows what holds the drain"},
		{Name: DrainRule, Kind: remedies.StepChange, Params: func() any { return &RuleParams{} },
			Doc: "makes the drain skip the kube-cert-agents: by a new MachineDrainRule, or by a change to the one that is there"},
		{Name: WaitMachineGone, Kind: remedies.StepWait, Params: func() any { return &WaitMachineGoneParams{} },
			Doc: "follows the deletion of the Machine stage by stage, and then looks whether the rollout goes on"},
	}
}

// scene is a scene with what this package reads.
type scene struct{ *remedies.Scene }
