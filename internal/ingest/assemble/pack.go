package assemble

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"github.com/graphmill/graphmill/internal/extsort"
)

// packedEdges is the packed form of the plain records of an extent, which mostly takes half of their size: the near
// ids of a bucket have their high bits in common, and seq grows in small steps from record to record.
//
//	least near id, first seq, number of long steps: uint32
//	bytes of a record, bits of its step, bits of its far id, 0: uint8
//	the records: near - least, far, step of seq, from the high bits to the low
//	8 bytes, so that each record can be read as a uint64
//	the long steps: uint32, of the records whose step has all bits set
var packedEdges = &extsort.Codec{Pack: packEdges, Unpack: unpackEdges}

const (
	plainBytes   = 12
	packedHeader = 16
	packedPad    = 8
)

// packEdges appends plain records to dst in packed form. It returns false if that does not save space.
func packEdges(dst, recs []byte) ([]byte, bool) {
	n := len(recs) / plainBytes
	if n == 0 {
		return dst, false
	}
	low, high, fars := ^uint32(0), uint32(0), uint32(0)
	first := binary.LittleEndian.Uint32(recs[8:])
	for b := recs; len(b) >= plainBytes; b = b[plainBytes:] {
		near := binary.LittleEndian.Uint32(b)
		low, high = min(low, near), max(high, near)
		fars |= binary.LittleEndian.Uint32(b[4:])
	}
	// A sample of the steps estimates how many have each number of bits.
	const sample = 4
	var lengths [33]int
	for at := plainBytes; at < len(recs); at += sample * plainBytes {
		step := binary.LittleEndian.Uint32(recs[at+8:]) - binary.LittleEndian.Uint32(recs[at-4:])
		lengths[bits.Len32(step)]++ // a step back wraps around, so it is long
	}
	farBits := bits.Len32(fars)
	ends := bits.Len32(high-low) + farBits
	width, stepBits, least := 0, 0, len(recs)
	for w := ends/8 + 1; w <= 8; w++ {
		step, long := min(8*w-ends, 32), 0
		for _, k := range lengths[step+1:] {
			long += k
		}
		if size := packedHeader + n*w + packedPad + 4*long*sample; size < least {
			width, stepBits, least = w, step, size
		}
	}
	if width == 0 {
		return dst, false
	}
	at := len(dst)
	size := packedHeader + n*width + packedPad
	dst = slices.Grow(dst, size+4*n)[:at+size] // with room for all long steps, so that dst is not moved
	head := dst[at:]
	put32(head, low)
	put32(head[4:], first)
	head[12], head[13], head[14], head[15] = byte(width), byte(stepBits), byte(farBits), 0
	mask := uint32(1)<<stepBits - 1
	out := head[packedHeader:]
	longs := uint32(0)
	last := first
	for b := recs; len(b) >= plainBytes; b = b[plainBytes:] {
		near, far, seq := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
		step := seq - last
		last = seq
		if step >= mask {
			dst = binary.LittleEndian.AppendUint32(dst, step)
			longs++
			step = mask
		}
		x := uint64(near-low)<<(farBits&63) | uint64(far)
		put64(out, x<<(stepBits&63)|uint64(step)) // the next record overwrites the excess bytes
		out = out[width:]
	}
	put32(dst[at+8:], longs)
	return dst, len(dst)-at < len(recs) // there may be more long steps than the sample suggests
}

var errPacked = errors.New("found a damaged extent, expected the bytes that were written; check the disk")

// unpackEdges restores packed records into dst, whose length is their size.
func unpackEdges(dst, packed []byte) error {
	n := len(dst) / plainBytes
	if len(packed) < packedHeader {
		return errPacked
	}
	near, seq := binary.LittleEndian.Uint32(packed), binary.LittleEndian.Uint32(packed[4:])
	width, stepBits, farBits := int(packed[12]), packed[13], packed[14]
	longs := 4 * int(binary.LittleEndian.Uint32(packed[8:]))
	if width < 1 || width > 8 || stepBits > 32 || farBits > 32 || len(packed) != packedHeader+n*width+packedPad+longs {
		return errPacked
	}
	recs, long := packed[packedHeader:len(packed)-longs], packed[len(packed)-longs:]
	mask, farMask, all := uint32(1)<<stepBits-1, uint64(1)<<farBits-1, ^uint64(0)>>(64-8*width)
	for ; len(dst) >= plainBytes && len(recs) >= 8; dst, recs = dst[plainBytes:], recs[width:] {
		x := binary.LittleEndian.Uint64(recs) & all
		step := uint32(x) & mask
		if step == mask {
			if len(long) < 4 {
				return errPacked
			}
			step, long = binary.LittleEndian.Uint32(long), long[4:]
		}
		seq += step
		x >>= stepBits & 63
		_ = dst[11]
		put64(dst, uint64(near+uint32(x>>(farBits&63)))|(x&farMask)<<32)
		put32(dst[8:], seq)
	}
	return nil
}
