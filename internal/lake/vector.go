package lake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/graphmill/graphmill/internal/vfs"
)

// magicVector begins the bitmap of a deletion vector, little-endian. Delta Lake and Iceberg have the same vectors.
const magicVector = 1681511377

// DecodeVector reads a deletion vector: its magic number, and a portable 64-bit Roaring bitmap.
func DecodeVector(b []byte) (*roaring64.Bitmap, error) {
	if len(b) < 12 || binary.LittleEndian.Uint32(b) != magicVector {
		return nil, errors.New("found bytes that are no Roaring bitmap, expected one")
	}
	// Each bitmap of 32 bits takes 12 bytes at least.
	if n := binary.LittleEndian.Uint64(b[4:]); n > uint64(len(b))/12 {
		return nil, fmt.Errorf("found %d bitmaps in %d bytes, expected fewer", n, len(b))
	}
	return ReadBitmap(bytes.NewReader(b[4:]))
}

// ReadVector reads the bytes of a deletion vector in a file: its size, a vector of that size, and the CRC-32 of the vector, big-endian,
// at an offset.
func ReadVector(fsys vfs.FS, path string, at, size int64) (b []byte, err error) {
	info, err := vfs.Regular(fsys, path)
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if size < 0 || at < 0 || size > info.Size()-8 || at > info.Size()-8-size {
		return nil, Badf("%s: found %d bytes, expected a deletion vector of %d at byte %d; copy the file again", path, info.Size(), size, at)
	}
	b = make([]byte, size+8)
	if _, err := f.ReadAt(b, at); err != nil {
		return nil, err
	}
	body := b[4 : 4+size]
	if found := binary.BigEndian.Uint32(b); int64(found) != size {
		return nil, Badf("%s: byte %d: found a deletion vector of %d bytes, expected %d; copy the file again", path, at, found, size)
	}
	if sum := crc32.ChecksumIEEE(body); sum != binary.BigEndian.Uint32(b[4+size:]) {
		return nil, Badf("%s: byte %d: found a deletion vector with the checksum %08x, expected %08x; copy the file again", path, at, sum, binary.BigEndian.Uint32(b[4+size:]))
	}
	return body, nil
}
