package component

import (
	"regexp"
	"strconv"
	"strings"

	"vksmedic/model/text"
)

// Limits, in bytes and entries.
const (
	maxLog   = 1 << 20
	maxLine  = 300
	maxBinds = 16
)

// Bind is a line of a log in which a program says that it could not listen.
type Bind struct {
	Protocol string // tcp or udp.
	Address  string // what it wanted to listen on, as written; empty for every address.
	Port     int
	Line     string // the line, cleaned and cut.
}

// reBind is how Go's net package says it (bind(2) with EADDRINUSE), however the program
// wraps it: klog's text, etcd's older text and its JSON.
var reBind = regexp.MustCompile(`listen (tcp|udp)[46]? (\S{0,200}?):(\d{1,5}): bind: address already in use`)

// Binds are the refused listens that a log tells of, each address once, in the order in
// which it tells them. Of a log that is too long only the end is read.
func Binds(log string) []Bind {
	if len(log) > maxLog {
		log = log[len(log)-maxLog:]
	}
	var out []Bind
	seen := map[string]bool{}
	for line := range strings.SplitSeq(log, "\n") {
		if !strings.Contains(line, "already in use") {
			continue
		}
		line = text.Clean(line)
		for _, g := range reBind.FindAllStringSubmatch(line, maxBinds) {
			port, err := strconv.Atoi(g[3])
			if err != nil || port < 1 || port > 65535 {
				continue
			}
			b := Bind{Protocol: g[1], Address: strings.Trim(g[2], "[]*"), Port: port, Line: text.Limit(strings.TrimSpace(line), maxLine)}
			if key := b.Protocol + b.Address + ":" + g[3]; !seen[key] {
				seen[key] = true
				out = append(out, b)
			}
			if len(out) == maxBinds {
				return out
			}
		}
	}
	return out
}

// Unclear says whether a log says "address already in use" in a form that does not tell
// which port, or that a listener of the component did not write: the container runtime's
// own error about a sandbox, or another program's. That is not enough to end a process.
func Unclear(log string) (line string, ok bool) {
	if len(log) > maxLog {
		log = log[len(log)-maxLog:]
	}
	for l := range strings.SplitSeq(log, "\n") {
		if !strings.Contains(strings.ToLower(l), "address already in use") {
			continue
		}
		if c := text.Clean(l); !reBind.MatchString(c) {
			return text.Limit(strings.TrimSpace(c), maxLine), true
		}
	}
	return "", false
}
