//go:build !linux && !darwin && !windows

package vfs

func (osFS) Exchange(a, b string) error { return exchange(a, b) }
