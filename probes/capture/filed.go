package capture

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"vksmedic/model/text"
	"vksmedic/probes/object"
)

// pendingLimit is how many items without a kind are held until their List's kind is known.
const pendingLimit = 10_000

// filed is one file while it is read.
type filed struct {
	ctx  context.Context // It is read while that lives.
	name string
	dump *Dump
	// documents were met, objects among them; strange are no objects.
	documents, objects, strange int
	troubles                    int
	first                       string // the first trouble.
	// pending are items of a List that do not say their kind, and list the List's own kind.
	pending  []map[string]any
	list     map[string]any
	overflow bool
	// raw is the JSON of the document that is being taken, where it is at hand.
	raw []byte
}

func (f *filed) trouble(why string) {
	if f.troubles == 0 {
		f.first = why
	}
	f.troubles++
}

// anyDocument takes an element of a list of documents.
func (f *filed) anyDocument(u map[string]any) { f.document(u, false) }

// document takes a whole document; hasItems says that its items were taken already.
func (f *filed) document(u map[string]any, hasItems bool) {
	kind, _ := u["kind"].(string)
	items, isList := u["items"].([]any)
	if v, ok := u["items"]; ok && v == nil && strings.HasSuffix(kind, "List") {
		isList = true // How Go writes an empty one.
	}
	if !hasItems && !isList {
		f.object(u)
		return
	}
	f.raw = nil // It is that of the whole List.
	f.listOf(u)
	if kind == "" && len(f.pending) > 0 {
		f.strange += len(f.pending)
		f.pending = nil
	}
	for _, i := range items {
		if m, ok := i.(map[string]any); ok {
			f.item(m)
		}
	}
	for _, p := range f.pending {
		f.inList(p)
	}
	f.pending, f.list = nil, nil
	f.objects++ // An empty List is one too.
}

// listOf remembers of what the items are that follow.
func (f *filed) listOf(u map[string]any) { f.list = u }

// item takes an item of a List. kubectl's own say what they are; those of the API do not, and the
// List may say it after them.
func (f *filed) item(u map[string]any) {
	if _, ok := u["kind"].(string); ok {
		f.object(u)
		return
	}
	if k, _ := f.list["kind"].(string); k != "" {
		f.inList(u)
		return
	}
	if len(f.pending) >= pendingLimit {
		if !f.overflow {
			f.trouble("a List without a kind before its items is too long")
		}
		f.overflow = true
		return
	}
	f.pending = append(f.pending, u)
}

// inList gives an item the kind of its List.
func (f *filed) inList(u map[string]any) {
	kind, _ := f.list["kind"].(string)
	apiVersion, _ := f.list["apiVersion"].(string)
	u["kind"] = strings.TrimSuffix(kind, "List")
	if _, ok := u["apiVersion"]; !ok && apiVersion != "" {
		u["apiVersion"] = apiVersion
	}
	f.object(u)
}

func (f *filed) object(u map[string]any) {
	if len(u) == 0 {
		return // A document of comments.
	}
	kind, _ := u["kind"].(string)
	if kind == "Secret" {
		f.objects++ // Known, and never looked into.
		return
	}
	if mine, trouble := f.dump.own(u); mine {
		f.objects++
		if trouble != "" {
			f.trouble(trouble)
		}
		return
	}
	o, err := object.StrictRow(u)
	switch {
	case err == nil:
		f.objects++
		f.dump.add(f.name, u, f.raw, o)
	case errors.Is(err, object.ErrMalformed): // what is right of it counts.
		f.objects++
		f.dump.add(f.name, u, f.raw, o)
		f.trouble(err.Error())
	case kind != "" && u["apiVersion"] != nil && errors.Is(err, object.ErrNotObject):
		f.trouble(err.Error()) // it says what it is, and not which.
	case errors.Is(err, object.ErrUnknownKind):
		f.objects++
		f.dump.time(u)
	default:
		f.strange++
	}
}

// close says what was not understood of the file.
func (f *filed) close(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	f.dump.files++
	say := f.dump.lost
	if f.prose() {
		say = f.dump.notUnderstood
	}
	switch {
	case f.troubles > 0 && f.objects > 0:
		say(f.name, fmt.Sprintf("%s of %s: %s", text.Plural(f.troubles, "part"), text.Plural(max(f.documents, f.troubles), "document"), f.first))
	case f.objects > 0:
		f.dump.understood++
	case f.troubles > 0:
		say(f.name, "is not a Kubernetes object: "+f.first)
	default:
		f.dump.notUnderstood(f.name, "is not a Kubernetes object")
	}
}

// prose says whether a file is one that people write and programs log into: what is in it that looks like an object
// is an excerpt, and nothing is lost where it is not whole.
func (f *filed) prose() bool {
	switch strings.ToLower(path.Ext(f.name)) {
	case ".md", ".markdown", ".log", ".html", ".htm", ".rst", ".adoc":
		return true
	case ".txt":
		return f.objects == 0
	}
	return false
}
