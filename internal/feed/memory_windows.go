package feed

import "errors"

// memory is not shared here: batches go over a socket (loopback.go).
type memory struct {
	fd    int
	bytes []byte
}

// newMemory is an error: a process finds no memory of another by a descriptor.
func newMemory(string, int64) (*memory, error) { return nil, errors.ErrUnsupported }

func (m *memory) close() {}
