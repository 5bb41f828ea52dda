package human

import "testing"

// One thing is not said as several are; any other number changes nothing.
func TestThings(t *testing.T) {
	for many, one := range map[string]string{
		"edges":               "edge",
		"batches":             "batch",
		"halo edges":          "halo edge",
		"edges/s":             "edges/s",
		"pairs of neighbours": "pair of neighbours",
		"":                    "",
		"rows of rows dropped: nodes are not unique":                   "row of rows dropped: nodes are not unique",
		"self-loops of a:self-loops:a dropped":                         "self-loop of a:self-loops:a dropped",
		"parts are empty":                                              "part is empty",
		"columns are left out, because not every type has them: x are": "column is left out, because not every type has them: x are",
		"Examples have the key \"k\", which the schema does not":       "Example has the key \"k\", which the schema does not",
		"e/tiny: float64 values are too close to 0":                    "e/tiny: float64 values are too close to 0",
	} {
		if got := Things(1, many); got != one {
			t.Errorf("found %q, expected %q", got, one)
		}
		for _, n := range []int64{-1, 0, 2} {
			if got := Things(n, many); got != many {
				t.Errorf("%d: found %q, expected %q", n, got, many)
			}
		}
	}
}
