//go:build !amd64 && !arm64 && !loong64 && !mips64le && !ppc64le && !riscv64

package graph

// Arrays are read as they lie in their files, and sizes are ints: so the product
// is built for little-endian machines of 64 bits only.
var _ = needsLittleEndian64Bit
