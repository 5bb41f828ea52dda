//go:build unix

package direct

import "golang.org/x/sys/unix"

const errNoMemory = unix.ENOMEM

// mapMemory is n zeros outside the heap. Tables are as large as they may have to be, which is mostly far larger than the used part. The system
// reserves nothing for them.
func mapMemory(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
}

func unmapMemory(b []byte) {
	_ = unix.Munmap(b) // fails only for memory that is not mapped
}
