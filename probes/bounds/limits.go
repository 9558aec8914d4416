package bounds

import (
	"fmt"
	"io"
)

// Limits bound one value. Zero is no bound.
type Limits struct {
	// Bytes is how long its text may be.
	Bytes int
	// Values is how many values it may hold, those within others counted too.
	Values int
	// Depth is how many objects and lists may stand within each other.
	Depth int
}

// Object are the limits of one Kubernetes object. An API server takes 3 MiB in a request and
// etcd keeps half of that; the largest object that the project knows of has 6,000 values.
func Object() Limits { return Limits{Bytes: 12 << 20, Values: 250_000, Depth: 9_500} }

// TooLargeError says that something exceeds a bound.
type TooLargeError struct {
	// What is what exceeds it, such as "an object".
	What string
	// Limit is the bound in words, such as "4 MiB".
	Limit string
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s exceeds the limit of %s", e.What, e.Limit)
}

// Size writes a number of bytes in words.
func Size(n int64) string {
	const k, m, g = 1 << 10, 1 << 20, 1 << 30
	switch {
	case n >= g && n%g == 0:
		return fmt.Sprintf("%d GiB", n/g)
	case n >= m:
		return fmt.Sprintf("%d MiB", n/m)
	case n >= k:
		return fmt.Sprintf("%d KiB", n/k)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Reader gives at most so many bytes of another reader; the next one is a [TooLargeError].
type Reader struct {
	In   io.Reader
	Left int64
	// Err is returned when more is there.
	Err error
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.Left <= 0 {
		var one [1]byte
		if n, err := r.In.Read(one[:]); n == 0 {
			return 0, err //nolint:wrapcheck // io.EOF has to stay what it is.
		}
		return 0, r.Err
	}
	n, err := r.In.Read(p[:min(int64(len(p)), r.Left)])
	r.Left -= int64(n)
	return n, err //nolint:wrapcheck // io.EOF has to stay what it is.
}
