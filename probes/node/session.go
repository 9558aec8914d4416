package node

import (
	"regexp"
	"strings"
)

// Session is the output of an SSH session, with the command's own output separated from
// the rest.
type Session struct {
	// Output is what is left: the command's own output, lines joined by line feeds.
	Output string
	// PasswordExpired: the account's password has to be changed before anything runs;
	// AccountExpired: the account itself has run out.
	PasswordExpired, AccountExpired bool
	// PasswordAsked: a password was asked for. SudoPassword: by sudo.
	PasswordAsked, SudoPassword bool
	// SudoRefused: the user may not use sudo at all.
	SudoRefused bool
	// HostKeyAdded: a client noted a host key that it did not know.
	HostKeyAdded bool
	Noise        []string
}

// Blocked says why no command ran, in words; empty where one may have.
func (s Session) Blocked() string {
	switch {
	case s.PasswordExpired:
		return "the node wants the password of this account changed before it runs anything"
	case s.AccountExpired:
		return "the account has expired on this node"
	case s.SudoRefused:
		return "this account may not use sudo on this node"
	case s.SudoPassword:
		return "sudo asks for a password on this node"
	case s.PasswordAsked && strings.TrimSpace(s.Output) == "":
		return "the node asks for a password"
	}
	return ""
}

var (
	reHostKey    = regexp.MustCompile(`^Warning: Permanently added .* to the list of known hosts\.`)
	rePassword   = regexp.MustCompile(`(?i)^(?:\([^()\s]{1,200}\) )?(?:[^\s:]{1,200}'s )?password:\s*$`)
	reExpired    = regexp.MustCompile(`(?i)you are required to change your password immediately|your password has expired|password expired\)|password change required but no TTY available|^(?:\([^()\s]{1,200}\) )?(?:current|new|retype new|enter new) (?:unix )?password:`)
	reAccount    = regexp.MustCompile(`(?i)your account has expired`)
	reSudoAsks   = regexp.MustCompile(`^\[sudo\] password for |^sudo: (?:a password is required|a terminal is required|\d+ incorrect password|no password was provided)`)
	reSudoNo     = regexp.MustCompile(`is not in the sudoers file|is not allowed to (?:run sudo|execute)`)
	reOtherNoise = regexp.MustCompile(`^Pseudo-terminal will not be allocated|^sudo: unable to resolve host|^Connection to \S+ closed\.|^Killed by signal |^client_global_hostkeys_private_confirm|^bash: warning: setlocale:|^mesg: ttyname failed|^stdin: is not a tty`)
)

// ParseSession separates a command's output from what the session itself printed. A
// prompt or a notice is never taken for the command's output.
func ParseSession(out string) Session {
	var s Session
	var kept []string
	for _, l := range lines(out) {
		t := strings.TrimSpace(l)
		switch {
		case reHostKey.MatchString(t):
			s.HostKeyAdded = true
		case reExpired.MatchString(t):
			s.PasswordExpired = true
		case reAccount.MatchString(t):
			s.AccountExpired = true
		case reSudoAsks.MatchString(t):
			s.SudoPassword = true
		case reSudoNo.MatchString(t):
			s.SudoRefused = true
		case rePassword.MatchString(t):
			s.PasswordAsked = true
		case reOtherNoise.MatchString(t):
		default:
			kept = append(kept, l)
			continue
		}
		s.Noise = noisy(s.Noise, t)
	}
	s.Output = strings.Join(kept, "\n")
	return s
}
