package npz

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/internal/vfs"
)

// MaxMembers bounds the number of members of an archive.
const MaxMembers = 1 << 16

const (
	maxDirectory = 64 << 20
	// maxHead covers the header of every array that package npy accepts.
	maxHead = 16 << 10
	// A member of more than bigMember bytes is at most maxRatio times as large as its compressed bytes.
	bigMember = 4 << 30
	maxRatio  = 256
)

// ErrFormat is wrapped by every error about the content of an archive.
var ErrFormat = errors.New("not a usable .npz file")

// ErrDamaged is wrapped, besides ErrFormat, by errors about an array that is not the one that was saved.
var ErrDamaged = errors.New("found damaged data")

// Archive is an open .npz file.
type Archive struct {
	path    string
	file    vfs.File
	names   []string
	members map[string]*member
}

// member is an array of an archive.
type member struct {
	*zip.File
	offset int64 // of its bytes
}

func (a *Archive) bad(format string, args ...any) error {
	return fmt.Errorf("%s: %w: "+format, append([]any{a.path, ErrFormat}, args...)...)
}

// Open reads and checks the directory of an archive. The caller closes it.
func Open(fsys vfs.FS, path string) (_ *Archive, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	a := &Archive{path: path, file: f, members: map[string]*member{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := a.count(info.Size()); err != nil {
		return nil, err
	}
	directory := &bounded{r: f, left: maxDirectory}
	z, err := zip.NewReader(directory, info.Size())
	switch {
	case directory.left < 0:
		return nil, a.bad("found a directory of more than %d bytes, expected less", maxDirectory)
	case errors.Is(err, zip.ErrInsecurePath): // names are not used as paths
	case err != nil:
		return nil, a.problem("", err)
	}
	directory.free = true
	z.RegisterDecompressor(zip.Deflate, func(r io.Reader) io.ReadCloser { return flate.NewReader(r) })
	return a, a.list(z, info.Size())
}

// problem turns an error of package zip into one of this package, and leaves errors of the file system.
func (a *Archive) problem(name string, err error) error {
	var corrupt flate.CorruptInputError
	var internal flate.InternalError
	if !errors.Is(err, zip.ErrFormat) && !errors.Is(err, zip.ErrAlgorithm) && !errors.Is(err, zip.ErrChecksum) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) &&
		!errors.As(err, &corrupt) && !errors.As(err, &internal) && !strings.HasPrefix(err.Error(), "zip: ") {
		return err
	}
	if name != "" {
		return a.bad("%q: %w (%w), expected those that were saved; copy the file again", name, ErrDamaged, err)
	}
	return a.bad("found no directory of a zip archive (%w), expected one; the file is cut or is no .npz", err)
}

// bounded reads a number of bytes at most, until it is free.
type bounded struct {
	r    io.ReaderAt
	left int64
	free bool
}

func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	if !b.free {
		b.left -= int64(len(p))
	}
	if b.left < 0 || off < 0 {
		return 0, zip.ErrFormat
	}
	return b.r.ReadAt(p, off)
}

// count refuses an archive whose last record states too many members, for which package zip would allocate.
func (a *Archive) count(size int64) error {
	const end, locator, end64 = 22, 20, 56
	tail := make([]byte, min(size, 1<<16+end+locator))
	if _, err := a.file.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	at := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if at < 0 || at+end > len(tail) {
		return nil // package zip says what is wrong
	}
	records := uint64(binary.LittleEndian.Uint16(tail[at+10:]))
	if before := at - locator; before >= 0 && string(tail[before:before+4]) == "PK\x06\x07" {
		b := make([]byte, end64)
		from := int64(binary.LittleEndian.Uint64(tail[before+8:]))
		if from < 0 || from > size-end64 {
			return a.bad("found the end of the directory at %d of %d bytes, expected it in the file", from, size)
		}
		if _, err := a.file.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		records = max(records, binary.LittleEndian.Uint64(b[32:]))
	}
	if records > MaxMembers {
		return a.bad("found %d members, expected at most %d", records, MaxMembers)
	}
	return nil
}

// list checks all members, and takes those that are arrays.
func (a *Archive) list(z *zip.Reader, size int64) error {
	if len(z.File) > MaxMembers {
		return a.bad("found %d members, expected at most %d", len(z.File), MaxMembers)
	}
	all := make([]member, len(z.File))
	for i, f := range z.File {
		m := &all[i]
		m.File = f
		var err error
		if m.offset, err = f.DataOffset(); err != nil {
			return a.problem(f.Name, err)
		}
		if f.CompressedSize64 > uint64(size) || m.offset > size-int64(f.CompressedSize64) {
			return a.bad("%q: found %d bytes at %d, expected them within the %d of the file", f.Name, f.CompressedSize64, m.offset, size)
		}
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		switch {
		case a.members[name] != nil:
			return a.bad("%q: found the name twice, expected each once", f.Name)
		case f.Flags&1 != 0:
			return a.bad("%q: found an encrypted member, expected none", f.Name)
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return a.bad("%q: found compression method %d, expected none or deflate, as NumPy writes; save the arrays again with numpy.savez", f.Name, f.Method)
		case f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64:
			return a.bad("%q: found %d stored bytes of %d, expected all of them", f.Name, f.CompressedSize64, f.UncompressedSize64)
		case f.UncompressedSize64 > bigMember && f.UncompressedSize64/maxRatio > f.CompressedSize64:
			return a.bad("%q: found %d bytes in %d compressed ones, expected at most %d times as many; unpack the archive and use the .npy files if it is to be trusted", f.Name, f.UncompressedSize64, f.CompressedSize64, maxRatio)
		}
		a.members[name] = m
		a.names = append(a.names, name)
	}
	slices.SortFunc(all, func(x, y member) int { return cmp.Compare(x.offset, y.offset) })
	for i := 1; i < len(all); i++ {
		if before := &all[i-1]; before.offset+int64(before.CompressedSize64) > all[i].offset {
			return a.bad("%q: found bytes that %q also has, expected members that do not overlap", all[i].Name, before.Name)
		}
	}
	return nil
}

// Path is the path of the archive.
func (a *Archive) Path() string { return a.path }

// Names are the names of the arrays, without .npy, in the order of the directory.
func (a *Archive) Names() []string { return a.names }

// Has says whether the archive has an array.
func (a *Archive) Has(name string) bool { return a.members[name] != nil }

// Close closes the file.
func (a *Archive) Close() error { return a.file.Close() }

// head returns the first bytes of a member, at most n.
func (a *Archive) head(name string, n int64) (_ *member, b []byte, err error) {
	m := a.members[name]
	if m == nil {
		return nil, nil, a.bad("found the arrays %s, expected %q among them", strings.Join(a.names[:min(len(a.names), 20)], ", "), name)
	}
	r, err := m.Open()
	if err != nil {
		return nil, nil, a.problem(m.Name, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	b, err = io.ReadAll(io.LimitReader(r, n))
	if err == nil && uint64(len(b)) == m.UncompressedSize64 {
		_, err = io.Copy(io.Discard, r) // the end, which checks the checksum
	}
	if err != nil {
		return nil, nil, a.problem(m.Name, err)
	}
	return m, b, nil
}

// Header reads the header of an array.
func (a *Archive) Header(name string) (npy.Header, error) {
	_, h, _, err := a.header(name)
	return h, err
}

func (a *Archive) header(name string) (*member, npy.Header, npy.Layout, error) {
	m, b, err := a.head(name, maxHead)
	if err != nil {
		return nil, npy.Header{}, npy.Layout{}, err
	}
	h, l, err := npy.ReadLayout(bytes.NewReader(b), int64(min(m.UncompressedSize64, 1<<62)))
	if err != nil {
		err = fmt.Errorf("%s: %q: %w", a.path, m.Name, err)
	}
	return m, h, l, err
}

// maxSmall bounds the arrays that Int64s and Text return.
const maxSmall = 64 << 10

// Int64s returns the values of a small array of integers or bools. ok is false for arrays of more than 64 KiB, which
// are not read.
func (a *Archive) Int64s(name string) (values []int64, ok bool, err error) {
	m, b, err := a.head(name, maxSmall)
	if err != nil {
		return nil, false, err
	}
	h, l, err := npy.ReadLayout(bytes.NewReader(b), int64(min(m.UncompressedSize64, 1<<62)))
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("%s: %q: %w", a.path, m.Name, err)
	case h.Descr[0] == 'f':
		return nil, false, a.bad("%q: found %s, expected integers", m.Name, h.Descr)
	case m.UncompressedSize64 > uint64(len(b)):
		return nil, false, nil
	}
	size := h.Size()
	for data := b[h.Offset:]; len(data) > 0; data = data[size:] {
		var v uint64
		for i, c := range data[:size] {
			if l.BigEndian {
				i = size - 1 - i
			}
			v |= uint64(c) << (8 * i)
		}
		if shift := 64 - 8*size; h.Descr[0] == 'i' {
			v = uint64(int64(v<<shift) >> shift)
		}
		values = append(values, int64(v))
	}
	return values, true, nil
}

// Text returns the text of an array of one string of bytes or of code points below 128.
func (a *Archive) Text(name string) (string, error) {
	m, b, err := a.head(name, maxSmall)
	if err != nil {
		return "", err
	}
	text, err := npy.ReadText(b)
	if err != nil {
		return "", fmt.Errorf("%s: %q: %w", a.path, m.Name, err)
	}
	return text, nil
}
