//go:build !linux

package batch

// willNeed does nothing here.
func willNeed([]byte) {}
