package textfiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"github.com/graphmill/graphmill/format/rdf"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Lines is a table of strings whose rows are cut out of the lines of text files. A line holds one row, several or none.
type Lines struct {
	fsys   vfs.FS
	files  []lineFile
	fields []table.Field
	split  split
	// labelled says that the last field is the label of the file, the same in all rows.
	labelled bool
	// left is the number of lines without a row that the last whole scan left out.
	left  atomic.Int64
	block int // bytes of text that a worker parses at a time; tests make it small
}

// lineFile is a file of a table.
type lineFile struct {
	path, label string
	comp        compression
	size        int64
}

// split cuts a line, without its end, into the cells of rows. It calls add for each field of a row, in any order, and
// then end. It returns what is wrong with the line, if something is, and the offset of that.
type split func(line []byte, c *cells) (problem string, at int)

// leftOut is what split returns for a line that is right and has no row.
const leftOut = "\x00"

// cells are the columns that a scan collects.
type cells struct {
	columns []cellColumn
	of      [][]int // columns of each field
	rows    int
	places  []uint64 // line of each row, if it is collected
	keep    bool     // collect places
	line    uint64
	triple  *rdf.Triple
}

type cellColumn struct {
	data scalar.Words
	ends []uint32
}

// add appends a cell to the columns of a field.
func (c *cells) add(field int, cell []byte) {
	for _, i := range c.of[field] {
		x := &c.columns[i]
		copy(x.data.Add(len(cell)), cell)
		x.ends = append(x.ends, uint32(x.data.N))
	}
}

// end ends a row.
func (c *cells) end() {
	c.rows++
	if c.keep {
		c.places = append(c.places, c.line)
	}
}

func (c *cells) reset() {
	c.rows, c.places = 0, c.places[:0]
	for i := range c.columns {
		c.columns[i].data.N, c.columns[i].ends = 0, c.columns[i].ends[:0]
	}
}

// newLines opens text files. labels, if not nil, has the label of each file.
func newLines(fsys vfs.FS, paths, labels, fields []string, split split) (*Lines, error) {
	t := &Lines{fsys: fsys, split: split, labelled: labels != nil, block: table.ChunkSize}
	for _, name := range fields {
		t.fields = append(t.fields, table.Field{Name: name, DType: graph.String})
	}
	for i, path := range paths {
		info, err := vfs.Regular(fsys, path)
		if err != nil {
			return nil, badf("%w", err)
		}
		_, comp := extension(path)
		f := lineFile{path: path, comp: comp, size: info.Size()}
		if labels != nil {
			f.label = labels[i]
		}
		t.files = append(t.files, f)
	}
	return t, nil
}

// Fields implements Table.
func (t *Lines) Fields() []table.Field { return t.fields }

// Files implements Table.
func (t *Lines) Files() []string {
	var paths []string
	for _, f := range t.files {
		paths = append(paths, f.path)
	}
	return paths
}

// Bytes implements Table.
func (t *Lines) Bytes() int64 {
	n := int64(0)
	for _, f := range t.files {
		n += f.size
	}
	return n
}

// Left is the number of lines that the last whole scan left out, because the format says more than the table.
func (t *Lines) Left() int64 { return t.left.Load() }

// lineBlock is a run of whole lines of a file, and what is made of them.
type lineBlock struct {
	cells
	text  []byte
	file  int
	first uint64 // number of lines before the text
	left  int64
}

// Scan implements Table. Columns are strings, and empty cells are empty strings, or errors in ids. Several goroutines
// parse, and one calls fn, in the order of the rows. The memory is 2 threads + 1 blocks of 1 MiB and the
// cells in them.
func (t *Lines) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *Lines) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	chunk := table.Chunk{Columns: make([]table.Vector, len(columns))}
	left, rows := int64(0), uint64(0)
	err := t.scan(ctx, columns, threads, false, func(b *lineBlock) error {
		chunk.Rows, chunk.Bytes = b.rows, 0
		left += b.left
		if t.files[b.file].comp == plain {
			chunk.Bytes = int64(len(b.text))
		}
		if b.rows == 0 {
			return nil
		}
		for i := range b.columns {
			x := &b.columns[i]
			chunk.Columns[i] = table.Vector{Data: x.data.Bytes()[:x.data.N:x.data.N], Ends: x.ends}
		}
		chunk.First = rows // fn may change it
		if err := fn(0, &chunk); err != nil {
			return err
		}
		rows += uint64(b.rows)
		return nil
	})
	if err != nil {
		return 0, err
	}
	t.left.Store(left)
	return rows, nil
}

func (t *Lines) scan(ctx context.Context, columns []table.Column, threads int, places bool, sink func(*lineBlock) error) (err error) {
	of := make([][]int, len(t.fields))
	for i, c := range columns {
		k := slices.IndexFunc(t.fields, func(f table.Field) bool { return f.Name == c.Name })
		if k < 0 || c.DType != graph.String || len(c.Shape) > 0 {
			return badf("%s: found a request for %q as %s %v, expected a column of the file as string", t.files[0].path, c.Name, c.DType, c.Shape)
		}
		of[k] = append(of[k], i)
	}
	r := lineReader{t: t, file: -1, most: table.RecordLimit(ctx, table.MaxRecord)}
	defer func() { err = errors.Join(err, r.close()) }()
	var ids []table.Column
	var idAt []int
	for i, c := range columns {
		if c.ID {
			ids, idAt = append(ids, c), append(idAt, i)
		}
	}
	emptyID := func(b *lineBlock, from int) string {
		for k, i := range idAt {
			ends := b.columns[i].ends
			for row := from; row < b.rows; row++ {
				if row == 0 && ends[0] == 0 || row > 0 && ends[row] == ends[row-1] {
					return ids[k].Name
				}
			}
		}
		return ""
	}
	return ordered.Run(ctx, max(threads, 1), func() struct{} { return struct{}{} }, func() *lineBlock {
		return &lineBlock{cells: cells{columns: make([]cellColumn, len(columns)), of: of, keep: places}}
	}, ordered.Stages[struct{}, *lineBlock]{
		Fill: r.next,
		Work: func(_ context.Context, _ struct{}, b *lineBlock) error { return t.parse(b, emptyID) },
		Sink: sink,
	})
}

// parse cuts the lines of a block. empty returns the name of an id that is empty in a row from the given one on, or "".
func (t *Lines) parse(b *lineBlock, empty func(b *lineBlock, from int) string) error {
	b.reset()
	b.left, b.line = 0, b.first
	label := []byte(t.files[b.file].label)
	encoded := utf8.Valid(b.text)
	for text := b.text; len(text) > 0; {
		end := bytes.IndexByte(text, '\n')
		line := bytes.TrimSuffix(text[:end], []byte("\r"))
		text = text[end+1:]
		b.line++
		if !encoded {
			if at := invalid(line); at >= 0 {
				return badEncoding(t.files[b.file].path, b.line, at, line[at])
			}
		}
		before := b.rows
		problem, at := t.split(line, &b.cells)
		switch {
		case problem == leftOut:
			b.left++
		case problem != "":
			return badf("%s:%d:%d: %s", t.files[b.file].path, b.line, at+1, problem)
		}
		if id := empty(b, before); id != "" {
			return badf("%s:%d: found an empty %s, expected an id; correct or remove the line", t.files[b.file].path, b.line, id)
		}
		for ; t.labelled && before < b.rows; before++ {
			b.add(len(t.fields)-1, label)
		}
	}
	return nil
}

// invalid returns the offset of the first byte that is not UTF-8, or -1.
func invalid(text []byte) int {
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return -1
}

// badEncoding is the error of a byte that is not UTF-8. at is its offset in the line.
func badEncoding(path string, line uint64, at int, found byte) error {
	return badf("%s:%d:%d: %s", path, line, at+1, notUTF8(found))
}

func notUTF8(found byte) string {
	return fmt.Sprintf("found the byte %#02x, expected UTF-8; convert the file, for example with iconv -f latin1 -t utf8 FILE", found)
}

// Where implements Table: "triples.nt:17".
func (t *Lines) Where(row uint64, _ string) string {
	where := fmt.Sprintf("%s: row %d", t.files[0].path, row+1)
	first := uint64(0)
	_ = t.scan(context.Background(), nil, 1, true, func(b *lineBlock) error {
		if row < first+uint64(b.rows) {
			where = fmt.Sprintf("%s:%d", t.files[b.file].path, b.places[row-first])
			return errFound
		}
		first += uint64(b.rows)
		return nil
	})
	return where
}

// lineReader cuts files into blocks of whole lines.
type lineReader struct {
	t     *Lines
	file  int // -1: before the first
	most  int // bytes of a line
	in    *inflated
	line  uint64
	carry []byte
	ended bool
	begun bool // the first block of the file is read
}

func (r *lineReader) close() error {
	if r.in == nil {
		return nil
	}
	err := r.in.Close()
	r.in = nil
	return err
}

// next fills a block, or returns io.EOF after the last file. The last byte of the text is a line end.
func (r *lineReader) next(b *lineBlock) error {
	for {
		if r.in == nil {
			if r.file++; r.file == len(r.t.files) {
				return io.EOF
			}
			f := r.t.files[r.file]
			var err error
			if r.in, err = openInflated(r.t.fsys, f.path, f.comp); err != nil {
				return err
			}
			r.line, r.carry, r.ended, r.begun = 0, r.carry[:0], false, false
		}
		if err := r.fill(b); err != nil {
			return err
		}
		if !r.begun {
			r.begun = true
			b.text = bytes.TrimPrefix(b.text, []byte(table.ByteOrderMark))
		}
		if len(b.text) > 0 {
			b.file, b.first = r.file, r.line
			r.line += uint64(bytes.Count(b.text, []byte("\n")))
			return nil
		}
		if err := r.close(); err != nil {
			return err
		}
	}
}

// fill reads whole lines of the current file.
func (r *lineReader) fill(b *lineBlock) error {
	f := r.t.files[r.file]
	text := append(b.text[:0], r.carry...)
	r.carry = r.carry[:0]
	for want := r.t.block; !r.ended; want *= 2 {
		have := len(text)
		if cap(text) < want+1 {
			text = append(make([]byte, 0, want+1), text...)
		}
		if have < want {
			n, err := fill(r.in, text[have:want])
			text = text[:have+n]
			if r.ended = errors.Is(err, io.EOF); err != nil && !r.ended {
				return cannotInflate(f.path, err)
			}
		}
		if line := bytes.IndexByte(text, '\n'); line > r.most || line < 0 && len(text) > r.most {
			return badf("%s:%d: found a line of more than %d bytes, expected fewer; is this a text file?%s", f.path, r.line+1, r.most, table.LimitAdvice(r.most, table.MaxRecord))
		}
		if r.ended {
			break
		}
		if end := bytes.LastIndexByte(text, '\n') + 1; end > 0 {
			r.carry = append(r.carry, text[end:]...)
			b.text = text[:end]
			return nil
		}
	}
	if n := len(text); n > 0 && text[n-1] != '\n' {
		text = append(text, '\n')
	}
	b.text = text
	return nil
}
