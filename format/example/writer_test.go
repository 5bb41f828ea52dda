package example

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawFeatures draws features of all kinds, including empty and long ones.
func drawFeatures(t *rapid.T) map[string]value {
	kinds := rapid.SampledFrom([]Kind{BytesList, FloatList, Int64List})
	features := map[string]value{}
	for range rapid.IntRange(0, 6).Draw(t, "features") {
		key := rapid.StringMatching(`(nodes|edges|é)/[a-z.#]{0,3}`).Draw(t, "key")
		n := rapid.SampledFrom([]int{0, 1, 2, 5, 40, 300}).Draw(t, "values")
		v := value{kind: kinds.Draw(t, "kind")}
		switch v.kind {
		case BytesList:
			v.texts = rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 200), min(n, 10), min(n, 10)).Draw(t, "texts")
		case FloatList:
			v.floats = rapid.SliceOfN(rapid.Float32(), n, n).Draw(t, "floats")
		case Int64List:
			v.ints = rapid.SliceOfN(rapid.Int64(), n, n).Draw(t, "ints")
		}
		features[key] = v
	}
	return features
}

// The Writer writes protobuf's own deterministic encoding, to the byte.
func TestWriterIsProtobuf(t *testing.T) {
	var w Writer
	rapid.Check(t, func(t *rapid.T) {
		features := drawFeatures(t)
		got := encode(&w, features)
		if want := marshal(t, features); len(features) > 0 && !bytes.Equal(got, want) {
			t.Fatalf("found %x, expected %x", got, want)
		}
	})
}

func offsets[O Offset](texts ...string) []O {
	ends := []O{0}
	for _, s := range texts {
		ends = append(ends, ends[len(ends)-1]+O(len(s)))
	}
	return ends
}

func float32s(values ...float32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// Every way of taking rows from a column.
func TestRows(t *testing.T) {
	names := []string{"a", "", "ccc", "dd", "e", "f"}
	all := []byte(strings.Join(names, ""))
	rows, rows64, none := []uint32{2, 0, 2}, []uint64{1}, []uint32(nil)
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		name  string
		write func(w *Writer, k Key)
		want  value
	}{
		{"int8", func(w *Writer, k Key) { IntRows(w, k, []int8{1, -2, -128}, 1, rows) }, ints(-128, 1, -128)},
		{"int16", func(w *Writer, k Key) { IntRows(w, k, []int16{1, -300, 7}, 1, rows64) }, ints(-300)},
		{"uint64", func(w *Writer, k Key) { IntRows(w, k, []uint64{math.MaxUint64, 1, 1 << 63}, 1, rows) }, ints(math.MinInt64, -1, math.MinInt64)},
		{"uint32", func(w *Writer, k Key) { IntRows(w, k, []uint32{5, 127, math.MaxUint32}, 1, rows) }, ints(math.MaxUint32, 5, math.MaxUint32)},
		{"int vectors", func(w *Writer, k Key) { IntRows(w, k, []int32{1, 2, 3, 4, 5, 600}, 2, rows) }, ints(5, 600, 1, 2, 5, 600)},
		{"no rows", func(w *Writer, k Key) { IntRows(w, k, []int32{1}, 1, none) }, ints()},
		{"one", func(w *Writer, k Key) { w.Int(k, -5) }, ints(-5)},
		{"local ids", func(w *Writer, k Key) { Ints(w, k, []uint32{0, 127, 128, 16383, 16384, math.MaxUint32}) }, ints(0, 127, 128, 16383, 16384, math.MaxUint32)},
		{"float32", func(w *Writer, k Key) { Float32Rows(w, k, float32s(1, 2, inf), 1, rows) }, floats(inf, 1, inf)},
		{"float32 vectors", func(w *Writer, k Key) { Float32Rows(w, k, float32s(1, 2, 3, 4, 5, 6), 2, rows) }, floats(5, 6, 1, 2, 5, 6)},
		{"no floats", func(w *Writer, k Key) { Float32Rows(w, k, nil, 3, none) }, floats()},
		{"float64", func(w *Writer, k Key) { FloatRows(w, k, []float64{1.1, 1e300, 3}, 1, rows64, Narrow) }, floats(inf)},
		{"float16", func(w *Writer, k Key) {
			FloatRows(w, k, []uint16{0x3c00, 1, 0xc000, 0xfc00}, 2, []uint32{1, 0}, Float16)
		}, floats(-2, -inf, 1, 1.0/(1<<24))},
		{"bfloat16", func(w *Writer, k Key) { FloatRows(w, k, []uint16{0x3f80, 0x4000}, 1, rows64, BFloat16) }, floats(2)},
		{"strings", func(w *Writer, k Key) { TextRows(w, k, all, offsets[uint32](names...), 1, rows) }, texts("ccc", "a", "ccc")},
		{"string vectors", func(w *Writer, k Key) { TextRows(w, k, all, offsets[uint64](names...), 2, rows) }, texts("e", "f", "a", "", "e", "f")},
		{"no strings", func(w *Writer, k Key) { TextRows(w, k, all, offsets[uint64](names...), 1, none) }, texts()},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w Writer
			w.Reset()
			c.write(&w, NewKey("k"))
			got := w.Close()
			if want := marshal(t, map[string]value{"k": c.want}); !bytes.Equal(got, want) {
				t.Errorf("found %x, expected %x", got, want)
			}
		})
	}
}

// Varints of every length, their neighbours and their negatives.
func TestVarints(t *testing.T) {
	values := []int64{0}
	for shift := range 64 {
		for d := int64(-1); d <= 1; d++ {
			values = append(values, 1<<shift+d, -(1<<shift + d))
		}
	}
	var w Writer
	got := encode(&w, map[string]value{"k": {kind: Int64List, ints: values}})
	if want := marshal(t, map[string]value{"k": {kind: Int64List, ints: values}}); !bytes.Equal(got, want) {
		t.Errorf("found %x, expected %x", got, want)
	}
}

// Texts of every length at every position of a column.
func TestTextLengths(t *testing.T) {
	var all []string
	for i := range 150 {
		all = append(all, strings.Repeat(string(rune('a'+i%26)), i*7%45), strings.Repeat("z", i))
	}
	rows := make([]uint32, len(all))
	want := value{kind: BytesList}
	for i := range rows {
		rows[i] = uint32(i*31) % uint32(len(all))
		want.texts = append(want.texts, []byte(all[rows[i]]))
	}
	var w Writer
	w.Reset()
	TextRows(&w, NewKey("k"), []byte(strings.Join(all, "")), offsets[uint64](all...), 1, rows)
	if got := w.Close(); !bytes.Equal(got, marshal(t, map[string]value{"k": want})) {
		t.Errorf("found %x", got)
	}
}

// Every half gives the value that its bits mean.
func TestFloat16(t *testing.T) {
	for v := range 1 << 16 {
		frac, exp := float64(v&0x3ff), v>>10&0x1f
		want := math.Ldexp(frac, -24)
		switch {
		case exp == 0x1f && frac == 0:
			want = math.Inf(1)
		case exp == 0x1f:
			want = math.NaN()
		case exp > 0:
			want = math.Ldexp(1024+frac, exp-25)
		}
		if v&0x8000 != 0 {
			want = -want
		}
		got := Float16(uint16(v))
		if float64(got) != want && want == want || want != want && got == got {
			t.Fatalf("%04x: found %v, expected %v", v, got, want)
		}
	}
}

// subgraph returns a function that writes the Example of a typical sampled subgraph: 30 nodes, 36 edges, and
// features.
func subgraph() func(w *Writer) []byte {
	var k [8]Key
	for i, s := range []string{"context/c", "edges/e.#size", "edges/e.#source", "edges/e.#target", "nodes/n.#size", "nodes/n.feat", "nodes/n.label", "nodes/n.name"} {
		k[i] = NewKey(s)
	}
	const n = 1000
	ids, src, dst := make([]uint32, 30), make([]uint32, 36), make([]uint32, 36)
	for i := range src {
		ids[i%30] = uint32(i * 27)
		src[i], dst[i] = uint32(i%30), uint32(i/2)
	}
	names := make([]string, n)
	for i := range names {
		names[i] = strings.Repeat("x", i%20)
	}
	text, ends := []byte(strings.Join(names, "")), offsets[uint64](names...)
	label, feat := make([]int32, n), make([]byte, n*8*4)
	return func(w *Writer) []byte {
		w.Reset()
		TextRows(w, k[7], text, ends, 1, ids)
		IntRows(w, k[6], label, 1, ids)
		Float32Rows(w, k[5], feat, 8, ids)
		w.Int(k[4], int64(len(ids)))
		Ints(w, k[3], dst)
		Ints(w, k[2], src)
		w.Int(k[1], int64(len(src)))
		w.Int(k[0], 1)
		return w.Close()
	}
}

func TestNothingIsAllocated(t *testing.T) {
	var (
		w     Writer
		d     Decoder
		ints  []int64
		write = subgraph()
	)
	if n := testing.AllocsPerRun(100, func() {
		if err := d.Decode(write(&w)); err != nil {
			t.Fatal(err)
		}
		ints = d.Find("edges/e.#source").AppendInts(ints[:0])
	}); n != 0 {
		t.Errorf("found %v allocations an Example, expected none", n)
	}
	if len(ints) != 36 || d.Find("nodes/n.name").Count != 30 || d.Find("nodes/n") != nil {
		t.Errorf("found %d sources and %v", len(ints), d.Find("nodes/n.name"))
	}
}

func BenchmarkWriter(b *testing.B) {
	var w Writer
	write := subgraph()
	b.SetBytes(int64(len(write(&w))))
	b.ReportAllocs()
	for b.Loop() {
		write(&w)
	}
}

func BenchmarkDecoder(b *testing.B) {
	var (
		w Writer
		d Decoder
	)
	record := subgraph()(&w)
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Decode(record); err != nil {
			b.Fatal(err)
		}
	}
}
