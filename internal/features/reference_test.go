package features

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

type numbersCase struct {
	What  string     `json:"what"`
	How   string     `json:"how"`
	Fit   []*float64 `json:"fit"`
	Rows  []*float64 `json:"rows"`
	Count int        `json:"count"`
}

// The numbers are those of the reference: the same bits, but for logarithms and normal quantiles, whose functions may differ in the last one.
func TestReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var cases []numbersCase
	for range 400 {
		for _, c := range []struct {
			what string
			how  []string
		}{
			{"fill", []string{"mean", "median", "mode", "constant"}},
			{"buckets", []string{"width", "shares"}},
			{"scale", []string{"standard", "min-max", "min-max-clip", "max-abs", "robust", "log", "signed-log", "uniform-quantiles", "normal-quantiles"}},
		} {
			how := c.how[r.IntN(len(c.how))]
			make := randomColumn(r, how == "log")
			cases = append(cases, numbersCase{c.what, how, make(r.IntN(40)), make(20), 2 + r.IntN(6)})
		}
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
		Values  []*float64
		Refused string
	}
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		n, refused := fitted(t, c)
		if refused != (want[i].Refused != "") {
			t.Fatalf("%+v: refused is %v, expected %q", c, refused, want[i].Refused)
		}
		if refused {
			continue
		}
		for k, x := range c.Rows {
			got := n.apply(number(x))
			slack := 0.0
			if slices.Contains([]string{"log", "signed-log", "normal-quantiles"}, c.how()) {
				slack = 4e-16 * math.Abs(got)
			}
			if expected := number(want[i].Values[k]); !(math.Abs(got-expected) <= slack || math.IsNaN(got) && math.IsNaN(expected)) {
				t.Fatalf("%s %s, row %d: found %v, expected %v", c.What, c.How, k, got, expected)
			}
		}
	}
}

func (c *numbersCase) how() string { return c.How }

// randomColumn returns a function that makes columns of one law, with gaps.
func randomColumn(r *rand.Rand, above bool) func(rows int) []*float64 {
	scale, shift, ties, gaps := math.Exp(r.NormFloat64()*5), r.NormFloat64()*math.Exp(r.NormFloat64()*4), r.IntN(3) == 0, float64(r.IntN(4))/4
	constant := r.IntN(8) == 0
	return func(rows int) []*float64 {
		column := make([]*float64, rows)
		for i := range column {
			x := shift
			switch {
			case r.Float64() < gaps:
				continue
			case constant:
			case ties:
				x = float64(r.IntN(5) - 2)
			default:
				x += scale * r.NormFloat64()
			}
			if above {
				x = math.Abs(x)
			}
			column[i] = &x
		}
		return column
	}
}

func number(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// fitted fits the numbers of a case: its rows of the fit are among others, and its memory is too small for them now and then.
func fitted(t *testing.T, c numbersCase) (n Numbers, refused bool) {
	p := Part{From: "a"}
	switch c.What {
	case "scale":
		p.Scale = Scale(c.How)
	case "fill":
		if p.Impute = Impute(c.How); p.Impute == ImputeConstant {
			p.Value = -7
		}
	case "buckets":
		p.Encode, p.Count, p.By = EncodeBuckets, c.Count, ByRows
		if c.How == "width" {
			p.By = ByWidth
		}
	}
	values := []float64{1e9, math.NaN()}
	for _, x := range c.Fit {
		values = append(values, number(x), -1e9)
	}
	table := &Table{Rows: len(values), Columns: []*graph.Column{{Name: "a", DType: graph.Float64, Rows: len(values), Values: graph.Bytes(values)}},
		Fit: func(first int, keep []bool) {
			for i := range keep {
				keep[i] = first+i >= 2 && i%2 == 0
			}
		}}
	state, err := fitPart(t.Context(), table, &p, 1<<20, &Options{})
	if err != nil {
		if !errors.Is(err, ErrSpec) {
			t.Fatal(err)
		}
		return n, true
	}
	return state.Numbers[0], false
}
