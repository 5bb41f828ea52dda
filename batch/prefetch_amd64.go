//go:build !purego

package batch

// prefetch asks for the cache lines of n rows of width bytes, which begin at offsets from
// base. It changes no memory and cannot fault.
//
//go:noescape
func prefetch(base *byte, offsets *uintptr, n, width int)
