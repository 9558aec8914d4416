package loopback_test

import (
	"net"
	"strings"
	"testing"

	"vksmedic/testdata/lab/internal/loopback"
)

func TestLabsGetDifferentNetworks(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	a, err := loopback.Take()
	if err != nil {
		t.Fatal(err)
	}
	b, err := loopback.Take()
	if err != nil {
		t.Fatal(err)
	}
	if a.Supervisor() == b.Supervisor() {
		t.Errorf("both have %s", a.Supervisor())
	}
	seen := map[string]bool{}
	for _, address := range []string{a.Supervisor(), a.Endpoint(1), a.Endpoint(2), a.Member(1, 1), a.Member(1, 8), a.Member(2, 1)} {
		if ip := net.ParseIP(address); ip == nil || !ip.IsLoopback() {
			t.Errorf("%q is no loopback address", address)
		}
		if seen[address] {
			t.Errorf("%s is given out twice", address)
		}
		seen[address] = true
	}
}

func TestANetworkThatIsListenedInIsPassedBy(t *testing.T) {
	// Taken for real, so that no lab that starts meanwhile gets it.
	first, err := loopback.Take()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", first.Supervisor()+":6443")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	t.Setenv("TMPDIR", t.TempDir()) // Other locks, as of another user.
	second, err := loopback.Take()
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(second.Supervisor(), first.Supervisor()) {
		t.Errorf("took %s although somebody listens there", second.Supervisor())
	}
}
