//go:build interop

package features

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/exact"
)

// peerCase is a column and what is made of it.
type peerCase struct {
	How    string `json:"how"`
	Values []any  `json:"values"`
	Fit    []bool `json:"fit"`
	Count  int    `json:"count"`
	Least  int64  `json:"least"`
	Most   int    `json:"most"`

	column *graph.Column
}

// Features of random columns are those of scikit-learn in float64, to 1e-6, but for the cases in which docs/features.md says that they differ.
func TestPeerScikitLearn(t *testing.T) {
	peer := exec.Command("../../bench/peers.sh", "features")
	peer.Stderr = os.Stderr
	python, err := peer.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh features: %v", err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	hows := []string{"standard", "min-max", "min-max-clip", "max-abs", "robust", "uniform-quantiles", "normal-quantiles", "mean", "median", "mode", "constant", "width", "rows", "one-hot", "l1", "l2", "max"}
	var cases []*peerCase
	for len(cases) < 1000 {
		cases = append(cases, randomPeerCase(r, hows[len(cases)%len(hows)]))
	}
	in, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(strings.TrimSpace(string(python)), "testdata/scikit.py")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want [][][]*float64
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	other := map[string]int{}
	for i, c := range cases {
		if want[i] == nil {
			other[c.How]++
			continue
		}
		rows := c.made(t)
		for row, expected := range want[i] {
			for k, x := range expected {
				got := rows[row][k]
				if x == nil {
					if !math.IsNaN(got) {
						t.Fatalf("case %d, %s of %v: row %d: found %v, expected no number", i, c.How, c.Values, row, got)
					}
					continue
				}
				if math.Abs(got-*x) > 1e-6*(1+math.Abs(*x)) {
					t.Fatalf("case %d, %s of %v, fit %v: row %d, number %d: found %v, expected %v", i, c.How, c.Values, c.Fit, row, k, got, *x)
				}
			}
		}
	}
	for how, n := range other {
		if n > len(cases)/len(hows)/3 {
			t.Errorf("%s: found %d cases by another rule, expected at most a third", how, n)
		}
	}
}

// made makes the numbers of all rows, in float64; one that is missing stays NaN.
func (c *peerCase) made(t *testing.T) [][]float64 {
	t.Helper()
	p := Part{From: "a"}
	norm := NormNone
	switch c.How {
	case "mean", "median", "mode", "constant":
		p.Impute = Impute(c.How)
	case "width", "rows":
		p.Encode, p.Count, p.By = EncodeBuckets, c.Count, By(c.How)
	case "one-hot":
		p.Encode, p.Least, p.Most = EncodeOneHot, c.Least, c.Most
	case "l1", "l2", "max":
		norm = Norm(c.How)
	default:
		p.Scale = Scale(c.How)
	}
	table := &Table{Rows: c.column.Rows, Columns: []*graph.Column{c.column}, Fit: func(first int, keep []bool) { copy(keep, c.Fit[first:]) }}
	if norm != NormNone {
		numbers := bytesToNumbers(c.column)
		normalise(numbers, 2, norm)
		rows := [][]float64{}
		for i := 0; i < len(numbers); i += 2 {
			rows = append(rows, numbers[i:i+2])
		}
		return rows
	}
	state, err := fitPart(t.Context(), table, &p, 1<<20, &Options{}, &exact.Sorter{})
	if err != nil {
		t.Fatalf("%s of %v, fit %v: %v", c.How, c.Values, c.Fit, err)
	}
	rows := make([][]float64, table.Rows)
	s, err := newSource(&p, table)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if p.Encode == EncodeOneHot {
			s.cats = state.Categories
			s.cats.Index(s.c, false)
			rows[i] = make([]float64, state.Width)
			rows[i][(&block{}).place(s, &faults{}, i)] = 1
			continue
		}
		var x [1]float64
		s.numbers(i, 0, x[:])
		rows[i] = []float64{state.Numbers[0].apply(x[0])}
	}
	return rows
}

func bytesToNumbers(c *graph.Column) []float64 {
	return append([]float64{}, graph.View[float64](c.Values)...)
}

// randomPeerCase makes a column: of few or many values, with ties, constant, skewed, large or small, with gaps where scikit-learn takes them.
func randomPeerCase(r *rand.Rand, how string) *peerCase {
	rows := []int{2, 4, 10, 100, 2000}[r.IntN(5)]
	c := &peerCase{How: how, Fit: make([]bool, rows), Count: 2 + r.IntN(8), Least: int64(r.IntN(4)), Most: []int{0, 0, 1, 3, 10}[r.IntN(5)]}
	for i := range c.Fit {
		c.Fit[i] = i < 2 || r.Float64() < 0.7
	}
	if how == "one-hot" {
		var texts []string
		for range rows {
			texts = append(texts, fmt.Sprint([]string{"a", "Z", "ü", "東", "zz"}[r.IntN(5)], r.IntN(1+r.IntN(8))))
			c.Values = append(c.Values, texts[len(texts)-1])
		}
		c.column = textColumn(texts)
		c.column.Name = "a"
		return c
	}
	gaps, law, scale := 0.0, r.IntN(5), math.Exp(r.NormFloat64()*3)
	if how != "width" && how != "rows" && how != "l1" && how != "l2" && how != "max" {
		gaps = []float64{0, 0.1, 0.5}[r.IntN(3)]
	}
	numbers := make([]float64, rows)
	for i := range numbers {
		x := scale * r.NormFloat64()
		switch law {
		case 0:
			x = float64(r.IntN(4))
		case 1:
			x = scale
		case 2:
			x = math.Exp(3 * r.NormFloat64())
		case 3:
			x += 1e6
		}
		if i > 1 && r.Float64() < gaps {
			x = math.NaN()
		}
		numbers[i] = x
		c.Values = append(c.Values, shown(x))
	}
	c.column = &graph.Column{Name: "a", DType: graph.Float64, Rows: rows, Values: graph.Bytes(numbers)}
	return c
}
