package tfrecord

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	// HeaderSize is the number of bytes in front of a record.
	HeaderSize = 12
	// FooterSize is the number of bytes behind a record.
	FooterSize = 4
	// Overhead is what framing adds to a record.
	Overhead = HeaderSize + FooterSize
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the masked CRC-32C of data, as stored in a frame.
func Checksum(data []byte) uint32 {
	c := crc32.Checksum(data, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// AppendFrame appends a frame around record to dst and returns the longer slice.
func AppendFrame(dst, record []byte) []byte {
	dst, start := Begin(dst)
	return End(append(dst, record...), start)
}

// Begin reserves the header of a frame at the end of dst. The caller appends the
// record to the result, then calls End with the same start.
func Begin(dst []byte) (buf []byte, start int) {
	var header [HeaderSize]byte
	return append(dst, header[:]...), len(dst)
}

// End completes the frame that Begin opened at start: the record is all that was
// appended since.
func End(buf []byte, start int) []byte {
	record := buf[start+HeaderSize:]
	sum := Checksum(record)
	putHeader(buf[start:], len(record))
	return binary.LittleEndian.AppendUint32(buf, sum)
}

func putHeader(b []byte, n int) {
	binary.LittleEndian.PutUint64(b, uint64(n))
	binary.LittleEndian.PutUint32(b[8:], Checksum(b[:8]))
}
