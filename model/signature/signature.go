package signature

import (
	"cmp"
	"slices"
	"sync"

	"vksmedic/model"
)

// Signature is one known failure with all that the program has to know of it. Its own file
// declares it; lists, tables and orders are made from the declarations.
type Signature struct {
	// ID is its name in findings, an interface: scan prints it. Title says what it is, also in
	// the README. KB is the number of the public article, empty where there is none.
	ID, Title, KB string
	// General says that it is about the Supervisor as a whole, not about one cluster.
	General bool
	// Turn is when it is judged.
	Turn Turn
	// Needs are the Supervisor's resources without which it cannot find anything, by the plural
	// names that sources have: where one cannot be read, that nothing was found means nothing.
	// What else is missing makes a check unknown.
	Needs []string
	// ExplainsNode says of a finding whether it tells why the Nodes among its subjects are
	// NotReady; nil where none does.
	ExplainsNode func(*model.Finding) bool
	// Causes are the signatures that this one brings about, CausedBy those that bring it about.
	// A pair is declared once, in the file that knows more of when it holds.
	Causes, CausedBy []Relation
	// Facts makes an empty value of what its findings hand over in their Facts.
	Facts func() any

	// find finds it in a cluster, or in the Supervisor as a whole where it is General. Signature,
	// KB and Cluster of the findings are filled in by the judge.
	find func(*view) []model.Finding
}

// Turn is when a signature is judged; those of one turn are judged in any order.
type Turn int

// The turns.
const (
	// AnyTime is for what does not ask what other signatures found.
	AnyTime Turn = iota
	// OfUnexplained is for what looks only at nodes whose being NotReady nothing of AnyTime explains.
	OfUnexplained
	// Last is for what tells what nothing before it explains.
	Last
)

// Relation is another signature, and of which findings of the two one brings the other about.
type Relation struct {
	ID   string
	When func(cause, effect *model.Finding) bool
}

// All are the signatures that are known, in the order in which they are judged.
func All() []Signature { return slices.Clone(known().list) }

// ByID is the signature with an id; ok is false where there is none.
func ByID(id string) (s Signature, ok bool) {
	i := slices.IndexFunc(known().list, func(s Signature) bool { return s.ID == id })
	if i < 0 {
		return Signature{}, false
	}
	return known().list[i], true
}

// General says whether a signature is about the Supervisor as a whole: its findings name no cluster.
func General(id string) bool {
	s, _ := ByID(id)
	return s.General
}

// Requires are the Supervisor's resources that the signatures of a cluster need, sorted. Those of
// General ones are left out: an engineer of a vSphere Namespace never may read them, and that says
// nothing about the clusters.
func Requires() []string {
	var out []string
	for _, s := range known().list {
		if !s.General {
			out = append(out, s.Needs...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// registry is what is made of the declarations.
type registry struct {
	list []Signature
	// effects are what each signature, by its id, brings about.
	effects map[string][]Relation
}

// known are the signatures: the one list to which a new one is added.
var known = sync.OnceValue(func() registry {
	return register(
		kubeCertAgentBlocksDrain(),
		drainBlocked(),
		containerRuntimeDown(),
		portHeldByOrphan(),
		endpointsMissing(),
		endpointsPrivilegeMissing(),
		vmGone(),
		machineDeletionStalled(),
		remediationBlockedByQuorum(),
		machineUnhealthy(),
		nodeNotReady(),
	)
})

func register(list ...Signature) registry {
	slices.SortStableFunc(list, func(a, b Signature) int { return cmp.Compare(a.Turn, b.Turn) })
	r := registry{list: list, effects: map[string][]Relation{}}
	for _, s := range list {
		r.effects[s.ID] = append(r.effects[s.ID], s.Causes...)
		for _, x := range s.CausedBy {
			r.effects[x.ID] = append(r.effects[x.ID], Relation{s.ID, x.When})
		}
	}
	return r
}

// link tells which findings of a cluster bring about which: a node that is down holds its drain,
// and a drain that is held stalls the deletion. What is one story is shown as one, the cause first.
func (r registry) link(findings []model.Finding) {
	for i := range findings {
		cause := &findings[i]
		for _, x := range r.effects[cause.Signature] {
			for j := range findings {
				if effect := &findings[j]; effect.Signature == x.ID && x.When(cause, effect) {
					cause.Causes = append(cause.Causes, effect.Link())
					effect.CausedBy = append(effect.CausedBy, cause.Link())
				}
			}
		}
	}
}

// The usual answers of a Relation and of ExplainsNode.

// always is for what holds of every finding.
func always(*model.Finding) bool { return true }

// sameMachine says whether two findings are about the same Machine.
func sameMachine(a, b *model.Finding) bool { return share(a, b, "Machine") }

// sameNode says whether two findings are about the same Node.
func sameNode(a, b *model.Finding) bool { return share(a, b, "Node") }

// share says whether two findings are about the same object of a kind.
func share(a, b *model.Finding, kind string) bool {
	return slices.ContainsFunc(a.Subjects, func(s model.ObjectRef) bool {
		return s.Kind == kind && slices.Contains(b.Subjects, s)
	})
}

// factsOf is what a finding of a signature hands over. Which type that is stands in the signature's
// declaration; a test compares the two.
func factsOf[T any](f *model.Finding) (out T) {
	out, _ = f.Facts.(T)
	return out
}
