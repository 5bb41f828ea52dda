package structure

import (
	"sync"
	"unsafe"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/tagged"
)

// leastRows is the least memory in which rows are built for a temporary file.
const leastRows = 4 << 20

// spare is what remains of Memory after need bytes. It is an error if nothing does.
func (q *square) spare(need int64) (int64, error) {
	if q.options.Memory == 0 {
		return 1 << 62, nil
	}
	if need += q.options.Taken; q.options.Memory < need {
		return 0, tagged.Errorf(limits.ErrMemory, "found `Memory` %s, expected at least %s for structure %s of %d nodes and %d edges; give more `Memory`",
			human.Bytes(q.options.Memory), human.Bytes(need), q.name, q.nodes, q.edges)
	}
	return q.options.Memory - need, nil
}

// tooLarge is the error of a row of so many entries that is larger than the memory for rows.
func (q *square) tooLarge(entries int64) error {
	need := q.options.Memory + 4*entries
	return tagged.Errorf(limits.ErrMemory, "found `Memory` %s, expected at least %s for structure %s, because a node has %d edges; give more `Memory`",
		human.Bytes(q.options.Memory), human.Bytes(need), q.name, entries)
}

// hugePage is the size from which vectors are on huge pages: rows of them are read in no order, so small pages would miss the TLB.
const hugePage = 2 << 20

// number is the type of the numbers of a vector.
type number interface{ float32 | float64 }

// vectorBytes is the memory of a vector of n numbers.
func vectorBytes[T number](n int64) int64 {
	bytes := n * int64(unsafe.Sizeof(T(0)))
	if bytes < hugePage {
		return bytes
	}
	return (bytes + hugePage - 1) / hugePage * hugePage
}

// vectors are vectors outside the Go heap, which live until close. Several goroutines may make them.
type vectors struct {
	lock  sync.Mutex
	frees []func()
}

// newVector is n zeros.
func newVector[T number](a *vectors, n int) ([]T, error) {
	if vectorBytes[T](int64(n)) < hugePage {
		return make([]T, n), nil
	}
	x, free, err := direct.Array[T](n)
	if err != nil {
		return nil, err
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	a.frees = append(a.frees, free)
	return x, nil
}

func (a *vectors) close() {
	for _, free := range a.frees {
		free()
	}
}
