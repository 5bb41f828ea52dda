//go:build !amd64 && !arm64 && !loong64 && !mips64le && !ppc64le && !riscv64

package graph

// Arrays are read in place from their files, and sizes are ints. So the product builds only for little-endian machines
// of 64 bits.
var _ = needsLittleEndian64Bit
