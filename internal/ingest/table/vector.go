package table

import "github.com/graphmill/graphmill/graph"

// Interleave joins values of the given number of bytes, one from each vector in turn. All start at 8-byte boundaries.
func Interleave(out []byte, from []Vector, size int) {
	switch size {
	case 4:
		weave[uint32](out, from)
		return
	case 8:
		weave[uint64](out, from)
		return
	}
	stride := size * len(from)
	for k, v := range from {
		for i, at := 0, k*size; at < len(out); i, at = i+size, at+stride {
			copy(out[at:at+size], v.Data[i:])
		}
	}
}

func weave[T graph.Numbers](out []byte, from []Vector) {
	to, n := graph.View[T](out), len(from)
	for k, v := range from {
		at := k
		for _, x := range graph.View[T](v.Data)[:len(to)/n] {
			to[at] = x
			at += n
		}
	}
}
