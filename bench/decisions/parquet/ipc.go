package main

import (
	"bytes"
	"fmt"
	"hash/fnv"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// bound is the largest block that the bounded allocator gives.
const bound = 256 << 20

// bounded is an allocator that panics where a block is larger than bound, as a caller of arrow-go could do.
type bounded struct{ memory.Allocator }

func (a bounded) Allocate(size int) []byte {
	a.check(size)
	return a.Allocator.Allocate(size)
}

func (a bounded) Reallocate(size int, b []byte) []byte {
	a.check(size)
	return a.Allocator.Reallocate(size, b)
}

func (a bounded) check(size int) {
	if size > bound {
		panic(fmt.Sprintf("found a request for %d bytes", size))
	}
}

// readIPC reads a file of Arrow IPC with arrow-go.
func readIPC(b []byte) (uint64, error) { return readBatches(b, memory.DefaultAllocator) }

// readIPCBounded reads with an allocator that refuses large blocks.
func readIPCBounded(b []byte) (uint64, error) {
	return readBatches(b, bounded{memory.DefaultAllocator})
}

func readBatches(b []byte, a memory.Allocator) (uint64, error) {
	r, err := ipc.NewFileReader(bytes.NewReader(b), ipc.WithAllocator(a))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	sum := fnv.New64a()
	fmt.Fprintln(sum, r.Schema())
	for i := range min(r.NumRecords(), steps*groups) {
		batch, err := r.RecordBatchAt(i)
		if err != nil {
			return 0, err
		}
		fmt.Fprintln(sum, batch)
		batch.Release()
	}
	return sum.Sum64(), nil
}
