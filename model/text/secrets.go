package text

import (
	"bytes"
	"encoding/base64"
	"strings"
	"sync"
)

// LeftOut stands where something secret stood.
const LeftOut = "(left out)"

// shortest is the length from which a credential is replaced: a shorter one would be part of
// ordinary words everywhere.
const shortest = 6

// Secrets are the credentials that are in use, to be taken out of everything that is written
// or drawn, by their very letters: a server can send back what it was sent. The zero value is
// ready, a nil one holds nothing, and all methods may be called from any goroutine.
type Secrets struct {
	mu    sync.RWMutex
	known []string
}

// Add remembers a credential.
func (s *Secrets) Add(secret string) {
	secret = strings.TrimSpace(secret)
	if s == nil || len(secret) < shortest || s.has(secret) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// The longest first: one may be part of another.
	at := len(s.known)
	for i, k := range s.known {
		if k == secret {
			return
		}
		if at == len(s.known) && len(k) < len(secret) {
			at = i
		}
	}
	known := make([]string, 0, len(s.known)+1)
	known = append(known, s.known[:at]...)
	known = append(known, secret)
	s.known = append(known, s.known[at:]...)
}

// AddHeader remembers what a header of the kind of Authorization holds: the credential behind
// its scheme; of a user with a password the password too.
func (s *Secrets) AddHeader(value string) {
	scheme, credential, ok := strings.Cut(strings.TrimSpace(value), " ")
	if !ok {
		s.Add(value)
		return
	}
	s.Add(credential)
	if strings.EqualFold(scheme, "Basic") {
		if pair, err := base64.StdEncoding.DecodeString(strings.TrimSpace(credential)); err == nil {
			if _, password, ok := strings.Cut(string(pair), ":"); ok {
				s.Add(password)
			}
		}
	}
}

// AddKey remembers a private key in PEM: each of its lines, and all of it as a Secret or a
// kubeconfig has it.
func (s *Secrets) AddKey(pem []byte) {
	const line = 32 // what is shorter is no line of a key.
	for l := range bytes.Lines(pem) {
		if t := bytes.TrimSpace(l); len(t) >= line && !bytes.HasPrefix(t, []byte("-----")) {
			s.Add(string(t))
		}
	}
	if len(pem) > 0 {
		s.Add(base64.StdEncoding.EncodeToString(pem))
	}
}

func (s *Secrets) has(secret string) bool {
	for _, k := range s.all() {
		if k == secret {
			return true
		}
	}
	return false
}

// all is never changed once it was handed out.
func (s *Secrets) all() []string {
	if s == nil {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.known
}

// Longest is the length of the longest credential, in bytes.
func (s *Secrets) Longest() int {
	if all := s.all(); len(all) > 0 {
		return len(all[0])
	}
	return 0
}

// Hide replaces every credential in a text.
func (s *Secrets) Hide(in string) string {
	for _, k := range s.all() {
		if strings.Contains(in, k) {
			in = strings.ReplaceAll(in, k, LeftOut)
		}
	}
	return in
}

// Blank overwrites every credential in b with asterisks, in place, so that the length stays.
// It returns how many bytes at the end of b may be the beginning of one that goes on behind
// it, as far as can be told.
func (s *Secrets) Blank(b []byte) (open int) {
	for _, k := range s.all() {
		for from := 0; ; {
			i := bytes.Index(b[from:], []byte(k))
			if i < 0 {
				break
			}
			from += i
			for j := range k {
				b[from+j] = '*'
			}
			from += len(k)
		}
	}
	for _, k := range s.all() {
		for n := min(len(k)-1, len(b)); n > open; n-- {
			if bytes.HasSuffix(b, []byte(k[:n])) {
				open = n
			}
		}
	}
	return open
}
