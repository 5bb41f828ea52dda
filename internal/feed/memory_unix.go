//go:build unix

package feed

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// memory is anonymous memory that is shared through its descriptor. It is freed with its last map and descriptor.
type memory struct {
	fd    int
	bytes []byte
}

// newMemory is n bytes of zeros.
func newMemory(name string, n int64) (*memory, error) {
	fd, err := anonymous(name, n)
	if err != nil {
		return nil, err
	}
	m := &memory{fd: fd}
	if m.bytes, err = unix.Mmap(fd, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		m.close()
		return nil, noMemory(n, err)
	}
	return m, nil
}

func noMemory(n int64, err error) error {
	return fmt.Errorf("making %d bytes of shared memory: %w; check the free memory and the limits of the process", n, err)
}

func (m *memory) close() {
	if m.bytes != nil {
		_ = unix.Munmap(m.bytes)
	}
	_ = unix.Close(m.fd)
}
