package kb

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// checkObjects looks at the objects that steps name, in any article. Secrets are never shown.
func (l *loader) checkObjects() {
	for _, s := range l.steps {
		at := func(path string) int { return s.with.line(path, s.self.line("with", s.line)) }
		for _, o := range s.with.objects {
			switch {
			case o.o.Kind != "" && !kindPattern.MatchString(o.o.Kind):
				l.fail(at(o.path+".kind"), "kind %q; expected it as a manifest has it, such as Machine", o.o.Kind)
			case o.o.Group != "" && !groupPattern.MatchString(o.o.Group):
				l.fail(at(o.path+".group"), "group %q; expected it without a version, such as cluster.x-k8s.io", o.o.Group)
			case o.o.Kind == "Secret" && !o.write:
				l.fail(at(o.path+".kind"), "a Secret; expected another kind: Secrets are never shown")
			}
		}
		for _, m := range s.with.manifests {
			l.checkManifest(m, at)
		}
		for _, a := range s.with.annotations {
			l.checkKeys(a.path, a.m, at)
		}
	}
}

var (
	kindPattern    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	groupPattern   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	versionPattern = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)
)

func (l *loader) checkManifest(s manifestSpot, at func(string) int) {
	text := func(m map[string]any, path, key, expected string) string {
		v, ok := m[key].(string)
		if !ok || v == "" {
			l.fail(at(path), "%s is missing; expected %s", join(path, key), expected)
		}
		return v
	}
	version := text(s.m, s.path, "apiVersion", "a group and a version, such as apps/v1")
	group, v, ok := strings.Cut(version, "/")
	if !ok {
		group, v = "", version
	}
	if version != "" && (!versionPattern.MatchString(v) || (ok && !groupPattern.MatchString(group))) {
		l.fail(at(join(s.path, "apiVersion")), "apiVersion %q; expected a group and a version as they stand, such as apps/v1", version)
	}
	if kind := text(s.m, s.path, "kind", "a kind, such as ConfigMap"); kind != "" && !kindPattern.MatchString(kind) {
		l.fail(at(join(s.path, "kind")), "kind %q; expected it as it stands, such as ConfigMap", kind)
	}
	meta, ok := s.m["metadata"].(map[string]any)
	path := join(s.path, "metadata")
	if !ok {
		l.fail(at(path), "%s is missing; expected keys and values, with a name", path)
		return
	}
	if name := text(meta, path, "name", "the name of the object"); name != "" && !isTemplate(name) && !objectName.MatchString(name) {
		l.fail(at(join(path, "name")), "%s %q is no name of an object; expected small letters, digits, hyphens and dots", join(path, "name"), name)
	}
	for _, k := range []string{"labels", "annotations"} {
		switch m := meta[k].(type) {
		case nil:
		case map[string]any:
			texts := map[string]string{}
			for key, v := range m {
				s, ok := v.(string)
				if !ok {
					l.fail(at(join(join(path, k), key)), "%s of %s is no text; expected it in quotes", key, k)
				}
				texts[key] = s
			}
			l.checkKeys(join(path, k), texts, at)
		default:
			l.fail(at(join(path, k)), "%s; expected keys and values", join(path, k))
		}
	}
}

// checkKeys looks at the keys of labels or annotations.
func (l *loader) checkKeys(path string, m map[string]string, at func(string) int) {
	for _, k := range keys(m) {
		if !labelName.MatchString(k) {
			l.fail(at(join(path, k)), "%q is no key of a label or an annotation; expected a name such as example.com/note", k)
		}
	}
}

// checkOwn refuses what only the articles of the program may do. An engineer's own may look,
// ask, wait, have a person do something, and annotate, create or change an object in the
// vSphere Namespace of the finding's cluster, as far as [ownRuleFor] has it.
func (l *loader) checkOwn() {
	for _, s := range l.steps {
		if s.action == nil {
			continue
		}
		if !s.action.Own {
			l.fail(s.self.line("action", s.line), "action %s is for the articles of the program; %s", s.Action, oneOf(l.ownActions()))
			continue
		}
		at := func(path string) int { return s.with.line(path, s.self.line("with", s.line)) }
		for _, o := range s.with.objects {
			if o.write {
				l.ownTarget(ownTarget{group: o.o.Group, kind: o.o.Kind, namespace: o.o.Namespace, in: o.o.In, path: o.path, groupKey: "group", namespacePath: join(o.path, "namespace"), inPath: join(o.path, "in")}, at)
			}
		}
		for _, m := range s.with.manifests {
			l.ownManifest(s, m, at)
		}
		for _, a := range s.with.annotations {
			l.ownAnnotations(a.path, keys(a.m), at)
		}
	}
}

func (l *loader) ownActions() []string {
	var out []string
	for _, a := range l.reg.Actions {
		if a.Own {
			out = append(out, a.Name)
		}
	}
	return out
}

// ownTarget is an object that an own article writes to.
type ownTarget struct {
	group, kind, namespace, in string
	// path is where it stands; groupKey is the key that its group is in.
	path, groupKey, namespacePath, inPath string
	// manifest is the object itself, and mode how it is written; nil where only annotations are.
	manifest map[string]any
	mode     string
}

var clusterNamespace = regexp.MustCompile(`^\{\{-?\s*\$?\.Cluster\.Namespace\s*-?\}\}$`)

const ownArticles = "an own article may change objects in the vSphere Namespace of its cluster only"

func (l *loader) ownTarget(t ownTarget, at func(string) int) {
	if sig := l.reg.signature(l.article.Signature); sig != nil && sig.General {
		l.fail(at(t.path), "a change for signature %s, whose findings name no cluster; expected none: %s", sig.ID, ownArticles)
		return
	}
	if t.in != "" && t.in != inSupervisor {
		l.fail(at(t.inPath), "in: %s; expected supervisor: %s", t.in, ownArticles)
	}
	if t.namespace != "" && !clusterNamespace.MatchString(t.namespace) {
		l.fail(at(t.namespacePath), "namespace %q; expected {{ .Cluster.Namespace }}, or none: %s", t.namespace, ownArticles)
	}
	rule := ownRuleFor(t.group, t.kind)
	key := "kind"
	if rule.byGroup {
		key = t.groupKey
	}
	switch {
	case !kindPattern.MatchString(t.kind), t.group != "" && !groupPattern.MatchString(t.group): // said already.
	case rule.may == ownNothing:
		l.fail(at(join(t.path, key)), "%s %s; %s: an own article may not touch this", t.kind, rule.why, ownKindWords())
	case rule.may == ownMarks && t.manifest != nil:
		l.ownMarks(t, rule.why, at)
	}
}

// ownMarks holds a manifest to labels and annotations of an object that is there.
func (l *loader) ownMarks(t ownTarget, why string, at func(string) int) {
	if t.mode == ModeCreate {
		l.fail(at("mode"), "mode: create for %s; expected merge, with labels and annotations: %s", t.kind, why)
		return
	}
	for _, k := range keys(t.manifest) {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, k) {
			l.fail(at(join(t.path, k)), "%s of %s; expected labels and annotations only: %s", k, t.kind, why)
		}
	}
	meta, _ := t.manifest["metadata"].(map[string]any) //nolint:errcheck // what is none was said already.
	labels, _ := meta["labels"].(map[string]any)       //nolint:errcheck // as above.
	for _, k := range keys(labels) {
		if domain, _, _ := strings.Cut(k, "/"); inDomain(domain, "x-k8s.io") || inDomain(domain, "vmware.com") || k == "machine-template-hash" {
			l.fail(at(join(t.path, "metadata.labels."+k)), "label %s tells controllers what belongs together, and what is one too many is deleted; expected another", k)
		}
	}
}

func (l *loader) ownManifest(s *loadedStep, m manifestSpot, at func(string) int) {
	version, _ := m.m["apiVersion"].(string) //nolint:errcheck // what is no text was said already.
	kind, _ := m.m["kind"].(string)          //nolint:errcheck // as above.
	group, _, ok := strings.Cut(version, "/")
	if !ok {
		group = ""
	}
	meta, _ := m.m["metadata"].(map[string]any) //nolint:errcheck // as above.
	namespace := ""
	if n, ok := meta["namespace"]; ok {
		namespace = fmt.Sprint(n)
	}
	t := ownTarget{group: group, kind: kind, namespace: namespace, in: textOf(s.Params, "in"), path: m.path, groupKey: "apiVersion",
		namespacePath: join(m.path, "metadata.namespace"), inPath: "in", manifest: m.m, mode: textOf(s.Params, "mode")}
	l.ownTarget(t, at)
	for _, k := range keys(meta) {
		if !slices.Contains([]string{"name", "namespace", "labels", "annotations"}, k) {
			l.fail(at(join(m.path, "metadata."+k)), "metadata.%s; expected name, namespace, labels or annotations: the others can delete objects or keep them", k)
		}
	}
	if _, ok := m.m["status"]; ok {
		l.fail(at(join(m.path, "status")), "status; expected none: it is written by controllers")
	}
	if a, ok := meta["annotations"].(map[string]any); ok {
		l.ownAnnotations(join(m.path, "metadata.annotations"), keys(a), at)
	}
}

// textOf is a parameter that is a text, such as `in` beside a manifest; empty where there is none.
func textOf(params any, key string) string {
	v := reflect.ValueOf(params).Elem()
	if f, ok := fieldFor(v.Type(), key); ok && f.Type.Kind() == reflect.String {
		return v.FieldByIndex(f.Index).String()
	}
	return ""
}

// ownAnnotations refuses annotations that delete something, or that only this program writes.
func (l *loader) ownAnnotations(path string, names []string, at func(string) int) {
	for _, k := range names {
		switch {
		case k == "cluster.x-k8s.io/remediate-machine" || k == "cluster.x-k8s.io/delete-machine":
			l.fail(at(join(path, k)), "annotation %s has a Machine deleted; expected another: an own article may not delete", k)
		case k == "runtime.cluster.x-k8s.io/ok-to-delete":
			l.fail(at(join(path, k)), "annotation %s lets a cluster be deleted; expected another: an own article may not delete", k)
		case strings.HasPrefix(k, "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"):
			l.fail(at(join(path, k)), "annotation %s lets the autoscaler delete Machines; expected another: an own article may not delete", k)
		case strings.Contains(k, "vksmedic"):
			l.fail(at(join(path, k)), "annotation %s is this program's record of its debts; expected another", k)
		}
	}
}
