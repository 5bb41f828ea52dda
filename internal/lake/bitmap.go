package lake

import (
	"errors"
	"fmt"
	"io"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// ReadBitmap reads a portable 64-bit Roaring bitmap, and checks that it is a valid one.
func ReadBitmap(r io.Reader) (b *roaring64.Bitmap, err error) {
	defer func() {
		if p := recover(); p != nil { // the library trusts sizes within the bytes
			b, err = nil, fmt.Errorf("found bytes that are no Roaring bitmap, expected one: %v", p)
		}
	}()
	b = roaring64.New()
	if _, err := b.ReadFrom(r); err != nil {
		return nil, fmt.Errorf("found bytes that are no Roaring bitmap, expected one: %w", err)
	}
	if err := b.Validate(); err != nil && !b.IsEmpty() {
		return nil, fmt.Errorf("found bytes that are no Roaring bitmap, expected one: %w", err)
	}
	if b.GetCardinality() > 0 && b.Maximum() > maxRow {
		return nil, errors.New("found a row above 2^48, expected the number of a row of a file")
	}
	return b, nil
}

// maxRow bounds the number of a row in a file.
const maxRow = 1 << 48
