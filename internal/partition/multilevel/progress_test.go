package multilevel_test

import (
	"testing"

	"github.com/graphmill/graphmill/internal/partition/multilevel"
)

// Progress never falls and never exceeds its total, and tells of each level, with every preset.
func TestProgress(t *testing.T) {
	const side = 60
	var pairs [][2]int
	for v := range side * side {
		if v%side > 0 {
			pairs = append(pairs, [2]int{v, v - 1})
		}
		if v >= side {
			pairs = append(pairs, [2]int{v, v - side})
		}
	}
	for _, preset := range []multilevel.Preset{multilevel.Fast, multilevel.Default, multilevel.High} {
		o := options(4, 1)
		o.Preset = preset
		calls, last := 0, int64(0)
		o.Progress = func(done, total int64) {
			if done < last || done > total {
				t.Errorf("%s: %d of %d after %d", preset, done, total, last)
			}
			calls, last = calls+1, done
		}
		if _, stats := partition(t, graph(side*side, pairs), o); calls < stats.Levels {
			t.Errorf("%s: %d calls, %d levels", preset, calls, stats.Levels)
		}
	}
}
