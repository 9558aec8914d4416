// Package loopback gives every lab a piece of 127.0.0.0/8 for itself, so that
// several labs can run side by side with the ports that people know (6443, 2379,
// 10250) and nothing is ever reachable from another machine. All of 127.0.0.0/8
// is on the loopback interface of a Linux machine without any set-up.
//
// Start reading at Take.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// The second octets that labs use.
const (
	firstNet = 20
	lastNet  = 250
)

// Net is a lab's own 127.N.0.0/16.
type Net struct {
	second int
	lock   *os.File
}

// Take takes a network that no other lab of this user has and nobody listens in.
// It is given back when the program ends, however it ends.
func Take() (*Net, error) {
	dir := filepath.Join(os.TempDir(), "vksmedic-lab-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for network locks: %w", err)
	}
	for second := firstNet; second <= lastNet; second++ {
		lock, err := os.OpenFile(filepath.Join(dir, "net-"+strconv.Itoa(second)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open a network lock: %w", err)
		}
		n := &Net{second: second, lock: lock}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && n.unused() {
			return n, nil
		}
		if err := lock.Close(); err != nil {
			return nil, fmt.Errorf("close a network lock: %w", err)
		}
	}
	return nil, errors.New("no free network in 127.20.0.0 to 127.250.0.0: are that many labs running?")
}

// unused tries the Supervisor's address: another user's lab would be there.
func (n *Net) unused() bool {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", net.JoinHostPort(n.Supervisor(), "6443"))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// Supervisor is the address of everything that runs on the Supervisor.
func (n *Net) Supervisor() string { return fmt.Sprintf("127.%d.0.1", n.second) }

// Endpoint is the address of the API server of a workload cluster; clusters are
// numbered from 1.
func (n *Net) Endpoint(cluster int) string { return fmt.Sprintf("127.%d.%d.100", n.second, cluster) }

// Member is the address of a control plane VM of a workload cluster; members are
// numbered from 1.
func (n *Net) Member(cluster, member int) string {
	return fmt.Sprintf("127.%d.%d.%d", n.second, cluster, member)
}
