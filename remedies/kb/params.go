package kb

import (
	"fmt"
	"time"
)

// Object names one object. Which version of its kind is served is asked when it is read.
type Object struct {
	Group     string `yaml:"group" template:"no" doc:"the API group without a version, such as cluster.x-k8s.io; leave it out for the core group"`
	Kind      string `yaml:"kind" need:"yes" template:"no" doc:"the kind, such as Machine"`
	Namespace string `yaml:"namespace" form:"name" doc:"left out: the vSphere Namespace of the cluster, or none where the kind has none; give it for a namespaced kind inside the cluster"`
	Name      string `yaml:"name" need:"yes" form:"name" doc:"the name"`
	In        string `yaml:"in" oneof:"supervisor,cluster" template:"no" doc:"where it lives; left out: on the Supervisor"`
}

// InCluster says that the object lives in the workload cluster, not on the Supervisor.
func (o Object) InCluster() bool { return o.In == inCluster }

// The values of `in`.
const (
	inSupervisor = "supervisor"
	inCluster    = "cluster"
)

// ObjectQuery names objects to look at.
type ObjectQuery struct {
	Title     string   `yaml:"title" doc:"what stands above them; left out: the kind"`
	Group     string   `yaml:"group" template:"no" doc:"the API group without a version; leave it out for the core group"`
	Kind      string   `yaml:"kind" need:"yes" template:"no" doc:"the kind, such as Machine"`
	Namespace string   `yaml:"namespace" form:"name" doc:"left out: the vSphere Namespace of the cluster, or all namespaces inside the cluster"`
	Name      string   `yaml:"name" form:"name" doc:"the name of one object; left out: all that the selector finds"`
	Selector  string   `yaml:"selector" form:"selector" doc:"a label selector, as kubectl's -l has it"`
	In        string   `yaml:"in" oneof:"supervisor,cluster" template:"no" doc:"where they live; left out: on the Supervisor"`
	Columns   []Column `yaml:"columns" need:"yes" doc:"what is shown of each"`
}

// InCluster says that the objects live in the workload cluster, not on the Supervisor.
func (q ObjectQuery) InCluster() bool { return q.In == inCluster }

// Column is one thing to show of an object.
type Column struct {
	Title string `yaml:"title" need:"yes" doc:"the heading"`
	Path  string `yaml:"path" need:"yes" template:"no" form:"path" doc:"a JSONPath as kubectl's -o custom-columns has it, such as .status.phase"`
}

// Look are the parameters of look: objects are read and shown.
type Look struct {
	Objects []ObjectQuery `yaml:"objects" need:"yes" doc:"what is read"`
	Note    string        `yaml:"note" doc:"what to look for, in words"`
}

func (p *Look) check() error {
	for i, q := range p.Objects {
		if q.Name != "" && q.Selector != "" {
			return At(fmt.Sprintf("objects[%d].selector", i), "a selector beside a name; expected one of them, or none for all objects")
		}
	}
	return nil
}

// Choose are the parameters of choose: the engineer is asked one question.
type Choose struct {
	Question string   `yaml:"question" need:"yes" doc:"the question"`
	Default  string   `yaml:"default" need:"yes" template:"no" doc:"the id of the option that is selected at first"`
	Answers  []Option `yaml:"options" need:"yes" doc:"two options or more"`
}

// Option is one answer to a question.
type Option struct {
	ID    string   `yaml:"id" need:"yes" template:"no" doc:"what .Choice is when it was chosen"`
	Title string   `yaml:"title" need:"yes" doc:"the answer"`
	Means []string `yaml:"means" doc:"what choosing it means, a sentence each"`
}

// Options are the ids of the options.
func (p *Choose) Options() []string {
	out := make([]string, 0, len(p.Answers))
	for _, o := range p.Answers {
		out = append(out, o.ID)
	}
	return out
}

// Preset is the id of the option that counts until the question is answered.
func (p *Choose) Preset() string { return p.Default }

func (p *Choose) check() error {
	seen := map[string]bool{}
	for i, o := range p.Answers {
		path := fmt.Sprintf("options[%d].id", i)
		if !idPattern.MatchString(o.ID) {
			return At(path, "option %q; expected small letters, digits and hyphens", o.ID)
		}
		if seen[o.ID] {
			return At(path, "option %q is there twice; expected each only once", o.ID)
		}
		seen[o.ID] = true
	}
	if len(p.Answers) < 2 {
		return At("options", "a choice with one option; expected two or more")
	}
	if !seen[p.Default] {
		return At("default", "default %q is none of the options; %s", p.Default, orExpected(p.Default, p.Options()))
	}
	return nil
}

// Until is what is waited for: one of a condition, the end of the object, and a value.
type Until struct {
	Object    Object `yaml:"object" need:"yes" doc:"the object that is watched"`
	Condition string `yaml:"condition" template:"no" doc:"the type of one of its conditions, such as Ready"`
	Status    string `yaml:"status" oneof:"True,False,Unknown" template:"no" doc:"what the condition has to say, True where this is left out"`
	Gone      bool   `yaml:"gone" doc:"true: wait until the object is gone"`
	Path      string `yaml:"path" template:"no" form:"path" doc:"a JSONPath as kubectl's -o custom-columns has it"`
	Equals    string `yaml:"equals" doc:"what the path has to say, word by word; a path that finds nothing never counts"`
}

func (u *Until) check() error {
	n := 0
	for _, given := range []bool{u.Condition != "", u.Gone, u.Path != ""} {
		if given {
			n++
		}
	}
	switch {
	case n != 1:
		return At("until", "until has %d of condition, gone and path; expected exactly one", n)
	case u.Status != "" && u.Condition == "":
		return At("until.status", "status without a condition; expected condition: <its type>")
	case u.Path != "" && u.Equals == "":
		return At("until.path", "path without equals; expected equals: <what it has to say>")
	case u.Equals != "" && u.Path == "":
		return At("until.equals", "equals without a path; expected path: <where to look>")
	}
	return nil
}

// WaitCondition are the parameters of an action that waits until an object is as it should be.
type WaitCondition struct {
	Until   Until         `yaml:"until" need:"yes" doc:"what is waited for"`
	Timeout time.Duration `yaml:"timeout" need:"yes" doc:"how long to wait, such as 10m; after that the step has failed, and the walk stays at it"`
	Stays   time.Duration `yaml:"stays" doc:"how long it has to stay so, such as 30s"`
}

func (p *WaitCondition) check() error { return p.Until.check() }

// ByHand are the parameters of a step that a person does elsewhere and that is then verified.
type ByHand struct {
	Commands []string      `yaml:"commands" need:"yes" doc:"what to type, one command each; put {{ quote … }} around what comes from the facts. They are shown as they are, no kubeconfig or context is added: say in a line beginning with # where they are to be typed"`
	Until    Until         `yaml:"until" need:"yes" doc:"how it is seen that it was done"`
	Timeout  time.Duration `yaml:"timeout" need:"yes" doc:"how long to wait for that, counted from the first h, such as 5m; each h looks once. After that the walk stays at the step, and the next h begins anew"`
	Stays    time.Duration `yaml:"stays" doc:"how long it has to stay so, such as 30s"`
}

func (p *ByHand) check() error { return p.Until.check() }

// Annotate are the parameters of an action that sets annotations.
type Annotate struct {
	Object      Object            `yaml:"object" need:"yes" use:"write" doc:"the object"`
	Annotations map[string]string `yaml:"annotations" need:"yes" doc:"the annotations to set; others stay"`
}

// The values of ChangeObject's mode.
const (
	// ModeCreate creates the object; one that is there already is not touched.
	ModeCreate = "create"
	// ModeMerge sets the fields that the manifest has on the object that is there.
	ModeMerge = "merge"
)

// ChangeObject are the parameters of an action that creates an object or changes one.
type ChangeObject struct {
	Object Manifest `yaml:"object" need:"yes" doc:"the object as a manifest; texts in it are templates"`
	Mode   string   `yaml:"mode" need:"yes" oneof:"create,merge" template:"no" doc:"make it, where it is not there, or set these fields on the one that is there"`
	In     string   `yaml:"in" oneof:"supervisor,cluster" template:"no" doc:"where it lives; left out: on the Supervisor"`
}

// TakeBack are the parameters of an action that takes back what an earlier step did.
type TakeBack struct {
	Step string `yaml:"step" need:"yes" template:"no" step:"change" doc:"the id of the step whose change is taken back"`
}

// Manifest is a Kubernetes object as it stands in an article: maps, lists, strings, bools,
// int64 and float64. Its strings are templates, but for apiVersion and kind; its keys are not.
type Manifest map[string]any
