//go:build !linux

package fsx

func (osFS) Exchange(a, b string) error { return exchange(a, b) }
