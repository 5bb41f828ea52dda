//go:build !linux

package vfs

import "errors"

func failPage([]byte) error { return errors.ErrUnsupported }
