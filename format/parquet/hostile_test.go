package parquet_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/internal/fuzzing"
)

// sample is a small file with columns of every kind.
func sample(t testing.TB, rows int, options ...pq.WriterOption) []byte {
	var b bytes.Buffer
	w := pq.NewGenericWriter[row](&b, options...)
	for i := range rows {
		n, s := int64(i), "name"
		r := row{Bool: i%2 == 0, Int: int32(i), Long: int64(i) << 40, Text: "text", Dict: "same", Delta: "delta", List: []float32{1, 2}[:i%3], Old: []int32{7}, Deep: [][]string{{"a"}, nil, {"b", "c"}}[:i%4]}
		if i%2 == 1 {
			r.Maybe, r.Name = &n, &s
		}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readable reads up to some rows of each column and group. Its errors are the package's.
func readable(t testing.TB, b []byte) error {
	r := bytes.NewReader(b)
	f, err := parquet.Open(r, int64(len(b)))
	if err != nil {
		return err
	}
	var first error
	for g := range min(len(f.Groups), 4) {
		for i := range min(len(f.Columns), 20) {
			c := f.Reader(r, g, i)
			var rows parquet.Rows
			var err error
			for n := 0; n < 4 && err == nil; n++ {
				rows.Reset()
				if err = c.Read(&rows, 500, 1<<16); err == nil {
					check(t, &f.Columns[i], &rows)
				}
			}
			if c.Close(); !errors.Is(err, io.EOF) && first == nil {
				first = err
			}
		}
	}
	return first
}

// check checks that rows are as Rows documents.
func check(t testing.TB, c *parquet.Column, r *parquet.Rows) {
	n := r.N
	for level := range c.Lists {
		if len(r.Lengths[level]) != n {
			t.Fatalf("%s: found %d lists on level %d, expected %d", c.Name, len(r.Lengths[level]), level, n)
		}
		n = 0
		for _, k := range r.Lengths[level] {
			n += int(k)
		}
	}
	if c.Type != parquet.Bytes && len(r.Data) != n*c.Width || c.Type == parquet.Bytes && len(r.Ends) != n || r.Null != nil && len(r.Null) != r.N {
		t.Fatalf("%s: found %d bytes, %d ends, %d nulls of %d rows, expected %d values", c.Name, len(r.Data), len(r.Ends), len(r.Null), r.N, n)
	}
}

// Every cut file, and every file with a flipped byte, gives an error of the package or consistent rows, never a
// panic.
func TestDamage(t *testing.T) {
	for version := 1; version <= 2; version++ {
		b := sample(t, 12, pq.DataPageVersion(version))
		if err := readable(t, b); err != nil {
			t.Fatal(err)
		}
		for n := range b {
			if err := readable(t, b[:n]); !errors.Is(err, parquet.ErrCorrupt) && !errors.Is(err, parquet.ErrUnsupported) {
				t.Fatalf("cut at %d of %d: found %v", n, len(b), err)
			}
		}
		for i := range b {
			for _, bit := range []byte{1, 0x10, 0x80} {
				b[i] ^= bit
				if err := readable(t, b); err != nil && !errors.Is(err, parquet.ErrCorrupt) && !errors.Is(err, parquet.ErrUnsupported) {
					t.Fatalf("byte %d: found %v", i, err)
				}
				b[i] ^= bit
			}
		}
	}
}

// compact is a footer to complete.
type compact []byte

func (c compact) file(pages ...byte) []byte {
	b := append([]byte("PAR1"), pages...)
	b = append(b, c...)
	n := len(c)
	return append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24), 'P', 'A', 'R', '1')
}

// Numbers in headers that exceed the content of the file are refused and allocate nothing.
func TestPromises(t *testing.T) {
	long := strings.Repeat("\xff", 4) + "\x0f" // a varint of 32 bits
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "found 0 bytes, expected a Parquet file of at least 12"},
		{"text", []byte("id,name\n1,Ada\n2,Alan\n"), `byte 0: found "id,n", expected "PAR1"; is this a Parquet file?`},
		{"footer beyond the file", []byte("PAR1\x00\x00\x00\x80PAR1"), "found a footer of 2147483648 bytes, expected at most 0"},
		{"encrypted", []byte("PARE\x00\x00\x00\x00PARE"), "found an encrypted Parquet file"},
		{"unfinished", []byte("PAR1\x00\x00\x00\x00\x00\x00\x00\x00"), "the file is cut, or was not completed"},
		{"schema of 2^32 elements", compact("\x15\x02\x29\xfc" + long + "\x00").file(), "found bytes that are not file metadata"},
		{"no schema", compact("\x15\x02\x00").file(), "found no schema"},
		{"groups in groups", compact(strings.Repeat("\x1c", 1000)).file(), "found bytes that are not file metadata"},
		// A root that counts 2^31 columns.
		{"columns", compact("\x15\x02\x19\x1c\x48\x01s\x15\xfe\xff\xff\xff\x0f\x00\x16\x00\x19\x0c\x00").file(), "found a schema of 2147483647 columns in 1 elements"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := parquet.Open(bytes.NewReader(test.file), int64(len(test.file)))
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: found %v, expected %s", test.name, err, test.want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: found %d bytes allocated", test.name, n)
		}
	}
}

// FuzzRead reads any bytes.
func FuzzRead(f *testing.F) {
	f.Add(sample(f, 3, pq.DataPageVersion(1)))
	f.Add(sample(f, 3, pq.DataPageVersion(2)))
	f.Add(sample(f, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			if err := readable(t, b); err != nil && !errors.Is(err, parquet.ErrCorrupt) && !errors.Is(err, parquet.ErrUnsupported) {
				t.Fatal(err)
			}
		})
	})
}
