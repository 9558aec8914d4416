package node

import (
	"regexp"
	"strconv"
	"strings"
)

// SocketUser is a process that holds a socket.
type SocketUser struct {
	// Comm is the kernel's name for it: at most 15 bytes, which the process can choose.
	Comm string
	PID  int
	FD   int
}

// Socket is one listening socket.
type Socket struct {
	Protocol string // tcp or udp; empty where ss was not asked for both and printed none.
	State    string // LISTEN, UNCONN and so on.
	Address  string // without brackets; "*" for every address of both families.
	Zone     string // the interface, where the address is bound to one.
	Port     int
	// Users are the processes that hold it.
	Users []SocketUser
	// Nameless says that no process was printed: ss did not run as root.
	Nameless bool
	// Doubtful says that the list of processes could not be read with certainty: a process
	// has a name that looks like another entry. Its Users are empty.
	Doubtful bool
}

// Sockets is what ss said.
type Sockets struct {
	List  []Socket
	Noise []string // lines that are no sockets.
}

// On are the sockets on exactly that port.
func (s Sockets) On(port int) []Socket {
	var out []Socket
	for _, x := range s.List {
		if x.Port == port {
			out = append(out, x)
		}
	}
	return out
}

var reSocketState = regexp.MustCompile(`^(LISTEN|UNCONN|ESTAB|TIME-WAIT|CLOSE-WAIT|SYN-SENT|SYN-RECV|FIN-WAIT-[12]|LAST-ACK|CLOSING|CLOSED)$`)

// ParseSockets reads ss -tulpn and ss -tlpn, with or without header (-H) and the
// Netid column, IPv4 and IPv6.
func ParseSockets(out string) Sockets {
	var s Sockets
	for _, l := range lines(out) {
		x, ok := socket(l)
		switch {
		case !ok && !isSocketHeader(l):
			s.Noise = noisy(s.Noise, l)
		case ok && len(s.List) < maxEntries:
			s.List = append(s.List, x)
		}
	}
	return s
}

func isSocketHeader(l string) bool {
	return strings.Contains(l, "Recv-Q") && strings.Contains(l, "Send-Q")
}

func socket(l string) (x Socket, ok bool) {
	head, users, hasUsers := strings.Cut(l, "users:(")
	f := strings.Fields(head)
	if len(f) > 0 && !reSocketState.MatchString(f[0]) {
		if !isProtocol(f[0]) {
			return Socket{}, false
		}
		x.Protocol = strings.TrimSuffix(f[0], "6")
		f = f[1:]
	}
	// state, recv-q, send-q, local, peer.
	const least = 5
	if len(f) < least || !reSocketState.MatchString(f[0]) || !isNumber(f[1]) || !isNumber(f[2]) {
		return Socket{}, false
	}
	x.State = f[0]
	if x.Address, x.Zone, x.Port, ok = localAddress(f[3]); !ok {
		return Socket{}, false
	}
	x.Nameless = !hasUsers
	if hasUsers {
		if x.Users, ok = socketUsers(users); !ok {
			x.Users, x.Doubtful = nil, true
		}
	}
	return x, true
}

func isProtocol(s string) bool {
	switch s {
	case "tcp", "udp", "tcp6", "udp6":
		return true
	}
	return false
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
}

// localAddress splits 127.0.0.1:6443, *:6443, [::]:6443, [fe80::1]%eth0:546 and
// 127.0.0.53%lo:53; a port that is written as a name (ss without -n) is not read.
func localAddress(s string) (addr, zone string, port int, ok bool) {
	at := strings.LastIndexByte(s, ':')
	if at <= 0 {
		return "", "", 0, false
	}
	port, err := strconv.Atoi(s[at+1:])
	if err != nil || port < 0 || port > 65535 {
		return "", "", 0, false
	}
	addr, zone, _ = strings.Cut(s[:at], "%")
	addr = strings.TrimSuffix(strings.TrimPrefix(addr, "["), "]")
	return addr, strings.TrimSuffix(zone, "]"), port, addr != ""
}

var reSocketUser = regexp.MustCompile(`^\("(.{0,32}?)",pid=(\d{1,10}),fd=(\d{1,10})\)`)

// socketUsers reads ("a",pid=1,fd=3),("b",pid=2,fd=3)) to its end. A process chooses its
// own name and may put quotes, commas and a false pid into it; then the rest does not
// parse, and none of it is used.
func socketUsers(s string) ([]SocketUser, bool) {
	var out []SocketUser
	for len(out) < maxEntries {
		g := reSocketUser.FindStringSubmatch(s)
		if g == nil {
			return nil, false
		}
		pid, err := strconv.Atoi(g[2])
		fd, err2 := strconv.Atoi(g[3])
		if err != nil || err2 != nil || pid <= 0 || strings.Contains(g[1], `"`) {
			return nil, false
		}
		out = append(out, SocketUser{Comm: g[1], PID: pid, FD: fd})
		s = s[len(g[0]):]
		switch {
		case strings.HasPrefix(s, ")"):
			return out, !strings.Contains(s, "pid=")
		case strings.HasPrefix(s, ","):
			s = s[1:]
		default:
			return nil, false
		}
	}
	return nil, false
}
