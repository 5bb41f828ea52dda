//go:build !linux && !darwin

package vfs

func (osFS) Exchange(a, b string) error { return exchange(a, b) }
