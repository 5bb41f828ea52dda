package audit

// bitmap is a set of ids.
type bitmap []uint64

func newBitmap(n int64) bitmap { return make(bitmap, (n+63)/64) }

// add adds an id and reports whether it was absent.
func (b bitmap) add(i int64) bool {
	if b.has(i) {
		return false
	}
	b[i>>6] |= 1 << (i & 63)
	return true
}

func (b bitmap) has(i int64) bool { return b[i>>6]>>(i&63)&1 != 0 }
