package features

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// fileFormat is the version of the file. Readers refuse versions that they do not know.
const fileFormat = 1

// mostFileBytes bounds the file. Most of it is the texts of codes.
const mostFileBytes = 256 << 20

// File is features.json.
type File struct {
	Format int              `json:"format"`
	Fit    FitRows          `json:"fit"`
	Nodes  map[string]*Type `json:"nodes"`
	Edges  map[string]*Type `json:"edges"`
}

// Type is the features of a type.
type Type struct {
	// Rows is how many rows the fit had. Of says which: "all", "split train" or "times before ...".
	Rows int    `json:"rows"`
	Of   string `json:"of"`
	// From are the columns that features are made of, and those that mark their missing rows.
	From     []string            `json:"from"`
	Features map[string]*Feature `json:"features"`
}

// NewFile makes the file of a store without features.
func NewFile(fit FitRows) *File {
	return &File{Format: fileFormat, Fit: fit, Nodes: map[string]*Type{}, Edges: map[string]*Type{}}
}

// Uses says whether features of a type are made of a column. A nil file has none.
func (f *File) Uses(typ, column string) bool {
	if f == nil {
		return false
	}
	for _, types := range []map[string]*Type{f.Nodes, f.Edges} {
		if t := types[typ]; t != nil && slices.Contains(t.From, column) {
			return true
		}
	}
	return false
}

// Encode returns the text of the file.
func (f *File) Encode() ([]byte, error) {
	text, err := store.EncodeJSON(f)
	if err != nil {
		return nil, err
	}
	if len(text) > mostFileBytes {
		return nil, specErrorf("found texts of %d bytes in the features, expected at most %d; give least or most, or take encode hash", len(text), mostFileBytes)
	}
	return text, nil
}

// ReadFile reads the file of a store; nil is a store without features.
func ReadFile(fsys vfs.FS, dir string) (*File, error) {
	fsys = vfs.Confine(fsys, dir)
	name := filepath.Join(dir, store.FeaturesFile)
	b, err := vfs.ReadFile(fsys, name, mostFileBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := &File{}
	if err := store.DecodeJSON(b, f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if f.Format != fileFormat {
		return nil, fmt.Errorf("%s: found format %d, expected %d; use a newer graphmill", name, f.Format, fileFormat)
	}
	return f, f.check(name)
}

// check refuses states that Apply cannot follow.
func (f *File) check(name string) error {
	for _, types := range []map[string]*Type{f.Nodes, f.Edges} {
		for typ, t := range types {
			if t == nil {
				return fmt.Errorf("%s: %s: found null, expected an object", name, typ)
			}
			for of, x := range t.Features {
				if err := x.check(of); err != nil {
					return fmt.Errorf("%s: feature %s of %s: %w", name, of, typ, err)
				}
			}
		}
	}
	return nil
}

// check refuses a feature whose pieces do not fit its parts.
func (f *Feature) check(name string) error {
	if f == nil || len(f.Parts) == 0 {
		return errors.New("found no parts, expected at least one")
	}
	d, err := graph.ParseDType(f.DType)
	if err != nil || !slices.Contains([]graph.DType{graph.Float32, graph.Float16, graph.BFloat16, graph.Int32}, d) || f.Code != (d == graph.Int32) {
		return fmt.Errorf("found dtype %s, expected one of floats, or int32 for a code", f.DType)
	}
	if err := checkBits(f.Bits, f.Code); err != nil {
		return err
	}
	for i, p := range f.Parts {
		if p == nil {
			return fmt.Errorf("part %d: found null, expected an object", i)
		}
		if err := p.check(f.Code); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
		if err := p.checkState(); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	if want := piecesOf(name, f); !slices.EqualFunc(f.Pieces, want, sameLayout) {
		return fmt.Errorf("found pieces %v, expected %v", f.Pieces, want)
	}
	for i := range f.Pieces {
		if err := f.Pieces[i].checkRange(d); err != nil {
			return err
		}
	}
	return nil
}

// sameLayout says whether two pieces are the same but for their ranges.
func sameLayout(a, b Piece) bool {
	return a.Column == b.Column && a.Kind == b.Kind && a.Width == b.Width && a.Bits == b.Bits
}

// checkState refuses what was not fitted to a part of this kind.
func (s *State) checkState() error {
	texts := slices.Contains([]Encode{EncodeCode, EncodeOneHot, EncodeMultiHot, EncodeFrequency, EncodeOrdinal}, s.Encode)
	if texts != (s.Categories != nil) || texts && len(s.Categories.Of) != len(s.Categories.Texts) {
		return fmt.Errorf("found texts %t and their counts, expected them for encode %q alone, with a count for each", s.Categories != nil, s.Encode)
	}
	var width int
	switch s.Encode {
	case EncodeCode:
		width = 1
	case EncodeOneHot:
		width = len(s.Categories.Texts) + 2
	case EncodeMultiHot:
		width = len(s.Categories.Texts) + 1
	case EncodeHash:
		width = s.Hash.Dim
	case EncodeBuckets:
		if len(s.Numbers) != 1 {
			return fmt.Errorf("found %d numbers, expected 1", len(s.Numbers))
		}
		width = len(s.Numbers[0].Edges) + 2
	default:
		if width = len(s.Numbers); s.Flag {
			width++
		}
	}
	for i := range s.Numbers {
		if n := &s.Numbers[i]; (n.Scale == ScaleUniform || n.Scale == ScaleNormal) && len(n.Quantiles) == 0 {
			return errors.New("found no quantiles, expected at least one")
		}
	}
	if s.Width != width || width < 1 {
		return fmt.Errorf("found a width of %d, expected %d", s.Width, max(1, width))
	}
	return nil
}
