package ingest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
	"github.com/graphmill/graphmill/internal/structure"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ReadFeatures reads a file with the keys fit, nodes and edges of a graph.yaml, whose types have the key features alone.
func ReadFeatures(fsys vfs.FS, path string) (*features.Plan, error) {
	y := yamlfile.File{Path: path, Kind: ErrSource}
	body, err := y.Read(fsys)
	if err != nil {
		return nil, err
	}
	top, err := y.Mapping(body, "fit, nodes and edges", []string{"fit", "nodes", "edges"})
	if err != nil {
		return nil, err
	}
	plan := &features.Plan{Nodes: map[string][]features.Spec{}, Edges: map[string][]features.Spec{}}
	for _, part := range top {
		if part.Key == "fit" {
			if plan.Fit, err = readFit(y, part.Value); err != nil {
				return nil, err
			}
			continue
		}
		types, err := y.Mapping(part.Value, "types", nil)
		if err != nil {
			return nil, err
		}
		to := plan.Nodes
		if part.Key == "edges" {
			to = plan.Edges
		}
		for _, t := range types {
			fields, err := y.Mapping(t.Value, "features", []string{"features"})
			if err != nil {
				return nil, err
			}
			for _, f := range fields {
				if to[t.Key], err = readFeatures(y, f.Value); err != nil {
					return nil, err
				}
			}
		}
	}
	if plan.None() {
		return nil, y.Errorf(body, "found no features, expected a type with features under nodes or edges; write nodes: {TYPE: {features: ...}}")
	}
	return plan, nil
}

// readFit reads the rows that features are fitted on: all, {split: train, by: COLUMN}, or {before: TIME, by: COLUMN}.
func readFit(y yamlfile.File, n ast.Node) (fit features.FitRows, err error) {
	const expected = "all, {split: train}, or {before: 2024-04-01}"
	if _, is := n.(*ast.MappingNode); !is {
		if word, err := y.Text(n, expected); err != nil {
			return fit, err
		} else if word != "all" {
			return fit, y.Errorf(n, "found fit %q, expected %s; correct it", word, expected)
		}
		fit.All = true
		return fit, nil
	}
	fields, err := y.Mapping(n, "the rows of the fit", []string{"split", "before", "by"})
	if err != nil {
		return fit, err
	}
	for _, f := range fields {
		text, err := y.Text(f.Value, "a text")
		if err != nil {
			return fit, err
		}
		switch f.Key {
		case "split":
			fit.Split = text
		case "by":
			fit.By = text
		case "before":
			at, err := features.ParseTime(text)
			if err != nil {
				return fit, y.Errorf(f.Value, "%w", err)
			}
			fit.Before = &at
		}
	}
	if (fit.Split == "") == (fit.Before == nil) {
		return fit, y.Errorf(n, "found fit with %d keys, expected %s; leave the others out", len(fields), expected)
	}
	return fit, nil
}

// readFeatures reads the features of a type: a list of parts, a mapping with the key parts, or one part of codes each.
func readFeatures(y yamlfile.File, n ast.Node) ([]features.Spec, error) {
	entries, err := y.Mapping(n, "features", nil)
	if err != nil {
		return nil, err
	}
	var out []features.Spec
	for _, e := range entries {
		if err := graph.CheckName(e.Key); err != nil {
			return nil, y.Errorf(e.At, "%w", err)
		}
		if strings.HasPrefix(e.Key, "#") {
			return nil, y.Errorf(e.At, "found the feature %q, expected a name that does not begin with #, as graphmill keeps those itself; choose another name", e.Key)
		}
		s, err := readFeature(y, e)
		if err != nil {
			return nil, err
		}
		if err := s.Check(); err != nil {
			return nil, y.Errorf(e.At, "feature %s: %w", e.Key, err)
		}
		s.Place = y.Place(e.At)
		out = append(out, s)
	}
	return out, nil
}

// readFeature reads one feature.
func readFeature(y yamlfile.File, e yamlfile.Entry) (features.Spec, error) {
	s := features.Spec{Name: e.Key, DType: graph.Float32}
	list := e.Value
	if mapping, is := e.Value.(*ast.MappingNode); is {
		fields, err := y.Mapping(mapping, "a feature", nil)
		if err != nil {
			return s, err
		}
		if !slices.ContainsFunc(fields, func(f yamlfile.Entry) bool { return f.Key == "parts" && !slices.ContainsFunc(fields, isFrom) }) {
			if i := slices.IndexFunc(fields, func(f yamlfile.Entry) bool { return f.Key == "bits" }); i >= 0 {
				return s, y.Errorf(fields[i].At, "found bits without a list of parts, expected them of a whole feature, such as {bits: 8, parts: [{from: x}]}; a code has none")
			}
			p, err := readPart(y, mapping)
			codes := []features.Encode{features.EncodeCode, features.EncodeOrdinal, features.EncodeBuckets}
			if s.Code = slices.Contains(codes, p.Encode); s.Code {
				s.DType = graph.Int32
			}
			s.Parts = []features.Part{p}
			return s, err
		}
		if fields, err = y.Mapping(mapping, "a feature", []string{"dtype", "norm", "bits", "parts"}); err != nil {
			return s, err
		}
		for _, f := range fields {
			switch f.Key {
			case "parts":
				list = f.Value
			case "norm":
				norm, err := y.Text(f.Value, "l1, l2 or max")
				if err != nil {
					return s, err
				}
				s.Norm = features.Norm(norm)
			case "bits":
				if s.Bits, err = readBits(y, f.Value); err != nil {
					return s, err
				}
			case "dtype":
				if s.DType, err = readFeatureDType(y, f.Value); err != nil {
					return s, err
				}
			}
		}
	}
	parts, is := list.(*ast.SequenceNode)
	if !is {
		return s, y.Errorf(list, "found no list, expected the parts of %s, such as [{from: age, scale: standard}]", e.Key)
	}
	for _, v := range parts.Values {
		p, err := readPart(y, v)
		if err != nil {
			return s, err
		}
		s.Parts = append(s.Parts, p)
	}
	return s, nil
}

func isFrom(f yamlfile.Entry) bool { return f.Key == "from" }

// readBits reads how many bits the codes of the numbers of a feature have.
func readBits(y yamlfile.File, n ast.Node) (int, error) {
	text, err := y.Text(n, "4 or 8")
	if err != nil {
		return 0, err
	}
	if text != "4" && text != "8" {
		return 0, y.Errorf(n, "found bits %s, expected 4 or 8; correct it", text)
	}
	return int(text[0] - '0'), nil
}

// readFeatureDType reads the dtype of the numbers of a feature.
func readFeatureDType(y yamlfile.File, n ast.Node) (graph.DType, error) {
	words := []string{"float32", "float16", "bfloat16"}
	text, err := y.Text(n, "a dtype")
	if err != nil {
		return 0, err
	}
	d, err := graph.ParseDType(text)
	if err != nil || !slices.Contains(words, text) {
		return 0, y.Errorf(n, "found dtype %q, expected one of float32, float16, bfloat16%s", text, suggest.Hint(text, words))
	}
	return d, nil
}

var partKeys = []string{"from", "encode", "clip", "impute", "value", "flag", "scale", "edges", "count", "by", "least", "most", "unknown", "order", "separator",
	"dim", "words", "characters", "sign", "parts", "zone", "at", "unit", "structure", "direction", "typed", "damping", "steps", "method", "seed", "dims"}

// readPart reads a part of a feature: the name of a column, or a mapping.
func readPart(y yamlfile.File, n ast.Node) (p features.Part, err error) {
	if _, is := n.(*ast.MappingNode); !is {
		p.From, err = y.Text(n, "the name of a column, or a part such as {from: age, scale: standard}")
		return p, err
	}
	fields, err := y.Mapping(n, "a part of a feature", partKeys)
	if err != nil {
		return p, err
	}
	if slices.ContainsFunc(fields, func(f yamlfile.Entry) bool { return f.Key == "structure" }) {
		p.Structure = &structure.Spec{}
	}
	for _, f := range fields {
		if err := readPartField(y, f, &p); err != nil {
			return p, err
		}
	}
	if p.Encode == features.EncodeAge && !slices.ContainsFunc(fields, func(f yamlfile.Entry) bool { return f.Key == "at" }) {
		return p, y.Errorf(n, "found encode age without at, expected the time from which it counts, such as at: 2024-04-01")
	}
	return p, nil
}

// structureKeys are the keys of a part that is a structure of the graph.
var structureKeys = []string{"structure", "edges", "direction", "typed", "damping", "steps", "method", "seed", "dims"}

// readStructureField reads a key of a part that is a structure of the graph.
func readStructureField(y yamlfile.File, f yamlfile.Entry, s *structure.Spec) (err error) {
	switch f.Key {
	case "structure":
		s.Structure, err = y.Text(f.Value, "one of "+strings.Join(structure.Kinds, ", "))
	case "edges":
		s.Edges, err = y.Texts(f.Value, "an edge type")
	case "direction":
		s.Direction, err = y.Text(f.Value, "in, out or both")
	case "typed":
		s.Typed, err = y.Boolean(f.Value)
	case "damping":
		s.Damping, err = readNumber(y, f.Value)
	case "method":
		s.Method, err = y.Text(f.Value, "exact or estimate")
	case "seed":
		s.Seed, err = readSeed(y, f.Value)
	case "steps", "dims":
		var n uint64
		if n, err = y.Count(f.Value, "a number"); err != nil {
			return err
		}
		if n > 1<<20 {
			return y.Errorf(f.Value, "found %d, expected at most 1048576; correct the number", n)
		}
		if f.Key == "steps" {
			s.Steps = int(n)
		} else {
			s.Dims = int(n)
		}
	}
	return err
}

// readPartField reads a key of a part.
func readPartField(y yamlfile.File, f yamlfile.Entry, p *features.Part) (err error) {
	if slices.Contains(structureKeys, f.Key) && (p.Structure != nil || f.Key != "edges") {
		if p.Structure == nil {
			return y.Errorf(f.At, "found %s without structure, expected one of %s as structure; leave it out", f.Key, strings.Join(structure.Kinds, ", "))
		}
		return readStructureField(y, f, p.Structure)
	}
	word := ""
	switch f.Key {
	case "clip", "edges", "order", "words", "characters", "parts":
	default:
		if word, err = y.Text(f.Value, "a value"); err != nil {
			return err
		}
	}
	switch f.Key {
	case "from":
		p.From = word
	case "encode":
		p.Encode = features.Encode(word)
	case "impute":
		p.Impute = features.Impute(word)
	case "scale":
		p.Scale = features.Scale(word)
	case "by":
		p.By = features.By(word)
	case "unknown":
		if p.Unknown = features.Unknown(word); word == "0" { // the code of all that is unknown
			p.Unknown = features.UnknownOther
		}
	case "separator":
		p.Separator = word
	case "zone":
		p.Zone = word
	case "unit":
		p.Unit = word
	case "at":
		if p.At, err = features.ParseTime(word); err != nil {
			err = y.Errorf(f.Value, "%w", err)
		}
	case "flag":
		p.Flag, err = y.Boolean(f.Value)
	case "sign":
		var sign bool
		sign, err = y.Boolean(f.Value)
		hashOf(p).Unsigned = !sign
	case "value":
		p.Value, err = readNumber(y, f.Value)
	case "count", "least", "most", "dim":
		err = readPartCount(y, f, p)
	case "clip":
		var bounds []float64
		if bounds, err = readNumbers(y, f.Value); err == nil && len(bounds) != 2 {
			return y.Errorf(f.Value, "found %d numbers, expected the least and the greatest; write clip: [LEAST, GREATEST]", len(bounds))
		} else if err == nil {
			p.Clip = &[2]float64{bounds[0], bounds[1]}
		}
	case "edges":
		p.Edges, err = readNumbers(y, f.Value)
	case "order":
		p.Order, err = y.Texts(f.Value, "a text")
	case "parts":
		p.Parts, err = y.Texts(f.Value, "a part of a time")
	case "words", "characters":
		h := hashOf(p)
		h.Characters = f.Key == "characters"
		var runs []float64
		if runs, err = readNumbers(y, f.Value); err == nil {
			h.Least, h.Most = int(runs[0]), int(runs[len(runs)-1])
		}
	}
	return err
}

// readPartCount reads a key of a part that is a number of things.
func readPartCount(y yamlfile.File, f yamlfile.Entry, p *features.Part) error {
	n, err := y.Count(f.Value, "a number")
	if err == nil && n > 1<<40 {
		err = y.Errorf(f.Value, "found %d, expected at most 1099511627776; correct the number", n)
	}
	switch f.Key {
	case "count":
		p.Count = int(n)
	case "least":
		p.Least = int64(n)
	case "most":
		p.Most = int(n)
	case "dim":
		hashOf(p).Dim = int(n)
	}
	return err
}

// hashOf is the hash of a part, which it has from its first key on.
func hashOf(p *features.Part) *features.Hash {
	if p.Hash == nil {
		p.Hash = &features.Hash{Least: 1, Most: 1}
	}
	return p.Hash
}

// readNumber reads a finite number.
func readNumber(y yamlfile.File, n ast.Node) (float64, error) {
	text, err := y.Text(n, "a number")
	if err != nil {
		return 0, err
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x-x != 0 {
		return 0, y.Errorf(n, "found %q, expected a finite number; correct it", text)
	}
	return x, nil
}

// readNumbers reads finite numbers, at least one.
func readNumbers(y yamlfile.File, n ast.Node) ([]float64, error) {
	list, is := n.(*ast.SequenceNode)
	if !is {
		x, err := readNumber(y, n)
		return []float64{x}, err
	}
	var out []float64
	for _, v := range list.Values {
		x, err := readNumber(y, v)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	if len(out) == 0 {
		return nil, y.Errorf(n, "found no number, expected at least one")
	}
	return out, nil
}
