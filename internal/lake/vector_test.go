package lake

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// vectorOf is the deletion vector of rows.
func vectorOf(t testing.TB, rows ...uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	b.Write(binary.LittleEndian.AppendUint32(nil, magicVector))
	if _, err := roaring64.BitmapOf(rows...).WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDecodeVector(t *testing.T) {
	for _, rows := range [][]uint64{{}, {0}, {0, 1, 2, 1 << 16, 1 << 32, 1<<32 + 5}} {
		found, err := DecodeVector(vectorOf(t, rows...))
		if err != nil || !found.Equals(roaring64.BitmapOf(rows...)) {
			t.Errorf("%v: found %v, %v", rows, found, err)
		}
	}
	if _, err := DecodeVector(vectorOf(t, 1<<50)); err == nil {
		t.Error("found a row of 2^50, expected an error")
	}
}

// FuzzVector reads any bytes as a deletion vector.
func FuzzVector(f *testing.F) {
	f.Add(vectorOf(f))
	f.Add(vectorOf(f, 0, 7, 1<<16, 1<<33))
	f.Add(vectorOf(f, 1<<50))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			if v, err := DecodeVector(b); err == nil && v.GetCardinality() > 0 && v.Maximum() > maxRow {
				t.Errorf("found the row %d", v.Maximum())
			}
		})
	})
}
