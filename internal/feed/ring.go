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

// ring is the slots of a connection.
type ring struct {
	*memory
	size   int64
	gen    []uint64 // the number of leases of each slot
	leased []bool
}

func newRing(slots int, size int64) (*ring, error) {
	m, err := newMemory("graphmill-ring", int64(slots)*size)
	if err != nil {
		return nil, err
	}
	return &ring{m, size, make([]uint64, slots), make([]bool, slots)}, nil
}

// slot is the bytes of a slot.
func (r *ring) slot(i int) []byte { return r.bytes[int64(i)*r.size:][:r.size:r.size] }
