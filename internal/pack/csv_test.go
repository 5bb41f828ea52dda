package pack

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

func TestReadCSV(t *testing.T) {
	h, err := ReadCSV("h.csv", strings.NewReader("\ufeffnum_nodes, num_edges,count\n3,4,2\n1,0,5\n3,4,1\n9,9,0\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if h.Graphs() != 8 || len(h.Counts) != 2 || h.Total(1) != 12 || h.Max(0) != 3 || h.Shape(1)[0] != 3 || h.Counts[1] != 3 {
		t.Errorf("found %+v", h)
	}
	for text, want := range map[string]string{
		"":                                  "h.csv:1: found nothing",
		"a,b\n1,2\n":                        "h.csv:1: found columns",
		"a,a,count\n":                       "h.csv:1: found column",
		"a,count\n1,2\nx,3\n":               `h.csv:3: found a "x"`,
		"a,count\n1,-2\n":                   `h.csv:2: found count "-2"`,
		"a,count\n1,NaN\n":                  `h.csv:2: found count "NaN"`,
		"a,count\n-1,2\n":                   `h.csv:2: found a "-1"`,
		"a,count\n99999999999,1":            `h.csv:2: found a "99999999999"`,
		"a,count\n1,99999999999999999999\n": `h.csv:2: found count`,
		"a,count\n1,2,3\n":                  "h.csv:2: found another number of fields, expected 2",
		"a,count\n1,\"2\n":                  "h.csv:2: column",
		"a,count\n1,4611686018427387905\n":  "h.csv:2: found count",
		"a,count\n":                         "h.csv: found no graphs",
		"a,count\n1,0\n":                    "h.csv: found no graphs",
		"a,b,c,d,e,f,g,h,count":             "h.csv:1: found 8 components",
	} {
		_, err := ReadCSV("h.csv", strings.NewReader(text), 0)
		if !errors.Is(err, ErrHistogram) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: found error %v, expected %q", text, err, want)
		}
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add("num_nodes,num_edges,count\n3,4,2\n1,0,5\n")
	f.Add("a,count\n2147483647,4611686018427387904\n")
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			h, err := ReadCSV("h.csv", strings.NewReader(text), 0)
			if err == nil && (h.Graphs() < 1 || len(h.Sizes) != len(h.Counts)*len(h.Components)) {
				t.Errorf("found %+v", h)
			}
		})
	})
}
