package feed

// ring is the slots of a connection.
type ring struct {
	*memory          // nil where batches go over the socket
	bodies  [][]byte // then, the memory of each slot, which grows
	size    int64
	gen     []uint64 // the number of leases of each slot
	leased  []bool
}

func newRing(slots int, size int64) (*ring, error) {
	m, err := newMemory("graphmill-ring", int64(slots)*size)
	if err != nil {
		return nil, err
	}
	return &ring{memory: m, size: size, gen: make([]uint64, slots), leased: make([]bool, slots)}, nil
}

// newBodies is a ring whose batches go over the socket.
func newBodies(slots int, size int64) *ring {
	return &ring{bodies: make([][]byte, slots), size: size, gen: make([]uint64, slots), leased: make([]bool, slots)}
}

// descriptor is the descriptor of the memory that the client maps, negative without any.
func (r *ring) descriptor() int {
	if r.memory == nil {
		return -1
	}
	return r.fd
}

// room is n bytes for the batch of a slot. Where the slot is too small, they are the bytes of jumbo, memory of its own.
func (r *ring) room(i, n int) (dst []byte, jumbo *memory, err error) {
	switch {
	case r.memory == nil:
		if cap(r.bodies[i]) < n {
			r.bodies[i] = make([]byte, n)
		}
		r.bodies[i] = r.bodies[i][:n]
		return r.bodies[i], nil, nil
	case int64(n) > r.size:
		if jumbo, err = newMemory("graphmill-batch", int64(n)); err != nil {
			return nil, nil, err
		}
		return jumbo.bytes[:n:n], jumbo, nil
	}
	return r.bytes[int64(i)*r.size:][:n:n], nil, nil
}

func (r *ring) close() {
	if r.memory != nil {
		r.memory.close()
	}
}
