package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/vfs"
)

// matrixMarket is a sparse matrix in the Matrix Market format: a line that says the kind, comments, a line with the
// numbers of rows, columns and entries, and a line for each entry. The entry in row i and column j, which count from 1,
// is the edge from i to j.
//
// A symmetric file lists one of each two entries that are mirrored. The other one is added after it, and in a
// skew-symmetric matrix after all of them, with the opposite sign.
type matrixMarket struct{}

func (matrixMarket) name() string    { return "matrix-market" }
func (matrixMarket) about() string   { return ".mtx, plain or as .gz or .zst" }
func (matrixMarket) becomes() string { return npzArrays{}.becomes() }
func (matrixMarket) detect(path string, names []string) bool {
	return names == nil && (table.Extension(path) == ".mtx" || mayBeList(path))
}

// sniff looks at the first line of files with other names.
func (matrixMarket) sniff(fsys vfs.FS, path string, _ []string) (bool, error) {
	if table.Extension(path) == ".mtx" {
		return true, nil
	}
	line, err := headLine(fsys, path)
	return strings.HasPrefix(line, "%%MatrixMarket "), err
}

// mtxHeader is what the lines before the entries say.
type mtxHeader struct {
	values   string // real, integer, unsigned-integer or pattern
	symmetry string // general, symmetric, skew-symmetric or hermitian
	shape    [2]uint64
	entries  uint64
	lines    int  // number of the lines
	dense    bool // all entries are listed, column by column
}

func readMatrixMarket(fsys vfs.FS, path string) (h mtxHeader, err error) {
	const most = 1 << 20
	text, err := textfiles.Head(fsys, path, most)
	if err != nil {
		return h, err
	}
	bad := func(format string, a ...any) error {
		return sourcef("%s:%d: %w", path, h.lines, fmt.Errorf(format, a...))
	}
	for len(text) > 0 {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		if !ended && len(text) == most {
			break
		}
		text = rest
		h.lines++
		words := strings.Fields(string(line[:min(len(line), 1000)]))
		if h.lines == 1 {
			if len(words) != 5 || words[0] != "%%MatrixMarket" || !strings.EqualFold(words[1], "matrix") {
				return h, bad("found %q, expected a first line such as %%%%MatrixMarket matrix coordinate real general", line[:min(len(line), 60)])
			}
			if err := h.kind(words[2:]); err != nil {
				return h, bad("%w", err)
			}
			continue
		}
		if len(words) == 0 || words[0][0] == '%' {
			continue
		}
		var sizes [3]uint64
		want := 3
		if h.dense {
			want = 2
		}
		if len(words) == want {
			for i, w := range words {
				if sizes[i], err = strconv.ParseUint(w, 10, 63); err != nil {
					break
				}
			}
		}
		if len(words) != want || err != nil {
			what := "rows, columns and entries"
			if h.dense {
				what = "rows and columns"
			}
			return h, bad("found %q, expected the numbers of %s", line[:min(len(line), 60)], what)
		}
		h.shape, h.entries = [2]uint64{sizes[0], sizes[1]}, sizes[2]
		if h.symmetry != "general" && sizes[0] != sizes[1] {
			return h, bad("found %d rows and %d columns, expected as many rows as columns in a %s matrix", sizes[0], sizes[1], h.symmetry)
		}
		return h, nil
	}
	return h, bad("found no line with the numbers of rows, columns and entries, expected it after the comments, in the first MiB")
}

// kind checks the words of the first line.
func (h *mtxHeader) kind(words []string) error {
	for i := range words {
		words[i] = strings.ToLower(words[i])
	}
	h.values, h.symmetry = words[1], words[2]
	switch words[0] {
	case "coordinate":
	case "array":
		if h.dense = true; h.values == "pattern" {
			return fmt.Errorf("found a dense matrix (array) of the values pattern, expected real or integer; write the values")
		}
	default:
		return fmt.Errorf("found the form %q, expected coordinate; write it with scipy.io.mmwrite of a sparse matrix", words[0])
	}
	switch h.values {
	case "real", "double", "integer", "unsigned-integer", "pattern":
	case "complex":
		return fmt.Errorf("found complex values, expected real, integer or pattern; save A.real, or abs(A)")
	default:
		return fmt.Errorf("found the values %q, expected real, integer or pattern", h.values)
	}
	switch h.symmetry {
	case "general", "symmetric", "skew-symmetric", "hermitian":
		return nil
	}
	return fmt.Errorf("found the symmetry %q, expected general, symmetric, skew-symmetric or hermitian", h.symmetry)
}

func (matrixMarket) open(_ context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.IDs == idsString {
		return nil, usagef("found string ids with a matrix, expected integer ids, which count from 1 in it")
	}
	h, err := readMatrixMarket(fsys, path)
	if err != nil {
		return nil, err
	}
	const weight = "weight"
	names := []string{"src", "dst"}
	e := assemble.Edges{Type: graph.HomogeneousEdge, Src: keyColumn("src", true), Dst: keyColumn("dst", true), Symmetrise: h.symmetry == "symmetric" || h.symmetry == "hermitian"}
	if h.values != "pattern" {
		dtype := map[string]graph.DType{"integer": graph.Int64, "unsigned-integer": graph.Uint64}[h.values]
		if dtype == graph.Invalid {
			dtype = graph.Float64
		}
		names = append(names, weight)
		e.Columns = []table.Column{{Name: weight, DType: dtype}}
	}
	if h.dense {
		if e.Table, err = openMatrixArray(fsys, path, h, e.Columns[0].DType); err != nil {
			return nil, err
		}
		s := &Source{Primary: graph.In, Files: []string{path}}
		s.Input, err = o.matrix(path, h.shape, e)
		return s, err
	}
	entries, err := textfiles.OpenCSV(fsys, []string{path}, textfiles.CSVOptions{Names: names, Skip: h.lines, Delimiter: ' '})
	if err != nil {
		return nil, err
	}
	piece := views.Piece{Table: views.FromOne(entries, "src", "dst"), Rows: h.entries, Says: fmt.Sprintf("%s:%d", path, h.lines)}
	pieces := []views.Piece{piece}
	if h.symmetry == "skew-symmetric" {
		if h.values == "pattern" || h.values == "unsigned-integer" {
			return nil, sourcef("%s:1: found a skew-symmetric matrix of the values %s, expected real or integer; write the values of both triangles as a general matrix", path, h.values)
		}
		piece.Table = views.Reversed(piece.Table, "src", "dst", weight)
		pieces = append(pieces, piece)
	}
	if e.Table, err = views.Concat(names, pieces); err != nil {
		return nil, err
	}
	s := &Source{Primary: graph.In, Files: []string{path}}
	s.Input, err = o.matrix(path, h.shape, e)
	return s, err
}

// openMatrixArray opens the entries of a dense matrix that are not 0: one value per line, column by column. Of a symmetric matrix the file
// has the diagonal and what is below it, and of a skew-symmetric one what is below the diagonal, of which the mirrored entry, with the
// opposite sign, follows each.
func openMatrixArray(fsys vfs.FS, path string, h mtxHeader, weight graph.DType) (table.Table, error) {
	return textfiles.OpenStream(fsys, path, matrixFields(weight), func(in io.Reader, row func(line int, cells [][]byte) error) error {
		var texts [2][24]byte
		skew, lower := h.symmetry == "skew-symmetric", h.symmetry != "general"
		i, j := uint64(0), uint64(0)
		first := func() uint64 { // row of the first value of column j
			switch {
			case skew:
				return j + 1
			case lower:
				return j
			}
			return 0
		}
		// next skips columns without values.
		next := func() {
			for i >= h.shape[0] && j < h.shape[1] {
				j++
				i = first()
			}
		}
		if i = first(); h.shape[0] == 0 {
			j = h.shape[1]
		}
		next()
		cells := make([][]byte, 3)
		err := textfiles.EachLine(in, path, func(line int, text []byte) error {
			if text = bytes.TrimSpace(text); line <= h.lines || len(text) == 0 {
				return nil
			}
			if j >= h.shape[1] {
				return sourcef("%s:%d: found a value after the last, expected %d rows and %d columns; correct the line of the sizes", path, line, h.shape[0], h.shape[1])
			}
			v, err := strconv.ParseFloat(string(text), 64)
			switch {
			case err != nil && !errors.Is(err, strconv.ErrRange):
				return sourcef("%s:%d: found %.40q, expected a number; write each entry on a line of its own", path, line, text)
			case err != nil, math.IsNaN(v), math.IsInf(v, 0):
				return notFinite(fmt.Sprintf("%s:%d", path, line), i, j, string(text))
			}
			if v != 0 {
				a, b := strconv.AppendUint(texts[0][:0], i, 10), strconv.AppendUint(texts[1][:0], j, 10)
				cells[0], cells[1], cells[2] = a, b, text
				if err := row(line, cells); err != nil {
					return err
				}
				if skew {
					cells[0], cells[1], cells[2] = b, a, negated(text)
					if err := row(line, cells); err != nil {
						return err
					}
				}
			}
			i++
			next()
			return nil
		})
		if err == nil && j < h.shape[1] {
			err = sourcef("%s: found the end of the file before row %d of column %d, expected %d rows and %d columns; the file is cut", path, i+1, j+1, h.shape[0], h.shape[1])
		}
		return err
	})
}

// negated is the text of a number with the opposite sign.
func negated(text []byte) []byte {
	if rest, ok := bytes.CutPrefix(text, []byte("-")); ok {
		return rest
	}
	return append([]byte("-"), bytes.TrimPrefix(text, []byte("+"))...)
}
