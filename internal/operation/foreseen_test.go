package operation

import (
	"testing"

	"github.com/graphmill/graphmill/internal/progress"
	"github.com/graphmill/graphmill/option"
)

func TestForeseen(t *testing.T) {
	var told float64
	o := option.Run{Progress: func(p option.Progress) { told = p.Share }}
	Foresee(&o, []progress.Stage{{Name: "read", Work: 1}, {Name: "quick", Work: 0.5}, {Name: "sort", Work: 1.5}, {Name: "write", Work: 1}})
	for i, c := range []struct {
		at   option.Progress
		want float64
	}{
		{option.Progress{Stage: "read", Done: 5, Total: 10}, 0.125},
		{option.Progress{Stage: "read", Done: 4, Total: 10}, 0.125}, // it never falls
		{option.Progress{Stage: "read", Done: 20, Total: 10}, 0.25},
		{option.Progress{Stage: "read", Done: 20, Total: 10, End: true}, 0.25},
		{option.Progress{Stage: "other", Done: 1, Total: 1}, 0.25},
		{option.Progress{Stage: "sort", Done: 7}, 0.375}, // its total is not known, and what comes before it has ended
		{option.Progress{Stage: "quick", Done: 1, Total: 2}, 0.375},
		{option.Progress{Stage: "sort", End: true}, 0.75},
		{option.Progress{Stage: "write", End: true}, 1},
	} {
		if o.Progress(c.at); told != c.want {
			t.Errorf("%d: found share %v of %+v, expected %v", i, told, c.at, c.want)
		}
	}
}
