package pack

import "github.com/graphmill/graphmill/internal/vector"

// inverse is the inverse of a basis: the dense inverse, by columns, of an earlier basis, and the changes since
// then, each a product of two vectors. The columns, which exceed the cache, are then traversed only once for
// many changes.
type inverse struct {
	rows, stride int
	columns      []float64 // column j at j*stride
	// Change i is the product of the vectors at i*stride.
	left, right []float64
	changes     int
	at          []uint32
	factor      []float64
	ptr         []int32
}

// maxChanges is the number of changes that are collected.
const maxChanges = 64

// newInverse returns the inverse of the diagonal matrix with the given diagonal.
func newInverse(diagonal []int) *inverse {
	n := len(diagonal)
	// The stride is an odd number of cache lines, so that equal indices of the columns do not share a set of
	// the cache.
	stride := ((n+7)/8 | 1) * 8
	v := &inverse{rows: n, stride: stride, columns: make([]float64, n*stride),
		left: make([]float64, maxChanges*stride), right: make([]float64, maxChanges*stride)}
	for i, d := range diagonal {
		v.columns[i*stride+i] = 1 / float64(d)
	}
	return v
}

// add notes a term for the next sum: factor times the vector at index i.
func (v *inverse) add(i int, factor float64) {
	if factor != 0 {
		v.at, v.factor = append(v.at, uint32(i*v.stride)), append(v.factor, factor)
	}
}

// sum adds the noted terms, with the vectors x, to y.
func (v *inverse) sum(y, x []float64) {
	vector.Add(y[:v.stride], x, v.at, v.factor)
	v.at, v.factor = v.at[:0], v.factor[:0]
}

// times sets d, of stride numbers, to the inverse times a sparse column.
func (v *inverse) times(row []int32, value, d []float64) {
	clear(d)
	for k, r := range row {
		v.add(int(r), value[k])
	}
	v.sum(d, v.columns)
	for i := range v.changes {
		right, s := v.right[i*v.stride:(i+1)*v.stride], 0.0
		for k, r := range row {
			s += float64(right[r] * value[k])
		}
		v.add(i, s)
	}
	v.sum(d, v.left)
}

// row sets w, of stride numbers, to row r.
func (v *inverse) row(r int, w []float64) {
	for j := range v.rows {
		w[j] = v.columns[j*v.stride+r]
	}
	for i := range v.changes {
		v.add(i, v.left[i*v.stride+r])
	}
	v.sum(w, v.right)
}

// pivot divides row r by d[r], which gives t, and subtracts d times t from the other rows.
func (v *inverse) pivot(r int, d, t []float64) {
	left, right := v.left[v.changes*v.stride:][:v.stride], v.right[v.changes*v.stride:][:v.stride]
	for i, x := range d {
		left[i] = -x
	}
	left[r]++
	copy(right, t)
	if v.changes++; v.changes == maxChanges {
		v.flush()
	}
}

// flush applies the changes.
func (v *inverse) flush() {
	v.ptr = append(v.ptr[:0], 0)
	for j := range v.rows {
		for i := range v.changes {
			v.add(i, v.right[i*v.stride+j])
		}
		v.ptr = append(v.ptr, int32(len(v.at)))
	}
	// A block of all left vectors stays in the first-level cache.
	const block = 32
	for b := 0; b < v.stride; b += block {
		e := min(b+block, v.stride)
		left := v.left[b : (v.changes-1)*v.stride+e]
		for j := range v.rows {
			at, end := v.ptr[j], v.ptr[j+1]
			vector.Add(v.columns[j*v.stride+b:j*v.stride+e], left, v.at[at:end], v.factor[at:end])
		}
	}
	v.at, v.factor, v.changes = v.at[:0], v.factor[:0], 0
}
