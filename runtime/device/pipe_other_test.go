//go:build !linux

package device

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
