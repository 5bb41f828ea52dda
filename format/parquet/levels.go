package parquet

import (
	"encoding/binary"
	"math/bits"
)

// hybrid reads small integers of a fixed width in bits: runs of one value, and packed groups of eight values. Levels
// and dictionary indices are stored like this.
type hybrid struct {
	b     []byte
	width uint // up to 32
	left  int  // values of the current run that were not read
	value uint32
	// For packed values, at is the position of the next value, in bits of packed.
	packed []byte
	at     int
	isRun  bool
}

func newHybrid(b []byte, width uint) hybrid { return hybrid{b: b, width: width} }

// next begins the next run. It returns false if there is none.
func (h *hybrid) next() bool {
	for h.left == 0 {
		head, n := binary.Uvarint(h.b)
		if n <= 0 || head>>1 > 1<<31 {
			return false
		}
		h.b = h.b[n:]
		if h.isRun = head&1 == 0; h.isRun {
			size := int(h.width+7) / 8
			if len(h.b) < size {
				return false
			}
			h.value = 0
			for i := range size {
				h.value |= uint32(h.b[i]) << (8 * i)
			}
			h.b = h.b[size:]
			h.left = int(head >> 1)
			continue
		}
		// The last group may be cut after its last value.
		size := min(uint64(len(h.b)), head>>1*uint64(h.width))
		h.packed, h.b, h.at = h.b[:size], h.b[size:], 0
		h.left = int(head>>1) * 8
	}
	return true
}

// fill reads len(dst) values. It returns false if there are fewer.
func (h *hybrid) fill(dst []uint32) bool {
	for len(dst) > 0 {
		if !h.next() {
			return false
		}
		n := min(h.left, len(dst))
		if h.isRun {
			for i := range dst[:n] {
				dst[i] = h.value
			}
		} else {
			if h.at+n*int(h.width) > 8*len(h.packed) {
				return false
			}
			h.unpack(dst[:n])
		}
		h.left -= n
		dst = dst[n:]
	}
	return true
}

// unpack reads packed values, all of whose bits are there.
func (h *hybrid) unpack(dst []uint32) {
	b, width := h.packed, int(h.width)
	mask := uint64(1)<<h.width - 1
	i := 0
	// A value and the bits before it in its first byte fit into 8 bytes.
	for ; i < len(dst) && h.at>>3 <= len(b)-8; i++ {
		dst[i] = uint32(binary.LittleEndian.Uint64(b[h.at>>3:]) >> (h.at & 7) & mask)
		h.at += width
	}
	for ; i < len(dst); i++ {
		dst[i] = uint32(bitsAt(b, h.at, h.width))
		h.at += width
	}
}

// bitsAt returns the number that is stored in width bits of b, at most 64, from bit at on, least significant bit
// first. All its bits are in b.
func bitsAt(b []byte, at int, width uint) uint64 {
	if width == 0 {
		return 0
	}
	i, shift := at>>3, uint(at&7)
	if i+9 <= len(b) {
		v := binary.LittleEndian.Uint64(b[i:]) >> shift
		if shift+width > 64 {
			v |= uint64(b[i+8]) << (64 - shift)
		}
		return v & (^uint64(0) >> (64 - width))
	}
	v := uint64(0)
	for k := uint(0); k < width+shift && i < len(b); k += 8 {
		if k >= shift {
			v |= uint64(b[i]) << (k - shift)
		} else {
			v |= uint64(b[i]) >> (shift - k)
		}
		i++
	}
	return v & (^uint64(0) >> (64 - width))
}

// widthOf returns the number of bits that hold the numbers 0 to largest.
func widthOf(largest int) uint { return uint(bits.Len(uint(largest))) }

// appendLevels writes levels in the hybrid encoding, as runs only, after their length in bytes. The levels of lists
// repeat, and zstd compresses the rest.
func appendLevels(b []byte, levels []byte, width uint) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	size := int(width+7) / 8
	for i := 0; i < len(levels); {
		j := i + 1
		for j < len(levels) && levels[j] == levels[i] {
			j++
		}
		b = binary.AppendUvarint(b, uint64(j-i)<<1)
		if size > 0 {
			b = append(b, levels[i])
		}
		i = j
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}
