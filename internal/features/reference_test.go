package features

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"

	cmpdiff "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
)

// referenceCase is a feature of random columns, as the reference takes it.
type referenceCase struct {
	Columns map[string][]any `json:"columns"`
	Fit     []bool           `json:"fit"`
	Feature map[string]any   `json:"feature"`

	table *Table
	spec  Spec
	// What rowsOf has made.
	feature *Feature
	applied []Applied
	pieces  []*memory
}

// lowBit is what the reference says of a feature of few bits beside its numbers.
type lowBit struct {
	Ranges [][2]float64
	Cut    int64
	First  int
	Stored []string
}

// lowBitOf is what was made of a feature of few bits.
func lowBitOf(c *referenceCase) (of lowBit) {
	of.First = c.table.Rows
	for _, a := range c.applied {
		if of.Cut += a.Cut; a.Cut > 0 {
			of.First = min(of.First, a.FirstCut)
		}
	}
	if of.Cut == 0 {
		of.First = 0
	}
	of.Stored = make([]string, c.table.Rows)
	for _, p := range c.pieces {
		if p.Kind != PieceLowBit {
			continue
		}
		for k := range p.Width {
			of.Ranges = append(of.Ranges, [2]float64{p.Least[k], p.Greatest[k]})
		}
		for row := range of.Stored {
			of.Stored[row] += hex.EncodeToString(p.data[row*p.size:][:p.size])
		}
	}
	return of
}

// step is the greatest distance of two numbers whose codes are neighbours.
func (c *referenceCase) step() (most float64) {
	for _, p := range c.pieces {
		for k := range p.Least {
			most = max(most, (p.Greatest[k]-p.Least[k])/float64(int(1)<<p.Bits-1))
		}
	}
	return most
}

// Features of random tables are those of the reference: the same bits, but for logarithms and normal quantiles, whose functions may differ in the last one.
// They do not depend on the number of goroutines or on the memory.
func TestReference(t *testing.T) {
	count := 400
	if os.Getenv("TORTURE") == "long" {
		count = 6000
	}
	r := rand.New(rand.NewPCG(1, 2))
	cases := make([]*referenceCase, count)
	for i := range cases {
		cases[i] = randomCase(r)
	}
	in, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(cmp.Or(os.Getenv("GRAPHMILL_PYTHON"), "python3"), "testdata/reference/check.py")
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		Rows    [][]float64
		Refused string
		// Of features of few bits: what is in the file, what the report counts, and what the pieces hold.
		Ranges [][2]float64
		Cut    int64
		First  int
		Stored []string
	}
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	made, low := 0, 0
	for i, c := range cases {
		text, _ := json.Marshal(c.Feature)
		rows, err := rowsOf(t, c, Options{Threads: 1, Memory: 1 << 20})
		if err != nil && !errors.Is(err, ErrSpec) {
			t.Fatal(err)
		}
		if (err != nil) != (want[i].Refused != "") {
			t.Fatalf("case %d, %s of %v, fit %v: found the error %v, expected %q", i, text, c.Columns, c.Fit, err, want[i].Refused)
		}
		if err != nil {
			continue
		}
		made++
		if c.spec.Bits != 0 {
			low++
		}
		slack := 0.0
		for _, p := range c.spec.Parts {
			if slices.Contains([]Scale{ScaleLog, ScaleSignedLog, ScaleNormal}, p.Scale) {
				slack = 2e-15
			}
			if p.Encode == EncodeCalendar {
				slack = max(slack, 1e-15)
			}
		}
		if c.spec.Norm != "" {
			slack = max(slack, 1e-14)
		}
		if slack == 0 && c.spec.Bits != 0 {
			got := lowBitOf(c)
			if diff := cmpdiff.Diff(lowBit{want[i].Ranges, want[i].Cut, want[i].First, want[i].Stored}, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("case %d, %s of %v, fit %v: %s", i, text, c.Columns, c.Fit, diff)
			}
		}
		for row, expected := range want[i].Rows {
			for k, x := range expected {
				if slack > 0 && c.spec.Bits != 0 { // a code can be the next one
					slack = max(slack, c.step()/max(1, math.Abs(x)))
				}
				low, high := rounded(x-slack*math.Abs(x)-slack, c.spec.DType), rounded(x+slack*math.Abs(x)+slack, c.spec.DType)
				if got := rows[row][k]; slack == 0 && got != rounded(x, c.spec.DType) || got < low || got > high {
					t.Fatalf("case %d, %s of %v, fit %v: row %d, number %d: found %v, expected %v", i, text, c.Columns, c.Fit, row, k, got, x)
				}
			}
		}
		again, err := rowsOf(t, c, Options{Threads: 3})
		if err != nil || fmt.Sprint(again) != fmt.Sprint(rows) {
			t.Fatalf("case %d: 3 goroutines and more memory give another result, or the error %v", i, err)
		}
	}
	if made < count/3 || low < count/12 {
		t.Errorf("found %d features of %d that are made, %d of few bits, expected at least a third and a twelfth", made, count, low)
	}
}

// rowsOf fits and applies the feature of a case, and widens its pieces.
func rowsOf(t *testing.T, c *referenceCase, opt Options) ([][]float64, error) {
	t.Helper()
	made, err := Fit(t.Context(), c.table, []Spec{c.spec}, opt)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(made[c.spec.Name])
	if err != nil {
		t.Fatal(err)
	}
	var kept Feature
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	if err := kept.check(c.spec.Name); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var pieces []*memory
	applied, err := Apply(t.Context(), c.table, map[string]*Feature{c.spec.Name: &kept}, func(_ string, p *Piece) (io.WriterAt, error) {
		stored, shape := p.Stored(c.spec.DType)
		size := stored.Size()
		for _, d := range shape {
			size *= d
		}
		pieces = append(pieces, &memory{*p, make([]byte, c.table.Rows*size), size})
		return pieces[len(pieces)-1], nil
	}, opt)
	if err != nil {
		return nil, err
	}
	c.feature, c.applied, c.pieces = &kept, applied, pieces
	rows := make([][]float64, c.table.Rows)
	for i := range rows {
		for _, p := range pieces {
			rows[i] = append(rows[i], p.widened(i, c.spec.DType)...)
		}
	}
	return rows, nil
}

// memory is the column of a piece.
type memory struct {
	Piece
	data []byte
	size int
}

func (m *memory) WriteAt(b []byte, at int64) (int, error) { return copy(m.data[at:], b), nil }

// widened is the numbers of a row.
func (m *memory) widened(row int, d graph.DType) []float64 {
	b := m.data[row*m.size:][:m.size]
	out := make([]float64, m.Width)
	switch m.Kind {
	case PieceCode:
		out[0] = float64(int32(binary.LittleEndian.Uint32(b)))
	case PieceOneHot:
		if m.size == 1 {
			out[b[0]] = 1
		} else {
			out[binary.LittleEndian.Uint16(b)] = 1
		}
	case PieceLowBit:
		for k := range out {
			code := int(b[k*m.Bits/8]) >> (k * m.Bits % 8) & (1<<m.Bits - 1)
			out[k] = m.Number(k, code, d)
		}
	case PieceMultiHot:
		for k := range out {
			out[k] = float64(b[k/8] >> (k % 8) & 1)
		}
	default:
		for k := range out {
			switch d {
			case graph.Float32:
				out[k] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*k:])))
			case graph.Float16:
				out[k] = float64(example.Float16(binary.LittleEndian.Uint16(b[2*k:])))
			case graph.BFloat16:
				out[k] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*k:])) << 16))
			}
		}
	}
	return out
}

// randomCase makes a feature of one to three parts, of columns with few or no values now and then.
func randomCase(r *rand.Rand) *referenceCase {
	rows := []int{0, 1, 2, 3, 10, 40}[r.IntN(6)]
	c := &referenceCase{Columns: map[string][]any{}, Fit: make([]bool, rows), spec: Spec{Name: "f", DType: graph.Float32}}
	share := []float64{1, 1, 0.7, 0.2, 0}[r.IntN(5)]
	for i := range c.Fit {
		c.Fit[i] = r.Float64() < share || share == 1
	}
	c.table = &Table{Rows: rows, Fit: func(first int, keep []bool) { copy(keep, c.Fit[first:]) }}
	parts, code := 1+r.IntN(3), r.IntN(6) == 0
	if code {
		parts, c.spec.Code, c.spec.DType = 1, true, graph.Int32
	} else {
		c.spec.DType = []graph.DType{graph.Float32, graph.Float32, graph.Float16, graph.BFloat16}[r.IntN(4)]
		c.spec.Norm = []Norm{"", "", "", NormL1, NormL2, NormMax}[r.IntN(6)]
		c.spec.Bits = []int{0, 0, 8, 4}[r.IntN(4)]
	}
	listed := []any{}
	for k := range parts {
		name := string(rune('a' + k))
		p := randomPart(r, name, code)
		column, values := randomColumn(r, &p, rows)
		column.Name = name
		whole := column.DType.IsInt() && column.Unit == "" && column.Categories == nil
		c.table.Columns = append(c.table.Columns, column)
		if whole {
			c.table.Columns = append(c.table.Columns, marksOf(name, values))
		}
		c.Columns[name] = values
		c.spec.Parts = append(c.spec.Parts, p)
		text, _ := json.Marshal(p)
		var m map[string]any
		_ = json.Unmarshal(text, &m)
		m["as_code"], m["whole"] = code, whole
		if column.Unit != "" {
			m["per_second"] = column.Unit.PerSecond()
		}
		listed = append(listed, m)
	}
	c.Feature = map[string]any{"parts": listed, "norm": string(c.spec.Norm), "bits": c.spec.Bits, "dtype": c.spec.DType.String()}
	return c
}

// pick returns one of several values.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// randomPart makes a part.
func randomPart(r *rand.Rand, from string, code bool) Part {
	p := Part{From: from}
	if code {
		p.Encode = pick(r, EncodeCode, EncodeOrdinal, EncodeBuckets)
	} else {
		p.Encode = pick(r, EncodeNone, EncodeNone, EncodeNone, EncodeBuckets, EncodeOneHot, EncodeMultiHot, EncodeFrequency, EncodeOrdinal, EncodeHash, EncodeLength, EncodeCalendar, EncodeAge)
	}
	numbers := slices.Contains([]Encode{EncodeNone, EncodeFrequency, EncodeLength, EncodeCalendar, EncodeAge, EncodeOrdinal}, p.Encode)
	if !code && numbers || p.Encode == EncodeBuckets {
		p.Impute = pick(r, "", ImputeMean, ImputeMedian, ImputeMode, ImputeConstant)
		if p.Impute == ImputeConstant {
			p.Value = float64(r.IntN(3))
		}
		if r.IntN(5) == 0 {
			p.Clip = &[2]float64{-1, 5}
		}
	}
	if !code && numbers {
		p.Flag = r.IntN(4) == 0
		p.Scale = pick(r, "", ScaleStandard, ScaleMinMax, ScaleMinMaxCut, ScaleMaxAbs, ScaleRobust, ScaleLog, ScaleSignedLog, ScaleUniform, ScaleNormal)
	}
	switch p.Encode {
	case EncodeBuckets:
		if r.IntN(3) == 0 {
			p.Edges = []float64{-2, 0, 1.5, 3}
		} else {
			p.Count, p.By = 2+r.IntN(5), pick(r, ByWidth, ByRows)
		}
	case EncodeCode, EncodeOneHot, EncodeMultiHot, EncodeFrequency:
		p.Least, p.Most = int64(r.IntN(3)), pick(r, 0, 0, 1, 3, 40)
	case EncodeOrdinal:
		p.Order = []string{"b", "a", "ü"}
	case EncodeHash:
		p.Hash = &Hash{Dim: 1 + r.IntN(9), Least: 1, Most: 1 + r.IntN(3), Characters: r.IntN(2) == 0, Unsigned: r.IntN(2) == 0}
	case EncodeCalendar:
		if p.Impute == ImputeMode { // sines that differ in the last bit are not equally frequent
			p.Impute = ImputeMedian
		}
		p.Parts = []string{pick(r, CalendarParts...), pick(r, "month-cycle", "day-cycle", "weekday-cycle", "hour-cycle", "minute-cycle", "yearday-cycle"), pick(r, CalendarParts...)}
		p.Zone = pick(r, "", "Europe/Berlin", "America/St_Johns")
	case EncodeAge:
		p.At, p.Unit = r.Int64N(4e9)-2e9, pick(r, "", "seconds", "minutes", "hours", "days", "weeks", "years")
	}
	if p.Encode == EncodeMultiHot && r.IntN(2) == 0 {
		p.Separator = ";"
	}
	if p.Order != nil || slices.Contains([]Encode{EncodeCode, EncodeOneHot, EncodeMultiHot, EncodeFrequency}, p.Encode) {
		p.Unknown = pick(r, "", "", UnknownOther, UnknownError)
	}
	return p
}

// randomColumn makes a column that a part takes, and its values as the reference takes them.
func randomColumn(r *rand.Rand, p *Part, rows int) (*graph.Column, []any) {
	gaps := []float64{0, 0, 0.2, 0.7, 1}[r.IntN(5)]
	values := make([]any, rows)
	switch p.Encode {
	case EncodeNone, EncodeBuckets:
		return randomNumbers(r, p, rows, gaps, values)
	case EncodeCalendar, EncodeAge:
		unit := pick(r, graph.Unit("s"), graph.Unit("ms"), graph.Unit("ns"))
		ticks := make([]int64, rows)
		for i := range ticks {
			if ticks[i] = graph.NoTime; r.Float64() >= gaps {
				ticks[i] = r.Int64N(8e9*unit.PerSecond()) - 4e9*unit.PerSecond()
				values[i] = ticks[i]
			}
		}
		return &graph.Column{DType: graph.Int64, Unit: unit, Rows: rows, Values: graph.Bytes(ticks)}, values
	}
	words := []string{"a", "b", "ü", "Z", "x;y", "a;b;a", ";", "cats and dogs", "東京  Tower"}
	for range r.IntN(80) {
		words = append(words, fmt.Sprint("w", len(words)))
	}
	if p.Encode == EncodeMultiHot && p.Separator == "" {
		return randomTags(r, words, rows, values)
	}
	var texts []string
	for i := range rows {
		if texts = append(texts, ""); r.Float64() >= gaps {
			texts[i] = words[r.IntN(len(words))]
			values[i] = texts[i]
		}
	}
	if r.IntN(2) == 0 {
		return textColumn(texts), values
	}
	codes := make([]int32, rows)
	for i, text := range texts {
		codes[i] = int32(slices.Index(words, text))
	}
	return &graph.Column{DType: graph.Int32, Rows: rows, Values: graph.Bytes(codes), Categories: textColumn(words)}, values
}

// textColumn is a column of texts.
func textColumn(texts []string) *graph.Column {
	c := &graph.Column{DType: graph.String, Rows: len(texts), StringOffsets: graph.Index{U64: []uint64{0}}}
	for _, text := range texts {
		c.Values = append(c.Values, text...)
		c.StringOffsets.U64 = append(c.StringOffsets.U64, uint64(len(c.Values)))
	}
	return c
}

// randomTags makes a column of lists of texts.
func randomTags(r *rand.Rand, words []string, rows int, values []any) (*graph.Column, []any) {
	var all []string
	offsets := []uint64{0}
	for i := range rows {
		list := []string{}
		for range r.IntN(4) {
			list = append(list, pick(r, words...))
		}
		all = append(all, list...)
		values[i] = list
		offsets = append(offsets, uint64(len(all)))
	}
	c := textColumn(all)
	c.Rows, c.Shape, c.Offsets = rows, []int{-1}, []graph.Index{{U64: offsets}}
	return c, values
}

// randomNumbers makes a column of numbers, or of vectors of them, of some dtype and law, with gaps and infinities now and then.
func randomNumbers(r *rand.Rand, p *Part, rows int, gaps float64, values []any) (*graph.Column, []any) {
	scale, shift, law := math.Exp(r.NormFloat64()*5), r.NormFloat64()*math.Exp(r.NormFloat64()*4), r.IntN(4)
	infinite := r.IntN(12) == 0
	if r.IntN(12) == 0 { // the square, or its inverse, is beyond float64
		far := pick(r, 1e-200, 1e200)
		scale, shift = scale*far, shift*far
	}
	great := r.IntN(24) == 0
	number := func() float64 {
		x := shift
		switch {
		case infinite && r.IntN(20) == 0:
			return math.Inf(1)
		case great:
			return math.MaxFloat64 * (2*r.Float64() - 1)
		case law == 0: // ties
			x = float64(r.IntN(5) - 1)
		case law > 1:
			x += scale * r.NormFloat64()
		} // else a constant
		if p.Scale == ScaleLog && r.IntN(20) > 0 {
			x = math.Abs(x)
		}
		return x
	}
	if d := pick(r, graph.Float64, graph.Float32, graph.Int64, graph.Uint8); d.IsInt() {
		return randomIntegers(r, d, rows, gaps, values)
	} else if p.Encode == EncodeNone && r.IntN(4) == 0 {
		vectors := make([]float32, 2*rows)
		for i := range vectors {
			if vectors[i] = float32(math.NaN()); r.Float64() >= gaps {
				vectors[i] = float32(number())
			}
		}
		for i := range rows {
			values[i] = []any{shown(float64(vectors[2*i])), shown(float64(vectors[2*i+1]))}
		}
		return &graph.Column{DType: graph.Float32, Shape: []int{2}, Rows: rows, Values: graph.Bytes(vectors)}, values
	} else if d == graph.Float32 {
		numbers := make([]float32, rows)
		for i := range numbers {
			if numbers[i] = float32(math.NaN()); r.Float64() >= gaps {
				numbers[i] = float32(number())
			}
			values[i] = shown(float64(numbers[i]))
		}
		return &graph.Column{DType: d, Rows: rows, Values: graph.Bytes(numbers)}, values
	}
	numbers := make([]float64, rows)
	for i := range numbers {
		if numbers[i] = math.NaN(); r.Float64() >= gaps {
			numbers[i] = number()
		}
		values[i] = shown(numbers[i])
	}
	return &graph.Column{DType: graph.Float64, Rows: rows, Values: graph.Bytes(numbers)}, values
}

// marksOf is the column that marks the values that are nil.
func marksOf(name string, values []any) *graph.Column {
	marks := make([]byte, len(values))
	for i, v := range values {
		if v == nil {
			marks[i] = 1
		}
	}
	return &graph.Column{Name: name + MarkSuffix, DType: graph.Bool, Rows: len(values), Values: marks}
}

// randomIntegers makes a column of whole numbers, now and then of some that dtypes of features round. What stands in a gap is no value.
func randomIntegers(r *rand.Rand, d graph.DType, rows int, gaps float64, values []any) (*graph.Column, []any) {
	bytes, numbers := make([]uint8, rows), make([]int64, rows)
	shift := pick(r, uint(0), 0, 0, 18)
	for i := range rows {
		bytes[i] = uint8(r.IntN(256))
		numbers[i] = (r.Int64N(200)-50)<<shift + r.Int64N(2)
		if r.Float64() < gaps {
			continue
		}
		if d == graph.Uint8 {
			values[i] = float64(bytes[i])
		} else {
			values[i] = float64(numbers[i])
		}
	}
	if d == graph.Uint8 {
		return &graph.Column{DType: d, Rows: rows, Values: bytes}, values
	}
	return &graph.Column{DType: d, Rows: rows, Values: graph.Bytes(numbers)}, values
}

// shown is a number as JSON has it: a missing one is null, and an infinity a text.
func shown(x float64) any {
	switch {
	case x != x:
		return nil
	case math.IsInf(x, 0):
		return map[bool]string{true: "inf", false: "-inf"}[x > 0]
	}
	return x
}
