//go:build !linux

package direct

import "errors"

func adviseHuge([]byte)  {}
func adviseSmall([]byte) {}

func mincore(m, pages []byte) error { return errors.ErrUnsupported }
