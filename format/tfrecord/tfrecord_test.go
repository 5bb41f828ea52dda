package tfrecord

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// readAll returns the records of a file and the error that ended it (nil at the end).
func readAll(t testing.TB, r *Reader) ([][]byte, error) {
	t.Helper()
	var records [][]byte
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return records, err
		}
		records = append(records, bytes.Clone(b))
	}
}

// The frame of "abc", computed bit by bit from the definition.
func TestFrameBytes(t *testing.T) {
	got := hex.EncodeToString(AppendFrame([]byte("before"), []byte("abc"))[6:])
	const want = "0300000000000000" + "b099490e" + "616263" + "6e57f121"
	if got != want {
		t.Fatalf("found %s, expected %s", got, want)
	}
	// The check value of CRC-32C is 0xe3069283.
	c := uint32(0xe3069283)
	if got, want := Checksum([]byte("123456789")), (c>>15|c<<17)+0xa282ead8; got != want {
		t.Fatalf("found %08x, expected %08x", got, want)
	}
}

func TestReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 300), 0, 20).Draw(t, "records")
		var file []byte
		for _, r := range records {
			file = AppendFrame(file, r)
		}
		size := int64(len(file))
		if rapid.Bool().Draw(t, "size unknown") {
			size = -1
		}
		r := NewReader(bytes.NewReader(file), "f", size)
		for i, want := range records {
			got, err := r.Next()
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("record %d: found %x, %v, expected %x", i, got, err, want)
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("found %v, expected io.EOF", err)
		}
		if r.offset != int64(len(file)) {
			t.Fatalf("found offset %d, expected %d", r.offset, len(file))
		}
	})
}

func testFile() []byte {
	var file []byte
	for _, s := range []string{"", "a", "the second record", strings.Repeat("x", 100)} {
		file = AppendFrame(file, []byte(s))
	}
	return file
}

// Every flipped bit, and every cut that is not at the end of a frame, is detected.
func TestDamageIsFound(t *testing.T) {
	file := testFile()
	for _, size := range []int64{-1, int64(len(file))} {
		for bit := range len(file) * 8 {
			bad := bytes.Clone(file)
			bad[bit/8] ^= 1 << (bit % 8)
			if _, err := readAll(t, NewReader(bytes.NewReader(bad), "f", size)); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("bit %d flipped: found error %v, expected ErrCorrupt", bit, err)
			}
		}
	}
	ends := map[int]bool{0: true, 16: true, 33: true, 66: true, len(file): true}
	for n := range len(file) {
		records, err := readAll(t, NewReader(bytes.NewReader(file[:n]), "f", int64(n)))
		if ends[n] != (err == nil) {
			t.Fatalf("cut at %d: found %d records and error %v", n, len(records), err)
		}
	}
}

// The length of a record in a header is not trusted.
func TestLengthAloneAllocatesNothing(t *testing.T) {
	for _, n := range []uint64{1 << 30, 1 << 40, 1 << 62, 1<<64 - 1} {
		for _, known := range []bool{true, false} {
			head := make([]byte, headerSize, 100)
			binary.LittleEndian.PutUint64(head, n)
			binary.LittleEndian.PutUint32(head[8:], Checksum(head[:8]))
			file := append(head, "some bytes"...)
			size := int64(-1)
			if known {
				size = int64(len(file))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := readAll(t, NewReader(bytes.NewReader(file), "f", size))
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("length %d: found error %v, expected ErrCorrupt", n, err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
				t.Errorf("length %d: allocated %d bytes", n, got)
			}
		}
	}
}

func TestErrorNamesFileAndOffset(t *testing.T) {
	file := testFile()
	file[40] ^= 1
	_, err := readAll(t, NewReader(bytes.NewReader(file), "dir/a.tfrecord", int64(len(file))))
	if err == nil || !strings.HasPrefix(err.Error(), "dir/a.tfrecord: byte 33: found checksum ") {
		t.Fatalf("found %v", err)
	}
}

func TestOffsetAndLimit(t *testing.T) {
	r := NewReader(bytes.NewReader(testFile()), "f", -1)
	r.Limit(20)
	for _, want := range []int64{0, 16, 33} {
		if _, err := r.Next(); err != nil || r.Offset() != want {
			t.Fatalf("found offset %d, %v, expected %d", r.Offset(), err, want)
		}
	}
	if _, err := r.Next(); !errors.Is(err, ErrTooLong) || !strings.HasPrefix(err.Error(), "f: byte 66: found a record of 100 bytes, expected at most 20") {
		t.Fatalf("found %v", err)
	}
}

// A length that no protobuf message can have is refused before the record is read, since a gzip stream of a few bytes
// could contain such a record.
func TestLongestRecord(t *testing.T) {
	head := binary.LittleEndian.AppendUint64(nil, longest+1)
	head = binary.LittleEndian.AppendUint32(head, Checksum(head))
	if _, err := NewReader(bytes.NewReader(head), "f", -1).Next(); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "expected at most 2147483647") {
		t.Errorf("found %v", err)
	}
}

// Bytes after the end of a gzip stream are not reported as a cut frame.
func TestBytesBehindGzip(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(testFile())
	_ = z.Close()
	for _, tail := range []string{"x", "garbage", "more than a gzip header"} {
		r, err := Open(strings.NewReader(zipped.String()+tail), "f", -1)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readAll(t, r); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "compressed") {
			t.Errorf("%q: found %d records, %v", tail, len(got), err)
		}
	}
}

// A record larger than one step of growth.
func TestLargeRecord(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789"), step/2)
	file := AppendFrame(AppendFrame(nil, big), []byte("small"))
	got, err := readAll(t, NewReader(bytes.NewReader(file), "f", -1))
	if err != nil || len(got) != 2 || !bytes.Equal(got[0], big) || string(got[1]) != "small" {
		t.Fatalf("found %d records, %v", len(got), err)
	}
}

func TestGzip(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(testFile()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, file := range [][]byte{testFile(), zipped.Bytes()} {
		r, err := Open(bytes.NewReader(file), "f", int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(t, r)
		if err != nil || len(got) != 4 || string(got[2]) != "the second record" {
			t.Fatalf("found %q, %v", got, err)
		}
	}
	for n := range zipped.Len() {
		r, err := Open(bytes.NewReader(zipped.Bytes()[:n]), "f", int64(n))
		if err == nil {
			_, err = readAll(t, r)
		}
		if n > 0 && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut at %d: found error %v, expected ErrCorrupt", n, err)
		}
	}
}

// Damage to a gzip stream is detected, whichever byte differs. The ten bytes of the header after the magic do not
// affect the content.
func TestDamagedGzip(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(testFile())
	_ = z.Close()
	for i := 10; i < zipped.Len(); i++ {
		bad := bytes.Clone(zipped.Bytes())
		bad[i] ^= 0x5a
		r, err := Open(bytes.NewReader(bad), "f", int64(len(bad)))
		if err == nil {
			_, err = readAll(t, r)
		}
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d: found error %v, expected ErrCorrupt", i, err)
		}
	}
}

type failing struct{ r io.Reader }

var errRead = errors.New("the disk is gone")

func (f failing) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	if errors.Is(err, io.EOF) {
		err = errRead
	}
	return n, err
}

func TestReadErrorIsKept(t *testing.T) {
	for n := range len(testFile()) {
		_, err := readAll(t, NewReader(failing{bytes.NewReader(testFile()[:n])}, "f", -1))
		if !errors.Is(err, errRead) {
			t.Fatalf("after %d bytes: found %v, expected the reader's error", n, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(testFile(), true)
	f.Add(testFile()[:50], false)
	f.Add([]byte{0x1f, 0x8b, 8}, false)
	f.Fuzz(func(t *testing.T, file []byte, known bool) {
		fuzzing.Check(t, len(file), func() {
			size := int64(-1)
			if known {
				size = int64(len(file))
			}
			r, err := Open(bytes.NewReader(file), "f", size)
			if err != nil {
				return
			}
			records, err := readAll(t, r)
			if err != nil {
				return
			}
			// A file that was read without an error is written back with the same bytes, unless it was compressed.
			var again []byte
			for _, b := range records {
				again = AppendFrame(again, b)
			}
			if !bytes.HasPrefix(file, []byte{0x1f, 0x8b}) && !bytes.Equal(again, file) {
				t.Fatalf("%d records were not written back the same", len(records))
			}
		})
	})
}

// TestBomb reads a record that gzip expands a thousand times: it is refused, with little memory, whether the size of the stream
// is known or not, and a record of random bytes is read.
func TestBomb(t *testing.T) {
	const huge = 128 << 20
	zip := func(record io.Reader, n int64) []byte {
		var out bytes.Buffer
		z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
		var head [12]byte
		binary.LittleEndian.PutUint64(head[:], uint64(n))
		binary.LittleEndian.PutUint32(head[8:], Checksum(head[:8]))
		_, _ = z.Write(head[:])
		b, _ := io.ReadAll(record)
		_, _ = z.Write(b)
		_ = z.Close()
		return out.Bytes()
	}
	file := zip(bytes.NewReader(make([]byte, huge)), huge)
	for _, size := range []int64{int64(len(file)), -1} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := Open(bytes.NewReader(file), "f", size)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Next()
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrTooLong) || !strings.Contains(err.Error(), "found a record of 134217728 bytes in a compressed file, expected at most") {
			t.Errorf("size %d: found %v", size, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 80<<20 {
			t.Errorf("size %d: allocated %d bytes", size, n)
		}
	}
	random := make([]byte, 20<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	random = binary.LittleEndian.AppendUint32(random, Checksum(random))
	file = zip(bytes.NewReader(random), 20<<20)
	for _, size := range []int64{int64(len(file)), -1} {
		r, err := Open(bytes.NewReader(file), "f", size)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := r.Next(); err != nil || len(b) != 20<<20 {
			t.Errorf("size %d: found %d bytes, %v", size, len(b), err)
		}
	}
}
