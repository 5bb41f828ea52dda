package chunk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Set is the chunks of an edge type.
type Set struct {
	Name       string // file of chunks
	InfoName   string // chunk-info file
	ChunkBytes int64
	Far        uint64 // neighbours are below it
	Rows       []Row
}

// OpenSet reads the start ids and the header of each chunk of an edge type, and checks them against each other and
// against the sizes of the files.
func OpenSet(fsys vfs.FS, dir string, m *Metadata, edges string) (_ *Set, err error) {
	e, ok := m.Edges[edges]
	if !ok {
		return nil, badf("%s: found no edge type %s, expected it", filepath.Join(dir, File), edges)
	}
	near, far, err := e.Ends(edges)
	if err != nil {
		return nil, err
	}
	s := &Set{
		Name: filepath.Join(dir, filepath.FromSlash(e.Chunks)), InfoName: filepath.Join(dir, filepath.FromSlash(e.Info)),
		ChunkBytes: m.ChunkBytes, Far: m.Nodes[far],
	}
	info, err := vfs.Regular(fsys, s.Name)
	if err != nil {
		return nil, err
	}
	chunks := (info.Size() + m.ChunkBytes - 1) / m.ChunkBytes
	starts, err := s.starts(fsys, chunks, m.Nodes[near])
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(s.Name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	nodes, total := m.Nodes[near], uint64(0)
	for i, start := range starts {
		end := nodes
		if i+1 < len(starts) {
			end = uint64(starts[i+1])
		}
		r, err := s.head(f, i, start, uint32(end-uint64(start)), info.Size())
		if err != nil {
			return nil, err
		}
		s.Rows = append(s.Rows, r)
		total += r.Edges
	}
	if len(starts) == 0 && nodes > 0 {
		return nil, badf("%s: found no chunks, expected those of %d nodes of type %s", s.Name, nodes, near)
	}
	if total != e.Count {
		return nil, badf("%s: found %d neighbours, expected the %d edges of %s", s.Name, total, e.Count, File)
	}
	return s, nil
}

// starts reads the start ids of the given number of chunks, which together hold nodes nodes.
func (s *Set) starts(fsys vfs.FS, chunks int64, nodes uint64) ([]uint32, error) {
	info, err := vfs.Regular(fsys, s.InfoName)
	if err != nil {
		return nil, err
	}
	if info.Size() != 4*chunks {
		return nil, badf("%s: found %d bytes, expected %d: 4 for each of the %d chunks of %s", s.InfoName, info.Size(), 4*chunks, chunks, s.Name)
	}
	b, err := vfs.ReadFile(fsys, s.InfoName, 4*chunks)
	if err != nil {
		return nil, err
	}
	starts := make([]uint32, len(b)/4)
	for i := range starts {
		starts[i] = binary.LittleEndian.Uint32(b[4*i:])
		if i == 0 && starts[i] != 0 || i > 0 && starts[i] <= starts[i-1] || uint64(starts[i]) >= nodes {
			return nil, badf("%s: byte %d: found the start id %d, expected ids that ascend from 0 and are below %d, the number of nodes", s.InfoName, 4*i, starts[i], nodes)
		}
	}
	return starts, nil
}

// Offset is the byte offset of chunk i in its file.
func (s *Set) Offset(i int) int64 { return int64(i) * s.ChunkBytes }

// Place names a word of a chunk in errors.
func (s *Set) Place(i int, word uint64) string {
	return fmt.Sprintf("%s: chunk %d, byte %d", s.Name, i, s.Offset(i)+4*int64(word))
}

// head reads the first words and the last offset of a chunk.
func (s *Set) head(f vfs.File, i int, start, nodes uint32, size int64) (Row, error) {
	r := Row{Start: start, Nodes: nodes}
	words := uint64(min(s.ChunkBytes, size-s.Offset(i))) / 4
	if Words(uint64(nodes), 0) > words {
		return r, badf("%s: found %d words, expected at least the %d of %d nodes; the file was cut, or the start ids belong to another file", s.Place(i, 0), words, Words(uint64(nodes), 0), nodes)
	}
	w, err := s.read(f, i, 0, 3)
	if err != nil {
		return r, err
	}
	last, err := s.read(f, i, headerWords+uint64(nodes), 1)
	if err != nil {
		return r, err
	}
	first := Words(uint64(nodes), 0)
	switch {
	case w[0] != nodes:
		return r, badf("%s: found %d nodes, expected %d", s.Place(i, 0), w[0], nodes)
	case w[1] != start:
		return r, badf("%s: found the start id %d, expected %d", s.Place(i, 1), w[1], start)
	case uint64(w[2]) != first:
		return r, badf("%s: found the offset %d, expected %d, the start of the neighbours", s.Place(i, 2), w[2], first)
	case uint64(last[0]) < first || uint64(last[0]) > words:
		return r, badf("%s: found the offset %d, expected %d to %d; the file was cut or damaged", s.Place(i, headerWords+uint64(nodes)), last[0], first, words)
	}
	r.Edges = uint64(last[0]) - first
	at := s.Offset(i)
	r.pad(s.ChunkBytes, at+s.ChunkBytes >= size)
	if end := at + r.Bytes(); at+s.ChunkBytes >= size && end != size {
		return r, badf("%s: found %d bytes, expected %d: the last chunk is padded to a multiple of %d", s.Name, size, end, sector)
	}
	return r, nil
}

// read reads n words of a chunk.
func (s *Set) read(f vfs.File, i int, word uint64, n int) ([]uint32, error) {
	b := make([]byte, 4*n)
	if err := s.ReadWords(f, i, word, b); err != nil {
		return nil, err
	}
	w := make([]uint32, n)
	for k := range w {
		w[k] = binary.LittleEndian.Uint32(b[4*k:])
	}
	return w, nil
}

// ReadWords fills b with the bytes of a chunk from the given word on.
func (s *Set) ReadWords(f vfs.File, i int, word uint64, b []byte) error {
	n, err := f.ReadAt(b, s.Offset(i)+4*int64(word))
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return badf("%s: found the end of the file after %d bytes, expected %d; it was cut", s.Place(i, word), n, len(b))
	}
	return err
}

// checkWords is the number of words that Check reads at a time.
const checkWords = 64 << 10

// CheckOffsets reads the offsets of all chunks, which must ascend.
func (s *Set) CheckOffsets(ctx context.Context, fsys vfs.FS) error {
	return s.check(ctx, fsys, func(r Row) uint64 { return Words(uint64(r.Nodes), 0) })
}

// check reads each chunk up to the word that until returns.
func (s *Set) check(ctx context.Context, fsys vfs.FS, until func(Row) uint64) (err error) {
	f, err := fsys.Open(s.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buf := make([]byte, 4*checkWords)
	for i, r := range s.Rows {
		first, used := Words(uint64(r.Nodes), 0), r.Words()
		end, before := until(r), uint32(first)
		for at := uint64(headerWords); at < end; at += checkWords {
			if err := ctx.Err(); err != nil {
				return err
			}
			b := buf[:4*min(checkWords, end-at)]
			if err := s.ReadWords(f, i, at, b); err != nil {
				return err
			}
			for k := range uint64(len(b) / 4) {
				v := binary.LittleEndian.Uint32(b[4*k:])
				switch word := at + k; {
				case word < first:
					if v < before || uint64(v) > used {
						return badf("%s: found the offset %d after %d, expected offsets that ascend to %d", s.Place(i, word), v, before, used)
					}
					before = v
				case word < used:
					if uint64(v) >= s.Far {
						return badf("%s: found the neighbour %d, expected one below %d", s.Place(i, word), v, s.Far)
					}
				case v != 0:
					return badf("%s: found %d, expected zeros after the neighbours", s.Place(i, word), v)
				}
			}
		}
	}
	return nil
}
