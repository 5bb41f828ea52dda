package predictions

import (
	"github.com/klauspost/compress/zstd"
)

// sampleBytes is how much of an array is compressed to see how small it gets, and least the shortest vectors that are not compressed: each
// value also has a level, which compresses well.
const (
	sampleBytes = 64 << 10
	leastWidth  = 32
)

// incompressible says whether compression makes the array hardly smaller, by its first rows.
func (a *array) incompressible() (bool, error) {
	if a.width > 0 && a.width < leastWidth || a.dtype.Size() == 1 {
		return false, nil
	}
	rows := min(a.rows, max(1, sampleBytes/a.rowBytes()))
	sample := make([]byte, rows*a.rowBytes())
	if len(sample) < 4096 {
		return false, nil
	}
	if err := a.read(sample, 0); err != nil {
		return false, err
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return false, err
	}
	packed := z.EncodeAll(sample, nil)
	return len(packed) > len(sample)/8*7, z.Close()
}
