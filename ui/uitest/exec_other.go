//go:build !unix

package uitest

import "errors"

// There are no pseudo-terminals here, and so nothing to ask of one.

func (x *Terminal) setSize(int, int) error { return errors.ErrUnsupported }
func (x *Terminal) lineChanged() bool      { return false }
