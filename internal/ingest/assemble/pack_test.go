package assemble

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestPack packs records of arbitrary numbers, including combinations that no bucket has.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "records")
		any32 := func(name string) func(int) uint32 {
			low := rapid.Uint32().Draw(t, name+" from")
			width := rapid.Uint32Range(0, ^uint32(0)>>rapid.IntRange(0, 32).Draw(t, name+" bits")).Draw(t, name+" width")
			return func(i int) uint32 { return low + uint32((mix(uint64(i)+uint64(low)))%(uint64(width)+1)) }
		}
		near, far, step := any32("near"), any32("far"), any32("step")
		lay := newLayout(false, nil)
		recs := make([]byte, n*plainBytes)
		seq := uint32(0)
		for i := range n {
			lay.put(recs[i*plainBytes:], uint64(near(i)), uint64(far(i)), uint64(seq))
			seq += step(i)
		}
		before := []byte("before")
		packed, smaller := packEdges(before, recs)
		if !bytes.HasPrefix(packed, before) {
			t.Fatal("what was there has changed")
		}
		if !smaller {
			return
		}
		packed = packed[len(before):]
		if len(packed) >= len(recs) {
			t.Fatalf("%d bytes became %d", len(recs), len(packed))
		}
		got := make([]byte, len(recs))
		if err := unpackEdges(got, packed); err != nil || !bytes.Equal(got, recs) {
			t.Fatalf("%v: records have changed (header %v)", err, packed[:packedHeader])
		}
		cut := rapid.IntRange(0, len(packed)-1).Draw(t, "cut")
		if err := unpackEdges(got, packed[:cut]); err == nil {
			t.Fatal("a part was unpacked")
		}
		packed[rapid.IntRange(0, len(packed)-1).Draw(t, "byte")] ^= byte(rapid.IntRange(1, 255).Draw(t, "change"))
		_ = unpackEdges(got, packed) // must not panic
	})
}

// TestPackWide packs records of 64 bits, of near numbers and of far ones.
func TestPackWide(t *testing.T) {
	packed := 0
	rapid.Check(t, func(t *rapid.T) {
		lay := newLayout(true, nil)
		n := rapid.IntRange(0, 300).Draw(t, "records")
		recs := make([]byte, n*wideBytes)
		seq, step := rapid.Uint64().Draw(t, "seq"), rapid.SampledFrom([]uint64{1, 512, 1 << 22, 1 << 31, 1 << 40}).Draw(t, "step")
		top := rapid.SampledFrom([]uint64{1, 1 << 14, 1<<32 - 1, 1 << 40}).Draw(t, "top")
		for i := range n {
			lay.put(recs[i*wideBytes:], mix(uint64(i))%(top+1), mix(uint64(i)+1<<20)%(top+1), seq)
			seq += mix(uint64(i)) % step
		}
		b, smaller := packWide([]byte("before"), recs)
		if !smaller {
			return
		}
		packed++
		b, found := bytes.CutPrefix(b, []byte("before"))
		got := make([]byte, len(recs))
		if err := unpackWide(got, b); !found || err != nil || !bytes.Equal(got, recs) {
			t.Fatalf("%v: records have changed", err)
		}
		if err := unpackWide(got, b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]); err == nil {
			t.Fatal("a part was unpacked")
		}
		b[rapid.IntRange(0, len(b)-1).Draw(t, "byte")] ^= byte(rapid.IntRange(1, 255).Draw(t, "change"))
		_ = unpackWide(got, b) // must not panic
	})
	if packed == 0 {
		t.Fatal("found no packed records")
	}
}

// TestPackGains packs records as in a bucket of a scan.
func TestPackGains(t *testing.T) {
	lay := newLayout(false, nil)
	recs := make([]byte, 2700*plainBytes)
	for i := range 2700 {
		lay.put(recs[i*plainBytes:], 77<<13|mix(uint64(i))%(1<<13), mix(uint64(i)+1<<20)%(1<<22), uint64(i*512)+mix(uint64(i))%512+uint64(i/100)<<17)
	}
	if packed, smaller := packEdges(nil, recs); !smaller || len(packed) > len(recs)/2+200 {
		t.Fatalf("%d bytes became %d, want half", len(recs), len(packed))
	}
}
