package cluster

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// Engines such as Beam's Flink hold all records of a key in memory. The records of a large part therefore have several keys,
// its slices. Slice writes the records of a key to a file, each after its size as a u32, and Gather reads those files.

// Slice writes the records of a key, and returns the part that they are of.
func (s *Site) Slice(ctx context.Context, key int64, records func() ([]byte, bool)) (part int64, err error) {
	defer guard.Catch(&err)()
	part = key / int64(s.Work.Slices)
	if key < 0 || part >= int64(s.Work.Parts) {
		return 0, fmt.Errorf("found key %d, expected a slice of one of %d parts; use the same version on all machines", key, s.Work.Parts)
	}
	name := s.sliceFile(key)
	if made, err := vfs.Exists(s.fs, name); made || err != nil {
		return part, err // made by an earlier call
	}
	f, err := s.fs.Create(filepath.Join(s.Dir, makingDir, workfolder.Unique()))
	if err != nil {
		return 0, err
	}
	err = writeRecords(ctx, f, records)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = s.fs.Rename(f.Name(), name)
	}
	if err != nil {
		return 0, errors.Join(err, s.fs.Remove(f.Name()))
	}
	return part, s.fs.SyncDir(filepath.Dir(name))
}

func writeRecords(ctx context.Context, f vfs.File, records func() ([]byte, bool)) error {
	w := bufio.NewWriterSize(f, 256<<10)
	for b, ok := records(); ok; b, ok = records() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := w.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(b)))); err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (s *Site) sliceFile(key int64) string {
	return filepath.Join(s.Dir, s.Work.slicesDir(), fmt.Sprint(key))
}

// sliceReader reads the records of a part from its slices, of which those without records are missing.
type sliceReader struct {
	s         *Site
	at        int64 // key of the next slice
	end       int64
	data      []byte // the rest of the slice
	unmap     func() error
	firstFail error
}

func (s *Site) slices(part int) *sliceReader {
	from := int64(part) * int64(s.Work.Slices)
	return &sliceReader{s: s, at: from, end: from + int64(s.Work.Slices)}
}

// next gives the next record. It ends at an error, which close returns.
func (r *sliceReader) next() ([]byte, bool) {
	for len(r.data) == 0 {
		if r.fail(r.free()); r.firstFail != nil || r.at == r.end {
			return nil, false
		}
		f, err := r.s.fs.Open(r.s.sliceFile(r.at))
		r.at++
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			r.fail(err)
			return nil, false
		}
		data, unmap, err := f.Map()
		if err = errors.Join(err, f.Close()); err != nil {
			r.fail(err)
			return nil, false
		}
		r.data, r.unmap = data, unmap
	}
	if len(r.data) >= 4 {
		if n := int(binary.LittleEndian.Uint32(r.data)); n <= len(r.data)-4 {
			b := r.data[4 : 4+n]
			r.data = r.data[4+n:]
			return b, true
		}
	}
	r.fail(fmt.Errorf("%s: found a record that is cut off, expected a whole file", r.s.sliceFile(r.at-1)))
	return nil, false
}

func (r *sliceReader) fail(err error) {
	if r.firstFail == nil {
		r.firstFail = err
	}
}

func (r *sliceReader) free() (err error) {
	if r.unmap != nil {
		err = r.unmap()
	}
	r.data, r.unmap = nil, nil
	return err
}

// close frees the slice that was read last.
func (r *sliceReader) close() error {
	r.fail(r.free())
	return r.firstFail
}
