package examplefiles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Every kind of damage is an error that names the record and the byte, for any number of threads. Of several errors
// the first is returned.
func TestTFRecordDamage(t *testing.T) {
	frame := examples(exampleRow{[]int64{1}, nil, []string{"text"}})
	long := examples(exampleRow{[]int64{2}, nil, []string{strings.Repeat("x", 3*table.ChunkSize)}})
	many := bytes.Repeat(frame, 50000) // makes several runs
	at := len(many) + len(long)
	with := func(offset int, change byte) []byte {
		b := append(append(bytes.Clone(many), long...), frame...)
		b[offset] ^= change
		return b
	}
	twice := func(key string) []byte { // returns a record that has a feature twice
		var w example.Writer
		w.Reset()
		example.Ints(&w, example.NewKey(key), []int64{1})
		one := w.Close()
		_, _, n := protowire.ConsumeField(one)
		features, _ := protowire.ConsumeBytes(one[1:n])
		return tfrecord.AppendFrame(nil, protowire.AppendBytes([]byte{0x0a}, bytes.Repeat(features, 2)))
	}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"length", with(at+3, 1), fmt.Sprintf("t: record 50001 (byte %d): found checksum", at)},
		{"checksum of a length", with(at+9, 1), fmt.Sprintf("t: record 50001 (byte %d): found checksum", at)},
		{"record", with(at+20, 1), fmt.Sprintf("t: record 50001 (byte %d): found checksum", at)},
		{"checksum", with(at+len(frame)-1, 1), fmt.Sprintf("t: record 50001 (byte %d): found checksum", at)},
		{"in a long record", with(at-table.ChunkSize, 4), fmt.Sprintf("t: record 50000 (byte %d): found checksum", len(many))},
		{"in the first run", with(100, 4), fmt.Sprintf("t: record %d (byte %d): found checksum", 100/len(frame), 100/len(frame)*len(frame))},
		{"cut in a head", many[:len(many)-len(frame)+5], fmt.Sprintf("t: record 49999 (byte %d): found 5 bytes at the end", len(many)-len(frame))},
		{"cut in a record", many[:len(many)-3], fmt.Sprintf("t: record 49999 (byte %d): found a record of %d bytes, expected at most %d", len(many)-len(frame), len(frame)-16, len(frame)-16-3)},
		{"text", []byte("source,target\nnode1,node2\n"), "t: record 0 (byte 0): found checksum"},
		{"no Example", tfrecord.AppendFrame(many, []byte{0x0a, 0x05}), fmt.Sprintf("t: record 50000 (byte %d): byte 1: found", len(many))},
		{"a feature twice", append(bytes.Clone(many), twice("i")...), fmt.Sprintf(`t: record 50000 (byte %d): found the feature "i" twice`, len(many))},
		{"a row without", append(bytes.Clone(many), examples(exampleRow{nil, nil, []string{"x"}})...), fmt.Sprintf(`t: record 50000 (byte %d): found no value in feature "i"`, len(many))},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t")
			if err := os.WriteFile(path, c.file, 0o644); err != nil {
				t.Fatal(err)
			}
			for _, threads := range []int{1, 3} {
				tab, err := OpenTFRecord(vfs.OS, []string{path})
				if err == nil {
					_, err = tabletest.Rows(tab, []table.Column{tabletest.Column("i", graph.Int64)}, threads)
				}
				if !errors.Is(err, table.ErrFormat) || !strings.Contains(fmt.Sprint(err), c.want) {
					t.Fatalf("error %v, want %s", err, c.want)
				}
			}
		})
	}
}

// The length of a record is not trusted: a length that is too large allocates no memory.
func TestTFRecordTooLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t")
	head := binary.LittleEndian.AppendUint64(nil, 2<<30)
	head = binary.LittleEndian.AppendUint32(head, tfrecord.Checksum(head))
	if err := os.WriteFile(path, head, 0o644); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int64]string{12: "found 12 bytes at the end", 100: "found a record of 2147483648 bytes, expected at most 84", 3 << 30: "expected at most 268435456; write shorter features"} {
		if err := os.Truncate(path, size); err != nil { // a long file is sparse
			t.Fatal(err)
		}
		_, err := OpenTFRecord(vfs.OS, []string{path})
		if !errors.Is(err, table.ErrFormat) || !strings.Contains(fmt.Sprint(err), want) {
			t.Fatalf("of %d bytes: error %v, want %s", size, err, want)
		}
	}
}

// A damaged compressed file gives the rows before the damage, then the error.
func TestTFRecordZippedDamage(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	file := bytes.Repeat(examples(exampleRow{[]int64{1}, nil, []string{"text"}}), 1000)
	file[len(file)-9] ^= 1
	if _, err := z.Write(file); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "t.gz")
	for name, b := range map[string][]byte{"(record 999)": zipped.Bytes(), "byte": zipped.Bytes()[:zipped.Len()-20]} {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		tab, err := OpenTFRecord(vfs.OS, []string{path})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tabletest.Rows(tab, []table.Column{tabletest.Column("i", graph.Int64)}, 2); !errors.Is(err, tfrecord.ErrCorrupt) || !errors.Is(err, table.ErrFormat) || !strings.Contains(err.Error(), name) {
			t.Fatalf("error %v, want %s", err, name)
		}
	}
}

// oracleRows reads a file record by record with the general readers.
func oracleRows(file []byte) (ints, texts []string, ok bool) {
	r := tfrecord.NewReader(bytes.NewReader(file), "t", int64(len(file)))
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return ints, texts, true
		}
		var d example.Decoder
		if err != nil || d.Decode(record) != nil {
			return nil, nil, false
		}
		i, s := d.Find("i"), d.Find("s")
		if i == nil || i.Kind != example.Int64List || i.Count != 1 || s != nil && (s.Kind == example.FloatList && s.Count > 0 || s.Count > 1) {
			return nil, nil, false
		}
		ints = append(ints, fmt.Sprint(i.AppendInts(nil)[0]))
		text := ""
		switch {
		case s == nil || s.Count == 0:
		case s.Kind == example.Int64List: // a number is a text, too
			text = fmt.Sprint(s.AppendInts(nil)[0])
		default:
			text = string(s.AppendTexts(nil)[0])
		}
		texts = append(texts, text)
	}
}

// sameRows compares a scan with the general readers.
func sameRows(t interface{ Fatalf(string, ...any) }, dir string, file []byte) {
	path := filepath.Join(dir, "t")
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatalf("%v", err)
	}
	ints, texts, ok := oracleRows(file)
	tab, err := OpenTFRecord(vfs.OS, []string{path})
	if err != nil {
		if ok && len(ints) > 0 {
			t.Fatalf("%v, but it can be read", err)
		}
		return
	}
	tab.fields = nil // rows may lack features
	got, err := tabletest.Rows(tab, []table.Column{tabletest.Column("i", graph.Int64), {Name: "s", DType: graph.String}}, 2)
	if err != nil {
		if ok && !strings.Contains(err.Error(), "twice") {
			t.Fatalf("%v, but it can be read", err)
		}
		return
	}
	if !ok || len(got) != len(ints) {
		t.Fatalf("found %d rows, want %d (%v)", len(got), len(ints), ok)
	}
	for i := range got {
		if want := ints[i] + "|" + texts[i]; got[i] != want {
			t.Fatalf("row %d is %q, want %q", i, got[i], want)
		}
	}
}

// Rows are read the same however their Examples are written: features in any order, lists packed or not, in pieces,
// with unknown fields.
func TestTFRecordWritings(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		field := func(b []byte, num protowire.Number, msg []byte) []byte {
			return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), msg)
		}
		var file []byte
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			var features []byte
			keys := rapid.Permutation([]string{"i", "s", "other"}).Draw(t, "keys")
			for _, key := range keys[:rapid.SampledFrom([]int{3, 3, 3, 2, 1}).Draw(t, "features")] {
				var list []byte
				kind := protowire.Number(3)
				v := rapid.SampledFrom([]uint64{0, 1, 300, 1 << 63, 1<<64 - 1}).Draw(t, "value")
				switch {
				case key == "s":
					kind = 1
					if rapid.IntRange(0, 5).Draw(t, "empty") > 0 {
						list = field(nil, 1, []byte(rapid.SampledFrom([]string{"", "a", strings.Repeat("long", 40)}).Draw(t, "text")))
					}
				case rapid.Bool().Draw(t, "packed"):
					list = field(nil, 1, protowire.AppendVarint(nil, v))
				default:
					list = protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), v)
				}
				feature := field(nil, kind, list)
				if rapid.IntRange(0, 5).Draw(t, "unknown") == 0 {
					feature = field(feature, 9, []byte("?"))
				}
				entry := field(field(nil, 1, []byte(key)), 2, feature)
				if rapid.IntRange(0, 5).Draw(t, "value first") == 0 {
					entry = field(field(nil, 2, feature), 1, []byte(key))
				}
				features = field(features, 1, entry)
			}
			file = tfrecord.AppendFrame(file, field(nil, 1, features))
		}
		sameRows(t, dir, file)
	})
}

func FuzzTFRecord(f *testing.F) {
	f.Add(examples(exampleRow{[]int64{1}, nil, []string{"text"}}, exampleRow{[]int64{-1}, []float32{1}, nil}), false)
	f.Add([]byte{0x0a, 0x0f, 0x0a, 0x0d, 0x0a, 0x01, 'i', 0x12, 0x08, 0x1a, 0x06, 0x0a, 0x01, 0x07, 0x0a, 0x01, 0x08}, true)
	f.Fuzz(func(t *testing.T, b []byte, framed bool) {
		fuzzing.Check(t, len(b), func() {
			if framed { // so that the change is in the record
				b = tfrecord.AppendFrame(nil, b)
			}
			sameRows(t, t.TempDir(), b)
		})
	})
}
