package report

import (
	"math"
	"strconv"

	"github.com/graphmill/graphmill/internal/human"
)

// tick is a place on an axis. A tick without a label is a fainter line of the grid.
type tick struct {
	at    float64
	label string
}

// step is the distance between ticks: mantissa * 10^exponent, with the mantissa 1, 2 or 5.
type step struct {
	mantissa float64
	exponent int
}

// newStep returns the smallest step that is at least s; s is above 0 and finite.
func newStep(s float64) step {
	e := int(math.Floor(math.Log10(s)))
	for _, m := range []float64{1, 2, 5} {
		if p := (step{m, e}); s <= p.times(1)*(1+1e-9) {
			return p
		}
	}
	return step{1, e + 1}
}

// times returns i steps. It divides by powers of ten below 1, which float64 does not hold, so that three steps of
// 0.1 are 0.3.
func (s step) times(i float64) float64 {
	if s.exponent < 0 {
		return i * s.mantissa / math.Pow10(-s.exponent)
	}
	return i * s.mantissa * math.Pow10(s.exponent)
}

// ticksStep returns the step for at most n+1 ticks between lo and hi.
func ticksStep(lo, hi float64, n int) step {
	least := max(math.Abs(lo), math.Abs(hi)) * 0x1p-40 // float64 holds all steps from there
	return newStep(max((hi-lo)/float64(n), least, math.SmallestNonzeroFloat64*0x1p60))
}

// evenTicks returns the round numbers in [lo, hi], at most n+1 and at least one, with labels that differ.
func evenTicks(lo, hi float64, n int, name func(float64) string) []tick {
	return ticksStep(lo, hi, n).ticks(lo, hi, name)
}

// upTo returns evenTicks from 0 to the first one that is at least hi, where the axis ends.
func upTo(hi float64, n int, name func(float64) string) (end float64, ticks []tick) {
	s := ticksStep(0, hi, n)
	end = s.times(math.Ceil(hi/s.times(1) - stepSlack))
	return end, s.ticks(0, end, name)
}

// stepSlack is the part of a step by which a tick may lie outside of its axis, because float64 rounds.
const stepSlack = 1e-6

func (s step) ticks(lo, hi float64, name func(float64) string) []tick {
	var ticks []tick
	last := hi/s.times(1) + stepSlack
	for i := math.Ceil(lo/s.times(1) - stepSlack); i <= last; i++ {
		v := s.times(i) + 0 // never -0
		ticks = append(ticks, tick{v, name(v)})
	}
	if len(ticks) == 0 {
		ticks = []tick{{lo, name(lo)}}
	}
	return distinct(ticks)
}

// distinct writes the numbers out where their short labels would be the same: 1,000,002 for 1M.
func distinct(ticks []tick) []tick {
	seen := map[string]bool{}
	for _, t := range ticks {
		seen[t.label] = true
	}
	if len(seen) == len(ticks) {
		return ticks
	}
	for i, t := range ticks {
		ticks[i].label = strconv.FormatFloat(t.at, 'g', -1, 64)
		if t.at == math.Trunc(t.at) && math.Abs(t.at) < 1<<62 {
			ticks[i].label = human.Exact(int64(t.at))
		}
	}
	return ticks
}

// decades returns the powers of ten in [lo, hi], so few of them labelled that the labels do not touch.
func decades(lo, hi float64, name func(float64) string) []tick {
	from, to := int(math.Ceil(math.Log10(lo)-1e-9)), int(math.Floor(math.Log10(hi)+1e-9))
	every := 1 + (to-from)/8
	var ticks []tick
	for e := from; e <= to; e++ {
		t := tick{at: math.Pow10(e)}
		if e%every == 0 { // so that 1, or 100%, has a label
			t.label = name(t.at)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// logTicks returns ticks for a logarithmic axis over [lo, hi], where lo is above 0: decades where there are three;
// for fewer, 1, 2 and 5 times the powers of ten; for fewer than two of these, evenTicks.
func logTicks(lo, hi float64, name func(float64) string) []tick {
	tens := decades(lo, hi, name)
	if len(tens) >= 3 {
		return tens
	}
	var ticks []tick
	for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := (step{m, int(e)}).times(1); lo <= v && v <= hi {
				ticks = append(ticks, tick{v, name(v)})
			}
		}
	}
	if len(ticks) < 2 {
		return evenTicks(lo, hi, 4, name)
	}
	return distinct(ticks)
}

// octaveTicks returns ticks for a logarithmic axis over powers of two, [lo, hi]: decades where there are three of
// them, else powers of two.
func octaveTicks(lo, hi float64, name func(float64) string) []tick {
	if ticks := decades(lo, hi, name); len(ticks) >= 3 {
		return ticks
	}
	every := math.Pow(2, math.Ceil(math.Log2(hi/lo)/8))
	var ticks []tick
	for v := math.Pow(2, math.Ceil(math.Log2(lo))); v <= hi; v *= every {
		ticks = append(ticks, tick{v, name(v)})
	}
	return distinct(ticks)
}

// timeTicks returns evenTicks from 0 s to hi seconds, round in the unit that suits hi.
func timeTicks(hi float64, n int) []tick {
	unit, name := 1.0, "s"
	switch {
	case hi < 1e-3:
		unit, name = 1e-6, "µs"
	case hi < 1:
		unit, name = 1e-3, "ms"
	case hi >= 2*3600:
		unit, name = 3600, "h"
	case hi >= 120:
		unit, name = 60, "min"
	}
	ticks := evenTicks(0, hi/unit, n, human.Tick)
	for i := range ticks {
		ticks[i] = tick{ticks[i].at * unit, ticks[i].label + " " + name}
	}
	return ticks
}

// shareName labels a share on an axis.
func shareName(f float64) string {
	if f > 0 && f < 0.9e-5 {
		return "1 in " + human.Tick(math.Round(1/f))
	}
	return human.Percent(f)
}
