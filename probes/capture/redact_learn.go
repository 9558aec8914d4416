package capture

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"vksmedic/model"
	"vksmedic/probes/object"
)

// The phrases and forms in which names of hosts and users stand in text.
var (
	hostInURL   = regexp.MustCompile(`https?://(?:[^/\s@"']*@)?([A-Za-z0-9][A-Za-z0-9._-]*)`)
	hostDialled = regexp.MustCompile(`(?:dial tcp|lookup|no such host:?|connect to host) ([A-Za-z0-9][A-Za-z0-9._-]*\.[A-Za-z][A-Za-z0-9._-]*)`)
	hostInCert  = regexp.MustCompile(`certificate is valid for ([^\n]{1,1000}?), not ([A-Za-z0-9._-]+)`)
	userQuoted  = regexp.MustCompile(`(?i)\buser(?:name)?:? ["']([^"'\s]{2,200})["']`)
	mailForm    = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}`)
)

// object says that a name is an object's, and stays.
func (r *Redactor) object(kind, name string) {
	if k, ok := object.Named(kind); ok && k.KeepsName {
		r.objects[lower(name)] = true
	}
}

// supervisor learns who looked, and at what.
func (r *Redactor) supervisor(s model.Supervisor) {
	if u, err := url.Parse(s.Server); err == nil {
		r.learnHost(u.Hostname())
	}
	r.learnUser(s.User)
}

// learn finds the names in an object or a document.
func (r *Redactor) learn(v any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	u, _ := v.(map[string]any)
	if kind, _ := u["kind"].(string); kind == "VirtualMachine" {
		status, _ := u["status"].(map[string]any)
		for _, field := range []string{"nodeName", "host"} {
			s, _ := status[field].(string)
			r.learnHost(s)
		}
	}
	r.walk("", v)
}

func (r *Redactor) walk(key string, v any) {
	switch x := v.(type) {
	case map[string]any:
		if typ, _ := x["type"].(string); typ == "Hostname" || typ == "InternalDNS" || typ == "ExternalDNS" {
			s, _ := x["address"].(string)
			r.learnHost(s)
		}
		for k, v := range x {
			r.walk(k, v)
		}
	case []any:
		for i := range x {
			r.walk(key, x[i])
		}
	case string:
		r.field(key, x)
		r.words(x)
	}
}

// field learns from fields that hold nothing but a name.
func (r *Redactor) field(key, s string) {
	switch key {
	case "host", "hostname", "hostName", "server", "domainName":
		if !strings.Contains(s, "/") {
			r.learnHost(s)
		}
	case "searchDomains", "searchSuffixes":
		r.learnDomain(lower(s))
	case "image":
		if registry, _, ok := strings.Cut(s, "/"); ok && strings.ContainsAny(registry, ".:") {
			host, _, _ := strings.Cut(registry, ":")
			r.learnHost(host)
		}
	case "user", "userName", "username":
		r.learnUser(s)
	}
	last := key[strings.LastIndexByte(key, '/')+1:]
	if key != last && last != "managed-by" && (strings.HasSuffix(last, "-by") || last == "user" || last == "username") {
		r.learnUser(s)
	}
}

// words learns from text.
func (r *Redactor) words(s string) {
	if strings.Contains(s, "://") {
		for _, m := range hostInURL.FindAllStringSubmatch(s, -1) {
			r.learnHost(m[1])
		}
	}
	if strings.Contains(s, "dial") || strings.Contains(s, "lookup") || strings.Contains(s, "host") {
		for _, m := range hostDialled.FindAllStringSubmatch(s, -1) {
			r.learnHost(m[1])
		}
	}
	if strings.Contains(s, "certificate is valid for") {
		for _, m := range hostInCert.FindAllStringSubmatch(s, -1) {
			for _, h := range append(strings.Split(m[1], ", "), m[2]) {
				r.learnHost(strings.TrimPrefix(h, "*."))
			}
		}
	}
	if strings.Contains(s, "ser") {
		for _, m := range userQuoted.FindAllStringSubmatch(s, -1) {
			r.learnUser(m[1])
		}
	}
	if strings.Contains(s, "@") {
		for _, m := range mailForm.FindAllString(s, -1) {
			r.learnUser(m)
		}
	}
}

func (r *Redactor) learnHost(name string) {
	name = strings.Trim(lower(name), ".")
	if _, err := netip.ParseAddr(name); err == nil || len(name) < 2 || public(name) || r.objects[name] || strings.ContainsAny(name, " /\"'") {
		return
	}
	short, domain, full := strings.Cut(name, ".")
	if !full && !tellsItself(short) {
		return // It may be any word.
	}
	if full && r.objects[short] {
		// A node with its domain: the node's name stays.
		r.learnDomain(domain)
		return
	}
	r.hosts[name] = ""
	r.learnDomain(domain)
}

func (r *Redactor) learnDomain(domain string) {
	if strings.Contains(domain, ".") && !public(domain) {
		if _, err := netip.ParseAddr(domain); err != nil {
			r.domains[domain] = ""
		}
	}
}

func (r *Redactor) learnUser(name string) {
	name = lower(strings.TrimSpace(name))
	if len(name) < 3 || len(name) > 256 || strings.HasPrefix(name, "system:") || strings.Contains(name, " ") {
		return
	}
	// Where a login came from, as in sso:bob@corp.test, tells of nobody.
	if _, rest, ok := strings.Cut(name, ":"); ok && len(rest) >= 3 {
		name = rest
	}
	r.users[name] = ""
}

// public says whether a name tells nothing about where this is: the names of Kubernetes itself
// and of places that everybody uses.
func public(name string) bool {
	known := []string{
		"localhost", "k8s.io", "x-k8s.io", "kubernetes.io", "kubernetes.default", "svc", "cluster.local", "docker.io", "gcr.io", "ghcr.io", "quay.io",
		"github.com", "mcr.microsoft.com", "vmware.com", "broadcom.com", "pinniped.dev",
	}
	return slices.ContainsFunc(known, func(k string) bool { return name == k || strings.HasSuffix(name, "."+k) })
}
