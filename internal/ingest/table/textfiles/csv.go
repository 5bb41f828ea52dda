package textfiles

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

const (
	marginSize = 64 << 10 // bytes read after a chunk, for its last record
	maxFields  = 1 << 16  // columns of a file
	headSize   = 1 << 20  // bytes in which the comments and the header must end
	padding    = 32       // bytes of a buffer after a block: a line end and 16 readable bytes
)

// NoHeaderError says that the first line of a file looks like data.
type NoHeaderError struct {
	Place string // file:line
	Cells []string
}

func (e *NoHeaderError) Error() string {
	return fmt.Sprintf("%s: found the first line %q, which contains a number, expected a header; name the columns if the file has none", e.Place, strings.Join(e.Cells, " "))
}

// Unwrap makes it an ErrFormat.
func (e *NoHeaderError) Unwrap() error { return table.ErrFormat }

// CSVOptions hold what the files of a table do not say themselves.
type CSVOptions struct {
	// Names are the columns of files without a header. Nil means that the first line of each file is a header, which
	// must be the same in all files.
	Names []string
	// Typed says that Names is a header of Neo4j or Neptune, in a file of its own: its types hold.
	Typed bool
	// RepeatedIDs says that several columns with ids or ends may have the same header of Neo4j. Each after the first gets the number of its column: ":ID", ":ID{column 2}".
	RepeatedIDs bool
	// ListDelimiter separates the values of lists that a header of Neo4j declares; 0: ';'.
	ListDelimiter byte
	// Header accepts the first line as a header even if it contains numbers.
	Header bool
	// Numbered names the columns of files without a header 0, 1, and so on, one per field of the first line.
	Numbered bool
	// Comments makes lines that start with '#' or '%' before the first other line comments, as in .txt files.
	Comments bool
	// Skip is the number of lines at the start of each file that are no part of the table.
	Skip int
	// Delimiter is one of ',', '\t', ';', '|' and ' ' (runs of spaces and tabs); 0: see the package comment.
	Delimiter byte
	// Ragged keeps rows with another number of fields than there are columns, and rows with a stray quote, and lists them in
	// Chunk.Ragged: fields that are missing or cannot be told apart are empty, and further ones are left out. Otherwise they are errors.
	Ragged bool
	// Missing are texts that stand for an empty cell, in quotes or not, with any blanks around them. None is empty or begins or ends with
	// a blank.
	Missing []string
}

// CSV is a table of text files.
type CSV struct {
	fsys   vfs.FS
	files  []csvFile
	fields []table.Field
	first  []string // the cells of the first line, if the caller names the columns
	// written are the names in the header; fields has the columns that it leaves out, too.
	written []string
	// unnamed are the numbers, from 1, of the columns without a name that have values.
	unnamed []int
	syntax  syntax
	ragged  bool
	missing missingTexts
	parser  func(columns []table.Column) (recordParser, error)

	// Sizes that tests make small.
	chunk, margin, record int
}

type csvFile struct {
	path string
	size int64 // bytes on disk
	comp compression
	body int64  // offset of the first byte after the header, decompressed
	line uint64 // number of line ends before body

	// A part of a plain file has the records that start in from..to, and says whether from is inside quotes. Both are 0 for
	// a whole file.
	from, to int64
	quoted   bool
}

// start and end bound the records to read.
func (f *csvFile) start() int64 { return max(f.from, f.body) }

func (f *csvFile) end() int64 {
	if f.to > 0 {
		return f.to
	}
	return f.size
}

// syntax says how records are cut into fields.
type syntax struct {
	delim byte
	runs  bool // fields are separated by runs of spaces and tabs
	lines bool // records are lines of JSON: quotes do not matter, and all columns are keys
}

// OpenCSV opens the shards of a table, in order, and reads their first lines. The files are closed between scans.
func OpenCSV(fsys vfs.FS, paths []string, o CSVOptions) (*CSV, error) {
	if len(paths) == 0 {
		return nil, errors.New("found no files, expected at least one")
	}
	t := newText(fsys)
	t.ragged, t.missing = o.Ragged, newMissing(o.Missing)
	t.parser = func(columns []table.Column) (recordParser, error) { return newParser(t, columns) }
	var buf []byte
	for i, path := range paths {
		f, head, err := t.open(path, buf, o)
		if err != nil {
			return nil, err
		}
		if err := head.encoding(); err != nil {
			return nil, err
		}
		buf = head.bytes
		if i == 0 {
			t.syntax = syntaxOf(path, cmp.Or(o.Delimiter, head.delim), head.first())
		}
		if err := t.header(&f, head, o); err != nil {
			return nil, err
		}
		t.files = append(t.files, f)
	}
	return t, nil
}

func newText(fsys vfs.FS) *CSV {
	return &CSV{fsys: fsys, chunk: table.ChunkSize, margin: marginSize, record: table.MaxRecord}
}

// head is the start of a file.
type head struct {
	path  string
	bytes []byte
	body  int // offset after the byte order mark and the comments
	line  uint64
	whole bool // bytes is all of the file
	delim byte // that the first line says; 0: it says none
}

func (t *CSV) open(path string, buf []byte, o CSVOptions) (csvFile, head, error) {
	f := csvFile{path: path}
	_, f.comp = extension(path)
	info, err := vfs.Regular(t.fsys, path)
	if err != nil {
		return f, head{}, badf("%w", err)
	}
	f.size = info.Size()
	h := head{path: path}
	h.bytes, h.whole, f.comp, err = readHead(t.fsys, path, f.size, f.comp, buf)
	if err == nil && t.syntax.lines && isRecords(h.bytes) {
		h.bytes, h.whole, f.comp, err = readHead(t.fsys, path, f.size, f.comp|records, h.bytes)
	}
	if err != nil {
		return f, h, err
	}
	b := h.bytes
	if k := table.BinaryKind(b); k != table.Unknown {
		return f, h, badf("%s: found %s, expected text; a table has files of one kind, and a name that fits it", path, k)
	}
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return f, h, badf("%s:1:1: found UTF-16, expected UTF-8; convert the file: iconv -f utf16 -t utf8 FILE", path)
	}
	if at := bytes.IndexByte(b, '\r'); at >= 0 && len(bytes.TrimRight(b[at:], "\r")) > 0 && bytes.IndexByte(b, '\n') < 0 && bytes.Count(b[:at], []byte{'"'})%2 == 0 {
		return f, h, badf("%s:1: found line ends that are carriage returns alone, expected LF or CRLF; convert the file: tr '\\r' '\\n' < FILE", path)
	}
	if err := h.skipRemarks(o); err != nil {
		return f, h, err
	}
	f.body, f.line = int64(h.body), h.line
	return f, h, nil
}

// skipRemarks finds the first line that is a part of the table.
func (h *head) skipRemarks(o CSVOptions) error {
	b, path := h.bytes, h.path
	if bytes.HasPrefix(b, []byte(table.ByteOrderMark)) {
		h.body = 3
	}
	if delim, n := separatorLine(b[h.body:]); n > 0 {
		h.delim, h.body, h.line = delim, h.body+n, h.line+1
	}
	ext, _ := extension(path)
	comments := o.Comments || isList(ext)
	if !comments {
		n := remarks(path, cmp.Or(o.Delimiter, h.delim), b[h.body:])
		h.line += uint64(bytes.Count(b[h.body:][:n], []byte("\n")))
		h.body += n
	}
	for h.body < len(b) {
		c := b[h.body]
		comment := h.line < uint64(o.Skip) || comments && (c == '#' || c == '%')
		blank := c == '\n' || c == '\r' && bytes.HasPrefix(bytes.TrimLeft(b[h.body:], "\r"), []byte("\n"))
		if !comment && !blank {
			break
		}
		n := bytes.IndexByte(b[h.body:], '\n')
		if n < 0 && !h.whole {
			return h.tooLong()
		}
		if n < 0 {
			h.body = len(b)
			break
		}
		h.body += n + 1
		h.line++
	}
	return nil
}

func (h *head) tooLong() error {
	return badf("%s:%d: found comments and a first line of more than %d bytes, expected fewer; is this a text file?", h.path, h.line+1, len(h.bytes))
}

// encoding refuses bytes after the comments that are not UTF-8.
func (h *head) encoding() error {
	b := h.bytes[h.body:]
	if utf8.Valid(b) {
		return nil
	}
	at := invalid(b)
	if !h.whole && !utf8.FullRune(b[at:]) { // the head ends within a character
		return nil
	}
	line := h.line + uint64(bytes.Count(b[:at], []byte("\n"))) + 1
	return badEncoding(h.path, line, at-bytes.LastIndexByte(b[:at], '\n')-1, b[at])
}

// first returns the first record, without its line end.
func (h *head) first() []byte {
	b := h.bytes[h.body:]
	end, quoted := 0, false
	for end < len(b) && (quoted || b[end] != '\n') {
		quoted = quoted != (b[end] == '"')
		end++
	}
	return bytes.TrimRight(b[:end], "\r")
}

// header checks the first line of a file and, if it is a header, moves the body after it.
func (t *CSV) header(f *csvFile, h head, o CSVOptions) error {
	line := h.first()
	place := fmt.Sprintf("%s:%d", f.path, f.line+1)
	if !h.whole && h.body+len(line) >= len(h.bytes)-1 {
		return h.tooLong()
	}
	if o.Names != nil {
		if t.fields == nil {
			for _, n := range o.Names {
				t.fields = append(t.fields, table.Field{Name: n})
			}
			t.first, _ = t.syntax.cells(line) // a bad line is an error of the scan
			if fields, err := databaseFields(place, t.fields, &o); o.Typed && (fields != nil || err != nil) {
				t.fields = fields
				return cmp.Or(err, checkTyped(place, fields))
			}
			return table.CheckNames(place, o.Names)
		}
		return nil
	}
	if len(line) == 0 && o.Numbered {
		return nil
	}
	if len(line) == 0 {
		return badf("%s: found no line, expected a header; write a header, or name the columns with `Columns`", place)
	}
	names, bad := t.syntax.cells(line)
	if bad != nil {
		return badf("%s:%d: %s", place, bad.at+1, bad.text)
	}
	if len(names) > maxFields {
		return badf("%s: found %d columns, expected at most %d; is the table the wrong way round?", place, len(names), maxFields)
	}
	if o.Numbered {
		if t.fields == nil {
			for i := range names {
				t.fields = append(t.fields, table.Field{Name: strconv.Itoa(i)})
			}
		}
		return nil
	}
	if !o.Header && slices.ContainsFunc(names, isNumber) {
		return &NoHeaderError{place, names}
	}
	rest := bytes.TrimPrefix(bytes.TrimLeft(h.bytes[h.body+len(line):], "\r"), []byte("\n"))
	if t.fields == nil {
		t.written = names
		for _, n := range t.complete(names, rest, h.whole) {
			t.fields = append(t.fields, table.Field{Name: n})
		}
		fields, err := databaseFields(place, t.fields, &o)
		if err != nil {
			return err
		}
		if fields != nil {
			t.fields = fields
			if err := checkTyped(place, fields); err != nil {
				return err
			}
		} else if err := table.CheckNames(place, t.names()); err != nil {
			return err
		}
		if len(t.names()) == 0 {
			return badf("%s: found no name of a column, expected a header; write a header, or name the columns with `Columns`", place)
		}
	}
	if !slices.Equal(t.written, names) {
		return badf("%s: found the header %q, expected %q, as in %s: %s; give all files of a table the same header", place, strings.Join(names, " "), strings.Join(t.written, " "), t.files[0].path, difference(quoted(names), quoted(t.written)))
	}
	f.body += int64(len(h.bytes) - h.body - len(rest))
	f.line += uint64(bytes.Count(line, []byte("\n"))) + 1
	return nil
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return err == nil && strings.ContainsAny(s, "0123456789")
}

// isList says whether files with an extension are lists of numbers or words with spaces between them, with comments.
func isList(ext string) bool {
	return slices.Contains([]string{".txt", ".edgelist", ".edges", ".edge", ".el", ".wel", ".dat", ".ungraph", ".konect", ".net"}, ext)
}

// IsList says whether a path names such a file.
func IsList(path string) bool { return isList(table.Extension(path)) }

// syntaxOf chooses the delimiter.
func syntaxOf(path string, given byte, line []byte) syntax {
	if given != 0 {
		return syntax{delim: given, runs: given == ' '}
	}
	ext, _ := extension(path)
	if ext == ".tsv" {
		return syntax{delim: '\t'}
	}
	var found [256]bool
	quoted := false
	for _, c := range line {
		if c == '"' {
			quoted = !quoted
		}
		found[c] = found[c] || !quoted
	}
	for _, d := range []byte(",\t;|") {
		if !found[d] {
			continue
		}
		if d == '\t' && isList(ext) && !slices.ContainsFunc(strings.Fields(string(line)), func(s string) bool { return !isNumber(s) }) {
			break
		}
		return syntax{delim: d}
	}
	if isList(ext) || table.KindByName(path) == table.Unknown && found[' '] {
		return syntax{delim: ' ', runs: true}
	}
	return syntax{delim: ','}
}

func (t *CSV) names() []string {
	var names []string
	for _, f := range namedFields(t.fields) {
		names = append(names, f.Name)
	}
	return names
}

// First returns the cells of the first line of a table whose columns the caller names, or nil if they cannot be read.
func (t *CSV) First() []string { return t.first }

// Fields implements Table. The dtypes are Invalid, since text does not declare any. Columns without a name are left out.
func (t *CSV) Fields() []table.Field { return namedFields(t.fields) }

// Files implements Table.
func (t *CSV) Files() []string {
	paths := make([]string, len(t.files))
	for i, f := range t.files {
		paths[i] = f.path
	}
	return paths
}

// Bytes implements Table: the size on disk, of the records only for a part of a file.
func (t *CSV) Bytes() int64 {
	n := int64(0)
	for _, f := range t.files {
		if f.to > 0 {
			n += f.to - f.from
		} else {
			n += f.size
		}
	}
	return n
}

// difference describes the first difference between two lists of columns.
func difference(found, expected []string) string {
	for i := range max(len(found), len(expected)) {
		switch {
		case i >= len(found):
			return fmt.Sprintf("column %d, %s, is missing", i+1, expected[i])
		case i >= len(expected):
			return fmt.Sprintf("column %d, %s, is more", i+1, found[i])
		case found[i] != expected[i]:
			return fmt.Sprintf("column %d is %s and not %s", i+1, found[i], expected[i])
		}
	}
	return "the columns are the same"
}

// quoted returns names in quotes.
func quoted(names []string) []string {
	out := slices.Clone(names)
	for i, n := range out {
		out[i] = fmt.Sprintf("%q", n)
	}
	return out
}
