package direct

import (
	"fmt"
	"math"
	"unsafe"
)

// Align divides the address, length and offset of every read and write.
const Align = 4096

const hugePage = 2 << 20

// Alloc is n bytes of memory outside the Go heap that start at a multiple of 2 MiB, on huge pages where the system has
// them. All of it is resident, rounded up to 2 MiB, so use one Alloc for many buffers. free returns it to the system;
// nothing may use it afterwards.
func Alloc(n int) (b []byte, free func(), err error) {
	b, free, err = Array[byte](n)
	for i := 0; i < len(b); i += Align {
		b[i] = 0
	}
	return b, free, err
}

// Word is the type of an element of an Array.
type Word interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int32 | ~int64 | ~float32 | ~float64
}

// Array is n zeros outside the Go heap, for large tables. It is memory as Alloc gives, except that each 2 MiB
// become resident when they are first used. free returns it to the system; nothing may use it afterwards.
func Array[T Word](n int) (a []T, free func(), err error) { return array[T](n, adviseHuge) }

// Lean is Array on small pages, each of which becomes resident when it is first used, for tables that may be used only
// in part.
func Lean[T Word](n int) (a []T, free func(), err error) { return array[T](n, adviseSmall) }

func array[T Word](n int, advise func([]byte)) (a []T, free func(), err error) {
	var word T
	size := uintptr(n) * unsafe.Sizeof(word)
	if n < 0 || uint64(n) > (math.MaxInt-2*hugePage)/uint64(unsafe.Sizeof(word)) {
		return nil, nil, fmt.Errorf("no memory for %d words of %d bytes: %w", n, unsafe.Sizeof(word), errNoMemory)
	}
	if n == 0 {
		return nil, func() {}, nil
	}
	whole := (size + hugePage - 1) / hugePage * hugePage
	m, err := mapMemory(int(whole) + hugePage)
	if err != nil {
		return nil, nil, fmt.Errorf("no memory for %d bytes: %w", size, err)
	}
	body := m[-uintptr(unsafe.Pointer(unsafe.SliceData(m)))%hugePage:][:whole]
	advise(body)
	free = func() {
		if m != nil {
			unmapMemory(m)
			m = nil
		}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(body))), n), free, nil
}
