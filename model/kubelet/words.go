package kubelet

import (
	"regexp"
	"strings"
	"time"
	"unicode"

	"vksmedic/model/text"
)

// Limits of what is looked at and kept, in bytes.
const (
	maxMessage = 16 << 10
	maxText    = 400
)

// Words is what a Ready condition's message says. The pieces are those of the
// kubelet (kubernetes pkg/kubelet/runtime.go, pleg/generic.go), of every release
// from 1.2 on.
type Words struct {
	// RuntimeDown: "container runtime is down", said after 30 s without a good answer.
	RuntimeDown bool
	// PLEG: "PLEG is not healthy" of either kind of PLEG, said after three minutes.
	PLEG bool
	// PLEGNever: "pleg has yet to be successful": no list of containers since the kubelet started.
	PLEGNever bool
	// PLEGSilent is how long ago the last list was; zero where that is not said.
	PLEGSilent time.Duration
	// Starting: "container runtime status check may not have completed yet": no good answer
	// since the kubelet started. Also said for a few seconds after every start.
	Starting bool
	// RuntimeNotReady: the runtime answers and says itself that it is not ready.
	RuntimeNotReady bool
	// NetworkNotReady: the network plug-in is missing or not set up.
	NetworkNotReady bool
	// Stopped: "Kubelet stopped posting node status", said by the control plane.
	Stopped bool
	// NeverPosted: "Kubelet never posted node status".
	NeverPosted bool
	// Text is the message in one line, cleaned and cut.
	Text string
}

// Down says whether either half of what marks a dead container runtime is there.
func (w Words) Down() bool { return w.RuntimeDown || w.PLEG }

// Both says whether both halves are there, which leaves no doubt.
func (w Words) Both() bool { return w.RuntimeDown && w.PLEG && !w.PLEGNever }

// JustStarted says whether the message may only mean that the kubelet has been
// started a moment ago: it has heard nothing of the runtime yet, good or bad.
func (w Words) JustStarted() bool {
	return !w.RuntimeDown && (w.Starting || w.PLEGNever) && w.PLEGSilent == 0
}

var (
	// reSilent matches a message whose white space was taken out.
	reSilent = regexp.MustCompile(`plegwaslastseenactive([0-9hmsµun.]{1,40}?)ago`)
	// reNode is how Cluster API introduces a node's condition on the Machine
	// (internal/controllers/machine/machine_controller_status.go).
	reNode = regexp.MustCompile(`\*\s*Node\.(?:Ready|AllConditions):\s*`)
)

// Parse reads a message. A part that it does not know changes nothing in the result.
func Parse(message string) Words {
	message = text.Limit(message, maxMessage)
	w := Words{Text: text.Limit(strings.Join(strings.Fields(text.Clean(ownWords(message))), " "), maxText)}
	s := squash(message)
	w.RuntimeDown = strings.Contains(s, "containerruntimeisdown")
	w.PLEG = strings.Contains(s, "plegisnothealthy")
	w.PLEGNever = strings.Contains(s, "pleghasyettobesuccessful")
	w.Starting = strings.Contains(s, "containerruntimestatuscheckmaynothavecompletedyet")
	w.RuntimeNotReady = strings.Contains(s, "containerruntimenotready:runtimeready=false")
	w.NetworkNotReady = strings.Contains(s, "networkready=false") || strings.Contains(s, "networknotconfiguredcorrectly") ||
		strings.Contains(s, "containerruntimenetworknotready")
	w.Stopped = strings.Contains(s, "kubeletstoppedpostingnodestatus")
	w.NeverPosted = strings.Contains(s, "kubeletneverpostednodestatus")
	if g := reSilent.FindStringSubmatch(s); g != nil {
		if d, err := time.ParseDuration(g[1]); err == nil && d > 0 {
			w.PLEGSilent = d
		}
	}
	return w
}

// ownWords takes away what Cluster API puts around the kubelet's words.
func ownWords(s string) string {
	at := reNode.FindStringIndex(s)
	if at == nil {
		return s
	}
	own := s[at[1]:]
	if next := strings.Index(own, "\n* "); next >= 0 {
		own = own[:next]
	}
	return strings.TrimSpace(own)
}

// squash takes out white space and invisible characters and turns letters to lower
// case, so that wrapped lines and spaces that are missing or doubled make no
// difference.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text.Clean(s))
}
