package capture

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Redactor replaces addresses, hosts' and users' names by stand-ins: always the same one for the
// same name, wherever it stands, so that what was joined stays so. Names of namespaces,
// clusters, Machines, nodes and pods stay, and so do the addresses that mean this machine (localhost)
// or none.
//
// Addresses are known by their form. Names of hosts and users are learned first, from the fields and
// phrases in which they stand (redact_learn.go), and then replaced everywhere.
type Redactor struct {
	mu sync.Mutex
	// hosts, domains and users are stand-ins by name in lower case; empty until settle.
	hosts, domains, users map[string]string
	// objects are names that stay, although nodes are called like hosts.
	objects map[string]bool
	byUser  []string // users, the longest first.
	named   int      // hosts that have a number.

	addresses map[netip.Addr]netip.Addr
	given     uint32            // addresses that were given away.
	cards     map[string]string // MAC addresses.
}

// NewRedactor makes a redactor for one capture.
func NewRedactor() *Redactor {
	return &Redactor{
		hosts: map[string]string{}, domains: map[string]string{}, users: map[string]string{}, objects: map[string]bool{},
		addresses: map[netip.Addr]netip.Addr{}, cards: map[string]string{},
	}
}

// settle gives every name that was learned its stand-in, in the order of the names.
func (r *Redactor) settle() {
	for i, d := range slices.Sorted(maps.Keys(r.domains)) {
		r.domains[d] = fmt.Sprintf("domain-%d.test", i+1)
	}
	// A host's short name and its full one are the same host.
	shorts := map[string]string{}
	for _, h := range slices.Sorted(maps.Keys(r.hosts)) {
		short, _, _ := strings.Cut(h, ".")
		if shorts[short] == "" {
			shorts[short] = fmt.Sprintf("host-%d", len(shorts)+1)
		}
		r.hosts[h] = shorts[short]
		if domain := h[len(short):]; domain != "" {
			if d := r.domains[domain[1:]]; d != "" {
				r.hosts[h] = shorts[short] + "." + d
			} else {
				r.hosts[h] = shorts[short] + ".test"
			}
		}
	}
	r.named = len(shorts)
	for short, s := range shorts {
		if tellsItself(short) && !r.objects[short] {
			r.hosts[short] = s
		}
	}
	for i, u := range slices.Sorted(maps.Keys(r.users)) {
		r.users[u] = fmt.Sprintf("user-%d", i+1)
	}
	r.byUser = slices.SortedFunc(maps.Keys(r.users), func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
}

// tellsItself says whether a short name can be no ordinary word.
func tellsItself(short string) bool {
	return len(short) > 3 && strings.ContainsAny(short, "0123456789-")
}

// String replaces what has to be replaced in a text.
func (r *Redactor) String(s string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text(s)
}

func (r *Redactor) text(s string) string {
	for _, u := range r.byUser {
		s = replaceWord(s, u, r.users[u])
	}
	if len(r.hosts)+len(r.domains) > 0 {
		s = r.replaceHosts(s)
	}
	return r.replaceAddresses(s)
}

// tree replaces in every text of a value. key is the field that it stands in.
func (r *Redactor) tree(key string, v any) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value(key, v)
}

func (r *Redactor) value(key string, v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, v := range x {
			// Labels and annotations may hold an address in their keys too.
			out[r.replaceAddresses(k)] = r.value(k, v)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = r.value(key, x[i])
		}
		return out
	case string:
		if vocabulary(key) {
			return x
		}
		return r.text(x)
	}
	return v
}

// vocabulary names the fields whose values are words of the API, which no name may change.
func vocabulary(key string) bool {
	switch key {
	case "apiVersion", "apiGroup", "kind", "type", "status", "reason", "phase", "severity", "state", "protocol", "uid", "resourceVersion":
		return true
	}
	return false
}

// replaceWord replaces a name where it stands alone, in any case.
func replaceWord(s, name, by string) string {
	low := lower(s)
	if !strings.Contains(low, name) {
		return s
	}
	var b strings.Builder
	done := 0
	for at := 0; ; {
		i := strings.Index(low[at:], name)
		if i < 0 {
			break
		}
		i += at
		end := i + len(name)
		at = i + 1
		if (i > 0 && wordByte(low[i-1]) || end < len(low) && wordByte(low[end])) || i < done {
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(by)
		done, at = end, end
	}
	b.WriteString(s[done:])
	return b.String()
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// lower is the text with its ASCII letters in lower case: as long as before.
func lower(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if c := b[i]; c >= 'A' && c <= 'Z' {
					b[i] = c + 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// replaceHosts looks at every run of what may be in a host's name.
func (r *Redactor) replaceHosts(s string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		if !wordByte(s[i]) {
			i++
			continue
		}
		end := i
		for end < len(s) && (wordByte(s[end]) || s[end] == '.') {
			end++
		}
		name := strings.TrimRight(s[i:end], ".-")
		if by, ok := r.host(lower(name)); ok {
			b.WriteString(s[done:i])
			b.WriteString(by)
			done = i + len(name)
		}
		i = end
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// host is the stand-in of a host's name, of a domain, or of a host of a domain that was learned.
func (r *Redactor) host(name string) (string, bool) {
	if by, ok := r.hosts[name]; ok {
		return by, by != ""
	}
	if by, ok := r.domains[name]; ok {
		return by, by != ""
	}
	short, domain, ok := strings.Cut(name, ".")
	if by := r.domains[domain]; ok && by != "" && short != "" {
		r.named++
		r.hosts[name] = fmt.Sprintf("host-%d.%s", r.named, by)
		return r.hosts[name], true
	}
	return "", false
}

var (
	v4Form  = regexp.MustCompile(`\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}`)
	v6Form  = regexp.MustCompile(`[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*`)
	macForm = regexp.MustCompile(`(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}`)
)

func (r *Redactor) replaceAddresses(s string) string {
	colons, dots := strings.Count(s, ":")+strings.Count(s, "-"), strings.Count(s, ".")
	if colons >= 5 {
		s = replaceForm(s, macForm, ":-", r.card)
	}
	if colons >= 2 {
		s = r.replaceV6(s)
	}
	if dots >= 3 {
		s = replaceForm(s, v4Form, ".", r.address)
	}
	return s
}

// replaceForm replaces what has a form, unless it is part of something longer: of a word, or of what
// more of its own separators and digits would make.
func replaceForm(s string, form *regexp.Regexp, separators string, stand func(string) (string, bool)) string {
	found := form.FindAllStringIndex(s, -1)
	if found == nil {
		return s
	}
	var b strings.Builder
	done := 0
	for _, f := range found {
		if !alone(s, f[0], f[1], separators) {
			continue
		}
		by, ok := stand(s[f[0]:f[1]])
		if !ok {
			continue
		}
		b.WriteString(s[done:f[0]])
		b.WriteString(by)
		done = f[1]
	}
	b.WriteString(s[done:])
	return b.String()
}

func alone(s string, from, to int, separators string) bool {
	letter := func(c byte) bool { return wordByte(c) && c != '-' && c != '_' }
	if from > 0 && letter(s[from-1]) || to < len(s) && letter(s[to]) {
		return false
	}
	if from > 1 && strings.IndexByte(separators, s[from-1]) >= 0 && letter(s[from-2]) {
		return false
	}
	return to+1 >= len(s) || strings.IndexByte(separators, s[to]) < 0 || !letter(s[to+1]) || s[to] == ':'
}

// replaceV6 looks at every run of what may be in an IPv6 address: it may stand between colons.
func (r *Redactor) replaceV6(s string) string {
	found := v6Form.FindAllStringIndex(s, -1)
	if found == nil {
		return s
	}
	var b strings.Builder
	done := 0
	for _, f := range found {
		from, to := f[0], f[1]
		for to > from && (s[to-1] == '.' || s[to-1] == ':' && !strings.HasSuffix(s[from:to], "::")) {
			to--
		}
		colon := strings.HasPrefix(s[from:to], ":") && !strings.HasPrefix(s[from:to], "::")
		if colon {
			from++
		}
		// Letters beside it: part of a word.
		if from >= to || !colon && from > 0 && wordByte(s[from-1]) || to == f[1] && to < len(s) && wordByte(s[to]) {
			continue
		}
		if by, ok := r.address(s[from:to]); ok {
			b.WriteString(s[done:from])
			b.WriteString(by)
			done = to
		}
	}
	b.WriteString(s[done:])
	return b.String()
}

// address is the stand-in of an IP address: one of the ranges that are kept for tests and documents.
func (r *Redactor) address(s string) (string, bool) {
	a, err := netip.ParseAddr(s)
	if err != nil || a.IsLoopback() || a.IsUnspecified() {
		return "", false
	}
	if to, ok := r.addresses[a]; ok {
		return to.String(), true
	}
	r.given++
	var to netip.Addr
	if a.Is4() {
		to = fourth(r.given)
	} else {
		b := [16]byte{0x20, 0x01, 0x0d, 0xb8} // 2001:db8::/32 (RFC 3849).
		binary.BigEndian.PutUint32(b[12:], r.given)
		to = netip.AddrFrom16(b)
	}
	r.addresses[a] = to
	return to.String(), true
}

// fourth is the n-th IPv4 stand-in: of 198.18.0.0/15 (RFC 2544), and of 240.0.0.0/4 when those
// are used up.
func fourth(n uint32) netip.Addr {
	const first, base, further = 1 << 17, 198<<24 | 18<<16, 240 << 24
	var b [4]byte
	if n < first {
		binary.BigEndian.PutUint32(b[:], base+n)
	} else {
		binary.BigEndian.PutUint32(b[:], further|n)
	}
	return netip.AddrFrom4(b)
}

// card is the stand-in of a network card's address.
func (r *Redactor) card(s string) (string, bool) {
	k := strings.ReplaceAll(lower(s), "-", ":")
	if r.cards[k] == "" {
		n := len(r.cards) + 1
		r.cards[k] = fmt.Sprintf("02:00:%02x:%02x:%02x:%02x", n>>24&0xff, n>>16&0xff, n>>8&0xff, n&0xff)
	}
	return r.cards[k], true
}
