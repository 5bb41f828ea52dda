package tfrecord

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	headerSize = 12
	footerSize = 4
	overhead   = headerSize + footerSize // bytes that framing adds to a record
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the masked CRC-32C of data, as stored in a frame.
func Checksum(data []byte) uint32 {
	c := crc32.Checksum(data, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// AppendFrame appends a frame around record to dst and returns the longer slice.
func AppendFrame(dst, record []byte) []byte {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(record)))
	dst = binary.LittleEndian.AppendUint32(dst, Checksum(dst[at:]))
	dst = append(dst, record...)
	return binary.LittleEndian.AppendUint32(dst, Checksum(record))
}
