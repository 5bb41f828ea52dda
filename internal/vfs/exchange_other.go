//go:build !linux

package vfs

func (osFS) Exchange(a, b string) error { return exchange(a, b) }
