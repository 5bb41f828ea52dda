package feed

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// FuzzRequest reads any packet as a request of a client. A request that is read has the bytes of the packet.
func FuzzRequest(f *testing.F) {
	add := func(kind uint32, words ...uint64) {
		p := binary.LittleEndian.AppendUint32(nil, kind)
		p = append(p, 0, 0, 0, 0)
		for _, w := range words {
			p = binary.LittleEndian.AppendUint64(p, w)
		}
		f.Add(p)
	}
	add(reqReturn, 7, 0)
	add(reqStart, 0, 3)
	add(reqSample, 0, 3, 1, 1<<64-1)
	add(99)
	f.Fuzz(func(t *testing.T, p []byte) {
		fuzzing.Check(t, len(p), func() {
			r, err := parseRequest(p)
			if err != nil {
				return
			}
			if r.bytes() != len(p) {
				t.Fatalf("found a request of %d bytes in a packet of %d", r.bytes(), len(p))
			}
			again := binary.LittleEndian.AppendUint32(nil, r.kind)
			again = binary.LittleEndian.AppendUint32(again, r.slot)
			again = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(again, r.a), r.b)
			for _, s := range r.seeds {
				again = binary.LittleEndian.AppendUint64(again, uint64(s))
			}
			if !bytes.Equal(again, p) {
				t.Fatalf("found %x, expected %x", again, p)
			}
		})
	})
}
