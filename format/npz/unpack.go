package npz

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/internal/vfs"
)

const (
	unpackBuffer = 1 << 20 // a multiple of the size of every value
	tileSize     = 64 << 20
)

// unpacking is an array that is being read from an archive.
type unpacking struct {
	archive *Archive
	member  *member
	header  npy.Header
	layout  npy.Layout
	r       io.Reader
}

// Check reads an array to its end, where its checksum is compared. The error of another one is of kind ErrDamaged.
func (a *Archive) Check(ctx context.Context, name string) (err error) {
	m := a.members[name]
	r, err := m.Open()
	if err != nil {
		return a.problem(m.Name, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	buf := make([]byte, min(unpackBuffer, m.UncompressedSize64+1))
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch _, err := r.Read(buf); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return a.problem(m.Name, err)
		}
	}
}

// to writes the values to a file in the order of the archive, little-endian.
func (u *unpacking) to(ctx context.Context, file vfs.File, offset int64) error {
	if _, err := io.CopyN(io.Discard, u.r, u.header.Offset); err != nil {
		return u.archive.problem(u.member.Name, err)
	}
	left := int64(u.header.Values()) * int64(u.header.Size())
	buf := make([]byte, min(unpackBuffer, left+1))
	for left > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b := buf[:min(int64(len(buf)), left)]
		if _, err := io.ReadFull(u.r, b); err != nil {
			return u.archive.problem(u.member.Name, err)
		}
		if u.layout.BigEndian {
			for size := u.header.Size(); len(b) > 0; b = b[size:] {
				slices.Reverse(b[:size])
			}
			b = buf[:min(int64(len(buf)), left)]
		}
		if _, err := file.WriteAt(b, offset); err != nil {
			return err
		}
		offset, left = offset+int64(len(b)), left-int64(len(b))
	}
	// The end checks the checksum.
	switch n, err := u.r.Read(buf[:1]); {
	case n > 0:
		return u.archive.bad("%q: found more bytes than the %d that the directory states, expected so many", u.member.Name, u.member.UncompressedSize64)
	case err != nil && !errors.Is(err, io.EOF):
		return u.archive.problem(u.member.Name, err)
	}
	return nil
}

// transpose writes a two-dimensional array in Fortran order to a file in C order, in tiles.
func transpose(ctx context.Context, to vfs.File, offset int64, from vfs.File, h npy.Header) error {
	rows, columns, size := h.Shape[0], h.Shape[1], h.Size()
	if rows == 0 || columns == 0 {
		return nil
	}
	a, b := tile(rows, columns, tileSize/size)
	in, out := make([]byte, a*b*size), make([]byte, a*b*size)
	for i := 0; i < rows; i += a {
		for j := 0; j < columns; j += b {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			n, m := min(a, rows-i), min(b, columns-j)
			for k := range m {
				if _, err := from.ReadAt(in[k*n*size:][:n*size], int64((j+k)*rows+i)*int64(size)); err != nil {
					return err
				}
			}
			for k := range m {
				for r := range n {
					copy(out[(r*m+k)*size:][:size], in[(k*n+r)*size:])
				}
			}
			for r := range n {
				if _, err := to.WriteAt(out[r*m*size:][:m*size], offset+int64((i+r)*columns+j)*int64(size)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// tile returns the sides of a tile of at most the given number of values: all of the shorter dimension if it can be, so
// that reads or writes are long.
func tile(rows, columns, values int) (a, b int) {
	const least = 1 << 12
	a, b = min(rows, least), min(columns, least)
	if columns <= rows {
		a = min(rows, values/b)
	} else {
		b = min(columns, values/a)
	}
	return a, b
}
