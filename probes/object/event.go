package object

import "vksmedic/model"

// eventRow reads an event of core/v1 or of events.k8s.io, whose fields have other names
// and keep the older ones under deprecated….
func eventRow(t tree) model.Object {
	e := &model.Event{Meta: meta(t)}
	about := t.sub("involvedObject")
	if about == nil {
		about = t.sub("regarding")
	}
	e.About = ref(about, e.Namespace)
	if about.str("namespace") == "" && about.str("kind") == "Node" {
		e.About.Namespace = "" // events about nodes live in namespace default.
	}
	e.Type, e.Reason = t.word("type"), t.word("reason")
	e.Message = first(t.message("message"), t.message("note"))
	e.Count = 1
	if n := firstNumber(t.number("series", "count"), t.number("count"), t.number("deprecatedCount")); n != nil && *n > 0 {
		e.Count = *n
	}
	e.First = firstTime(t.when("firstTimestamp"), t.when("deprecatedFirstTimestamp"), t.when("eventTime"), e.Created)
	e.Last = firstTime(t.when("series", "lastObservedTime"), t.when("lastTimestamp"), t.when("deprecatedLastTimestamp"), t.when("eventTime"), e.First)
	return e
}
