package npz_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/format/npz"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/vfs"
)

// array returns an .npy file with a header as NumPy writes it.
func array(descr string, fortran bool, shape []int, data []byte) []byte {
	dims := ""
	for _, d := range shape {
		dims += fmt.Sprintf("%d,", d)
	}
	order := map[bool]string{true: "True", false: "False"}[fortran]
	h := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }\n", descr, order, dims)
	b := []byte("\x93NUMPY\x01\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(len(h)))
	return append(append(b, h...), data...)
}

// file is a member of an archive.
type file struct {
	name   string
	data   []byte
	stored bool
}

func save(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.npz")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, f *npz.Files, name string) []byte {
	t.Helper()
	in, err := f.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(in)
	if err := errors.Join(err, in.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// Whatever its compression, byte order and order of dimensions, an array reads as a little-endian one in C order.
func TestArrays(t *testing.T) {
	parent := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "size")
		shape := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 3).Draw(t, "shape")
		fortran := len(shape) < 3 && rapid.Bool().Draw(t, "fortran")
		big := rapid.Bool().Draw(t, "big")
		n := 1
		for _, d := range shape {
			n *= d
		}
		want := rapid.SliceOfN(rapid.Byte(), n*size, n*size).Draw(t, "data")
		data := make([]byte, 0, len(want))
		put := func(i int) {
			v := slices.Clone(want[i*size:][:size])
			if big {
				slices.Reverse(v)
			}
			data = append(data, v...)
		}
		if fortran && len(shape) == 2 {
			for j := range shape[1] {
				for i := range shape[0] {
					put(i*shape[1] + j)
				}
			}
		} else {
			for i := range n {
				put(i)
			}
		}
		descr := fmt.Sprintf("%su%d", map[bool]string{true: ">", false: "<"}[big], size)
		dir, err := os.MkdirTemp(parent, "")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "a.npz")
		other := file{name: "../../etc/passwd.npy", data: array("<i8", false, []int{1}, make([]byte, 8))}
		b := archiveOf(other, file{"x.npy", array(descr, fortran, shape, data), rapid.Bool().Draw(t, "stored")})
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		files := npz.NewFiles(vfs.OS, dir)
		defer files.Close()
		for range 2 { // the second call finds it
			name, err := files.Array(context.Background(), path, "x")
			if err != nil || name != path+":x" {
				t.Fatalf("%q, %v", name, err)
			}
		}
		in, err := files.Open(path + ":x")
		if err != nil {
			t.Fatal(err)
		}
		info, err := in.Stat()
		if err != nil {
			t.Fatal(err)
		}
		h, err := npy.Read(in, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if err != nil || !bytes.Equal(got[h.Offset:], want) || !slices.Equal(h.Shape, shape) || h.Size() != size {
			t.Fatalf("found %v %v, %v; expected %v %v", h, got[h.Offset:], err, shape, want)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Fatalf("found %v, %v in the folder, expected the archive alone", entries, err)
		}
	})
}

func archiveOf(files ...file) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		if f.stored {
			h.Method = zip.Store
		}
		if w, err := z.CreateHeader(h); err == nil {
			_, _ = w.Write(f.data)
		}
	}
	_ = z.Close()
	return b.Bytes()
}

// A large array in Fortran order is turned in several tiles.
func TestManyTiles(t *testing.T) {
	const rows, columns = 5000, 4200 // more than one tile of 64 MiB
	data := make([]byte, 0, rows*columns*8)
	for j := range columns {
		for i := range rows {
			data = binary.LittleEndian.AppendUint64(data, uint64(i*columns+j))
		}
	}
	path := save(t, archiveOf(file{"x.npy", array("<i8", true, []int{rows, columns}, data), true}))
	files := npz.NewFiles(vfs.OS, t.TempDir())
	defer files.Close()
	name, err := files.Array(t.Context(), path, "x")
	if err != nil {
		t.Fatal(err)
	}
	b := read(t, files, name)[npy.HeaderSize:]
	for i := range rows * columns {
		if v := binary.LittleEndian.Uint64(b[8*i:]); v != uint64(i) {
			t.Fatalf("value %d is %d", i, v)
		}
	}
}

// patch replaces the only occurrence of some bytes in each of the given number of places.
func patch(t *testing.T, b []byte, from, to string) []byte {
	t.Helper()
	if !bytes.Contains(b, []byte(from)) {
		t.Fatalf("no %q to replace", from)
	}
	return bytes.ReplaceAll(b, []byte(from), []byte(to))
}

// directory returns the offset of the first record of the directory.
func directory(b []byte) int { return bytes.Index(b, []byte("PK\x01\x02")) }

func TestRefusals(t *testing.T) {
	ones := array("<i8", false, []int{2}, make([]byte, 16))
	one := archiveOf(file{"x.npy", ones, false})
	stored := archiveOf(file{"x.npy", ones, true}, file{"y.npy", ones, true})
	le := binary.LittleEndian
	change := func(b []byte, fn func(b []byte, d int)) []byte {
		b = slices.Clone(b)
		fn(b, directory(b))
		return b
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"no archive", []byte("x"), "found no directory of a zip archive"},
		{"empty", nil, "found no directory of a zip archive"},
		{"cut", one[:len(one)-30], "found no directory of a zip archive"},
		{"pickle", archiveOf(file{"x.npy", array("|O", false, []int{1}, make([]byte, 8)), false}), "pickle"},
		{"another array", archiveOf(file{"y.npy", ones, false}), `found the arrays y, expected "x" among them`},
		{"no array", archiveOf(file{"x", ones, false}), `found the arrays , expected "x"`},
		{"twice", archiveOf(file{"x.npy", ones, false}, file{"x.npy", ones, false}), "found the name twice"},
		{"fewer bytes than the header states", archiveOf(file{"x.npy", ones[:len(ones)-1], false}), "found 15 bytes of data, expected 16"},
		{"more bytes than the header states", archiveOf(file{"x.npy", append(slices.Clone(ones), 0), false}), "found 17 bytes of data, expected 16"},
		{"more bytes than the directory states", change(one, func(b []byte, d int) {
			le.PutUint32(b[d+24:], uint32(len(ones)-8))
		}), "found damaged data"},
		{"overlapping", change(stored, func(b []byte, d int) {
			second := d + 4 + bytes.Index(b[d+4:], []byte("PK\x01\x02"))
			le.PutUint32(b[second+42:], 0)
		}), "members that do not overlap"},
		{"outside of the file", change(stored, func(b []byte, d int) { le.PutUint32(b[d+20:], 1<<30); le.PutUint32(b[d+24:], 1<<30) }), "expected them within"},
		{"another checksum", change(one, func(b []byte, d int) { b[d+16]++ }), "checksum"},
		{"another checksum of stored data", change(stored, func(b []byte, d int) { b[d+16]++ }), "found damaged data"},
		{"other stored data", change(stored, func(b []byte, _ int) { b[bytes.Index(b, ones)+len(ones)-1] ^= 1 }), "found damaged data"},
		{"large stored data", change(archiveOf(file{"x.npy", array("<i1", false, []int{3 << 20}, make([]byte, 3<<20)), true}), func(b []byte, d int) { b[d-100] ^= 1 }), "found damaged data"},
		{"encrypted", change(one, func(b []byte, d int) { b[d+8] |= 1 }), "encrypted"},
		{"another compression", change(one, func(b []byte, d int) { b[d+10] = 14 }), "compression method 14"},
		{"stored with another size", change(stored, func(b []byte, d int) { le.PutUint32(b[d+24:], 5) }), "stored bytes of 5"},
		{"a bomb", change(archiveOf(file{"x.npy", ones, false}), func(b []byte, d int) { le.PutUint32(b[d+24:], 1<<32-2) }), "found damaged data"},
		{"Fortran order of three dimensions", archiveOf(file{"x.npy", array("<i1", true, []int{1, 1, 1}, []byte{0}), false}), "at most two dimensions"},
		{"structured", archiveOf(file{"x.npy", patch(t, ones, "'<i8'", "[1,2]"), false}), "structured"},
		{"damaged data", change(one, func(b []byte, _ int) { b[40] ^= 0xff; b[41] ^= 0xff; b[42] ^= 0xff }), "x.npy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := save(t, c.data)
			files := npz.NewFiles(vfs.OS, t.TempDir())
			defer files.Close()
			_, err := files.Array(t.Context(), path, "x")
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) || !errors.Is(err, npz.ErrFormat) && !errors.Is(err, npy.ErrFormat) {
				t.Fatalf("found %v, expected %q", err, c.want)
			}
		})
	}
}

// sized is a file system whose files have other sizes than on the disk, and zeros before their bytes.
type sized struct {
	vfs.FS
	size int64
}

type sizedFile struct {
	vfs.File
	size, pad int64
}

func (s sized) Open(name string) (vfs.File, error) {
	f, err := s.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	return sizedFile{f, s.size, s.size - info.Size()}, err
}

func (f sizedFile) Stat() (os.FileInfo, error) {
	info, err := f.File.Stat()
	return sizedInfo{info, f.size}, err
}

func (f sizedFile) ReadAt(b []byte, off int64) (int, error) {
	if off >= f.pad {
		return f.File.ReadAt(b, off-f.pad)
	}
	n := min(int64(len(b)), f.pad-off)
	clear(b[:n])
	m, err := f.File.ReadAt(b[n:], 0)
	return int(n) + m, err
}

type sizedInfo struct {
	os.FileInfo
	size int64
}

func (i sizedInfo) Size() int64 { return i.size }

// The numbers of a directory demand nothing: an archive of a terabyte that states a billion members is refused before
// anything is allocated for them, and so are a bomb and arrays that no disk holds.
func TestBombs(t *testing.T) {
	le := binary.LittleEndian
	// The end of the directory in the form of zip64.
	end64 := func(records, size, offset uint64) []byte {
		b := make([]byte, 56+20+22)
		copy(b, "PK\x06\x06")
		le.PutUint64(b[4:], 44)
		le.PutUint64(b[24:], records)
		le.PutUint64(b[32:], records)
		le.PutUint64(b[40:], size)
		le.PutUint64(b[48:], offset)
		copy(b[56:], "PK\x06\x07")
		le.PutUint64(b[64:], 1<<40-uint64(len(b)))
		copy(b[76:], "PK\x05\x06")
		for i := 84; i < 96; i++ {
			b[i] = 0xff
		}
		return b
	}
	path := save(t, end64(1<<30, 0, 0))
	if _, err := npz.Open(sized{vfs.OS, 1 << 40}, path); err == nil || !strings.Contains(err.Error(), "found 1073741824 members, expected at most 65536") {
		t.Errorf("found %v", err)
	}
	// A directory of a terabyte.
	path = save(t, end64(5, 1<<39, 1<<38))
	if _, err := npz.Open(sized{vfs.OS, 1 << 40}, path); err == nil || !errors.Is(err, npz.ErrFormat) {
		t.Errorf("found %v", err)
	}
	// A member of more than 4 GiB: 100 bytes that state 1 TB.
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "x.npy", Method: zip.Deflate, CompressedSize64: 100, UncompressedSize64: 1 << 40})
	if err == nil {
		_, err = w.Write(make([]byte, 100))
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := npz.Open(vfs.OS, save(t, b.Bytes())); err == nil || !strings.Contains(err.Error(), "found 1099511627776 bytes in 100 compressed ones, expected at most 256 times as many") {
		t.Errorf("found %v", err)
	}
	// An array that does not fit the disk.
	f := npz.NewFiles(vfs.OS, t.TempDir())
	defer f.Close()
	err = f.New("x", "i8", []int{1 << 55}, func(vfs.File, int64) error { t.Error("written"); return nil })
	if err == nil || !strings.Contains(err.Error(), "free bytes") {
		t.Errorf("found %v", err)
	}
}

func TestSmall(t *testing.T) {
	le := binary.LittleEndian
	path := save(t, archiveOf(
		file{"a.npy", array("<i4", false, []int{2}, le.AppendUint32(le.AppendUint32(nil, 7), 0xffffffff)), false},
		file{"b.npy", array(">i8", false, []int{}, binary.BigEndian.AppendUint64(nil, 300)), true},
		file{"c.npy", array("|u1", false, []int{1}, []byte{255}), true},
		file{"large.npy", array("|u1", false, []int{1 << 17}, make([]byte, 1<<17)), false},
		file{"f.npy", array("<f4", false, []int{1}, make([]byte, 4)), false},
		file{"format.npy", array("|S3", false, nil, []byte("csr")), true},
		file{"README", []byte("x"), false},
	))
	a, err := npz.Open(vfs.OS, path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if names := strings.Join(a.Names(), " "); names != "a b c large f format" || a.Has("README") {
		t.Errorf("found %s", names)
	}
	for name, want := range map[string][]int64{"a": {7, -1}, "b": {300}, "c": {255}} {
		if v, ok, err := a.Int64s(name); err != nil || !ok || !slices.Equal(v, want) {
			t.Errorf("%s: found %v %v %v, expected %v", name, v, ok, err, want)
		}
	}
	if _, ok, err := a.Int64s("large"); ok || err != nil {
		t.Errorf("found %v %v", ok, err)
	}
	if _, _, err := a.Int64s("f"); err == nil || !strings.Contains(err.Error(), "found f4, expected integers") {
		t.Errorf("found %v", err)
	}
	if text, err := a.Text("format"); err != nil || text != "csr" {
		t.Errorf("found %q, %v", text, err)
	}
	if _, err := a.Text("a"); err == nil || !strings.Contains(err.Error(), "expected one string of bytes") {
		t.Errorf("found %v", err)
	}
}

// Several goroutines unpack the arrays that one unpacks, and the first error counts.
func TestUnpack(t *testing.T) {
	var files []file
	var names []string
	for i := range 20 {
		name := fmt.Sprint(i)
		files = append(files, file{name: name + ".npy", data: array("<u1", false, []int{1000 + i}, bytes.Repeat([]byte{byte(i)}, 1000+i))})
		names = append(names, name)
	}
	path := save(t, archiveOf(append(files, file{name: "bad1.npy", data: []byte("x")}, file{name: "bad2.npy", data: []byte("x")})...))
	f := npz.NewFiles(vfs.OS, t.TempDir())
	defer f.Close()
	if err := f.Unpack(t.Context(), path, names, 4); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if b := read(t, f, path+":"+name); !bytes.Equal(b[npy.HeaderSize:], bytes.Repeat([]byte{byte(i)}, 1000+i)) {
			t.Errorf("array %s differs", name)
		}
	}
	if err := f.Unpack(t.Context(), path, []string{"0", "bad1", "bad2", "none"}, 1); err == nil || !strings.Contains(err.Error(), "bad1.npy") {
		t.Errorf("found %v", err)
	}
}

// A cancelled context ends the unpacking, and whichever call fails, the error says so and nothing is left.
func TestFaults(t *testing.T) {
	x := array(">i8", true, []int{3, 2}, make([]byte, 48))
	path := save(t, archiveOf(file{"x.npy", x, false}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := npz.NewFiles(vfs.OS, t.TempDir())
	if _, err := f.Array(ctx, path, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	run := func(fsys vfs.FS) error {
		f := npz.NewFiles(fsys, t.TempDir())
		_, err := f.Array(t.Context(), path, "x")
		return errors.Join(err, f.Close())
	}
	count := &vfs.Fault{FS: vfs.OS}
	if err := run(count); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for k := int64(1); k <= count.Calls(); k++ {
		if err := run(&vfs.Fault{FS: vfs.OS, FailAt: k, Err: broken, Short: k%2 == 0}); !errors.Is(err, broken) {
			t.Errorf("call %d of %d fails: found %v", k, count.Calls(), err)
		}
	}
}

func FuzzArchive(f *testing.F) {
	x := array("<i8", false, []int{2}, make([]byte, 16))
	f.Add(archiveOf(file{"x.npy", x, false}))
	f.Add(archiveOf(file{"x.npy", x, true}, file{"shape.npy", x, true}, file{"format.npy", array("|S3", false, nil, []byte("csr")), false}))
	f.Add(archiveOf(file{"x.npy", array(">i2", true, []int{2, 3}, make([]byte, 12)), false}))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			path := filepath.Join(dir, "a.npz")
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			files := npz.NewFiles(vfs.OS, dir)
			defer files.Close()
			a, err := files.Archive(path)
			if err != nil {
				if !errors.Is(err, npz.ErrFormat) {
					t.Fatalf("found %v, expected an ErrFormat", err)
				}
				return
			}
			for _, name := range a.Names() {
				_, _, _ = a.Int64s(name)
				_, _ = a.Text(name)
				h, err := a.Header(name)
				if err != nil || h.Values()*h.Size() > 1<<20 {
					continue
				}
				at, err := files.Array(t.Context(), path, name)
				if err != nil {
					continue
				}
				if got := read(t, files, at); len(got) < h.Values()*h.Size() {
					t.Fatalf("found %d bytes of %v", len(got), h)
				}
			}
		})
	})
}
