package option

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ParseSplit is the inverse of String.
func TestParseSplit(t *testing.T) {
	some := []float64{.8, .1, .1}
	for text, want := range map[string]Split{
		"0.8,0.1,0.1":                                  {Ratios: some},
		"paper=0.8,0.1,0.1":                            {Of: "paper", Ratios: some},
		"paper.year@2018,2020":                         {Of: "paper.year", At: []string{"2018", "2020"}},
		"paper=0.8,0.1,0.1;stratify=label":             {Of: "paper", Ratios: some, Stratify: "label"},
		"0.8,0.1,0.1;group=user id":                    {Ratios: some, Group: "user id"},
		"u:r:v;like=nodes":                             {Of: "u:r:v", Like: "nodes"},
		"paper;stratify=y;per_class=20;valid=5;test=9": {Of: "paper", Stratify: "y", PerClass: 20, ValidRows: 5, TestRows: 9},
		"a:b:c=0.8,0.1,0.1;disjoint=0.3":               {Of: "a:b:c", Ratios: []float64{0.8, 0.1, 0.1}, Disjoint: 0.3},
		";folds=5;valid_folds=1":                       {Folds: 5, ValidFolds: 1},
		"paper;masks=a,,b":                             {Of: "paper", Masks: []string{"a", "", "b"}},
		"u:r:v;files=a.csv,,d/b.csv;columns=src,dst":   {Of: "u:r:v", Files: []string{"a.csv", "", "d/b.csv"}, IDColumns: []string{"src", "dst"}},
	} {
		got, err := ParseSplit(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", text, err, diff)
		}
		if got.String() != text {
			t.Errorf("found %s, expected %s", got.String(), text)
		}
	}
	for _, text := range []string{"", "paper", "0.8,0.1", "a@1", "@1,2", "paper;", "paper;folds", "paper;folds=x", "paper;folds=0", "paper;fold=5", "paper;masks=a,b", "paper=1,2;folds=5", "paper;stratify="} {
		if s, err := ParseSplit(text); !errors.Is(err, ErrUsage) {
			t.Errorf("%q: found %+v, %v, expected an error of usage", text, s, err)
		}
	}
}
