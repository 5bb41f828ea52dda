package assemble

import (
	"encoding/binary"
	"sync"

	"github.com/graphmill/graphmill/internal/extsort"
)

// packedWide is the packed form of the records of an extent that have three numbers of 64 bits and nothing else: the first seq
// (uint64), and packedEdges of the same records with seq counted from it. Ids of nodes have 32 bits in practice, and the records of
// an extent are close to each other in the input, so that a third of the size or less is left.
var packedWide = &extsort.Codec{Pack: packWide, Unpack: unpackWide}

const (
	wideBytes  = 24
	wideHeader = 8
)

// narrowRecords has buffers of packWide.
var narrowRecords = sync.Pool{New: func() any { return new([]byte) }}

// packWide appends records to dst in packed form. It returns false if that does not save space, and for numbers that do not
// fit 32 bits.
func packWide(dst, recs []byte) ([]byte, bool) {
	n := len(recs) / wideBytes
	if n == 0 {
		return dst, false
	}
	buf, _ := narrowRecords.Get().(*[]byte)
	defer narrowRecords.Put(buf)
	if cap(*buf) < n*plainBytes {
		*buf = make([]byte, n*plainBytes)
	}
	narrow := (*buf)[:n*plainBytes]
	first := binary.LittleEndian.Uint64(recs[16:])
	for i := range n {
		from, to := recs[i*wideBytes:][:wideBytes], narrow[i*plainBytes:][:plainBytes]
		near, far, seq := binary.LittleEndian.Uint64(from), binary.LittleEndian.Uint64(from[8:]), binary.LittleEndian.Uint64(from[16:])-first
		if (near|far|seq)>>32 != 0 {
			return dst, false
		}
		put64(to, near|far<<32)
		put32(to[8:], uint32(seq))
	}
	at := len(dst)
	return packEdges(binary.LittleEndian.AppendUint64(dst[:at], first), narrow)
}

// unpackWide restores packed records into dst, whose length is their size.
func unpackWide(dst, packed []byte) error {
	n := len(dst) / wideBytes
	if len(packed) < wideHeader {
		return errPacked
	}
	first := binary.LittleEndian.Uint64(packed)
	if err := unpackEdges(dst[:n*plainBytes], packed[wideHeader:]); err != nil {
		return err
	}
	for i := n - 1; i >= 0; i-- { // a record is longer than it was, so that the last one moves first
		from := dst[i*plainBytes:][:plainBytes]
		near, far, seq := binary.LittleEndian.Uint32(from), binary.LittleEndian.Uint32(from[4:]), binary.LittleEndian.Uint32(from[8:])
		to := dst[i*wideBytes:][:wideBytes]
		put64(to, uint64(near))
		put64(to[8:], uint64(far))
		put64(to[16:], first+uint64(seq))
	}
	return nil
}
