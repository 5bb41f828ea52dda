//go:build !amd64 || purego

package batch

// Without an instruction for it nothing is asked for ahead.
func prefetch(*byte, *uintptr, int, int) {}
