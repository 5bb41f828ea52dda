package direct_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/graphmill/graphmill/internal/direct"
)

func TestAlloc(t *testing.T) {
	for _, n := range []int{1, 4096, 1<<20 + 1, 2 << 20, 5<<20 + 4096} {
		b, free, err := direct.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if at := uintptr(unsafe.Pointer(&b[0])); len(b) != n || cap(b) != n || at%(2<<20) != 0 {
			t.Errorf("%d bytes: found %d of %d at %#x", n, len(b), cap(b), at)
		}
		for i := range b {
			if b[i] != 0 {
				t.Fatalf("byte %d of %d is %d, expected 0", i, n, b[i])
			}
			b[i] = 1
		}
		free()
		free()
	}
}

func TestArray(t *testing.T) {
	a, free, err := direct.Array[uint64](3 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	for _, i := range []int{0, 1 << 20, len(a) - 1} {
		if a[i] != 0 {
			t.Errorf("word %d is %d, expected 0", i, a[i])
		}
		a[i] = math.MaxUint64
	}
	none, free, err := direct.Array[float32](0)
	if err != nil || len(none) != 0 {
		t.Errorf("no words: found %d, %v", len(none), err)
	}
	free()
}

// A table may be larger than the memory, as long as little of it is used.
func TestArrayIsTakenAsUsed(t *testing.T) {
	for name, array := range map[string]func(int) ([]uint32, func(), error){"huge pages": direct.Array[uint32], "small pages": direct.Lean[uint32]} {
		a, free, err := array(1 << 38) // 1 TiB
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a[0], a[len(a)-1] = 1, 2
		free()
	}
}

// A size that no machine has is an error, also where its product overflows.
func TestAllocTooMuch(t *testing.T) {
	for _, n := range []int{-1, math.MinInt, math.MaxInt, math.MaxInt - 4096, math.MaxInt/8 + 1, 1 << 61} {
		if _, _, err := direct.Array[uint64](n); err == nil {
			t.Errorf("%d words were given", n)
		}
		if n > math.MaxInt/8+1 || n < 0 {
			if _, _, err := direct.Alloc(n); err == nil {
				t.Errorf("%d bytes were given", n)
			}
		}
	}
}
