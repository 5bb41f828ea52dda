//go:build !linux

package batch

// willNeed could tell the kernel what will be read; here it is not told.
func willNeed([]byte) {}
