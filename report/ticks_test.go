package report

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/human"
)

// checkTicks checks what holds for all ticks: they ascend within [lo, hi], and labels differ.
func checkTicks(t *rapid.T, ticks []tick, lo, hi float64, most int) {
	labels := map[string]bool{}
	slack := 1e-6*(hi-lo) + 1e-15*max(math.Abs(lo), math.Abs(hi))
	for i, k := range ticks {
		if i > 0 && k.at <= ticks[i-1].at {
			t.Fatalf("found %v after %v", k, ticks[i-1])
		}
		if k.at < lo-slack || k.at > hi+slack {
			t.Fatalf("found %v outside [%v, %v]", k, lo, hi)
		}
		if k.label == "" {
			continue
		}
		if labels[k.label] {
			t.Fatalf("found the label %q twice", k.label)
		}
		labels[k.label] = true
	}
	if len(labels) < 1 || len(labels) > most {
		t.Fatalf("found %d labels, expected 1 to %d: %v", len(labels), most, ticks)
	}
}

func magnitude(t *rapid.T, name string, from, to float64) float64 {
	return math.Pow(10, rapid.Float64Range(from, to).Draw(t, name))
}

func TestEvenTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 10).Draw(t, "n")
		span := magnitude(t, "span", -12, 15)
		lo := span * rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		hi := lo + span
		name := rapid.SampledFrom([]func(float64) string{human.Tick, shareName}).Draw(t, "name")
		ticks := evenTicks(lo, hi, n, name)
		checkTicks(t, ticks, lo, hi, n+1)
		// They cover the range: no step fits before the first or after the last.
		s := ticksStep(lo, hi, n).times(1) * (1 + 1e-6)
		if ticks[0].at-lo > s || hi-ticks[len(ticks)-1].at > s {
			t.Fatalf("found %v, expected ticks all over [%v, %v]", ticks, lo, hi)
		}

		top := magnitude(t, "top", -12, 18)
		end, ticks := upTo(top, n, name)
		checkTicks(t, ticks, 0, end, n+1)
		if end < top*(1-1e-6) || ticks[0].at != 0 || math.Abs(ticks[len(ticks)-1].at-end) > end*1e-9 {
			t.Fatalf("found %v up to %v, expected ticks from 0 to %v or more", ticks, end, top)
		}
	})
}

// Any range gives ticks, also one that float64 can hardly divide.
func TestEvenTicksOfAnyRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e15, 1e15).Draw(t, "lo")
		hi := rapid.Float64Range(-1e15, 1e15).Draw(t, "hi")
		if rapid.Bool().Draw(t, "next") {
			hi = math.Nextafter(lo, math.Inf(1))
		}
		lo, hi = min(lo, hi), max(lo, hi)
		checkTicks(t, evenTicks(lo, hi, 5, human.Tick), lo, hi, 6)
	})
}

func TestLogTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := magnitude(t, "lo", -9, 18)
		hi := lo * magnitude(t, "ratio", 0.01, 20)
		ticks := logTicks(lo, hi, human.Tick)
		checkTicks(t, ticks, lo, hi, 10)
		if hi >= 5*lo && len(ticks) < 2 {
			t.Fatalf("found %v, expected two ticks or more", ticks)
		}
		// They cover the range.
		gap := 10.0
		if ticks[0].at/lo > gap*1.001 || hi/ticks[len(ticks)-1].at > gap*1.001 {
			t.Fatalf("found %v, expected ticks all over [%v, %v]", ticks, lo, hi)
		}
		from := math.Pow(2, math.Floor(math.Log2(lo)))
		checkTicks(t, octaveTicks(from, from*math.Pow(2, math.Ceil(math.Log2(hi/lo))), human.Tick), from, 2*hi, 10)
		checkTicks(t, decades(min(lo, 0.1)*1e-3, 1, shareName), 0, 1, 10)
	})
}

func TestTimeTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hi := magnitude(t, "hi", -9, 9)
		checkTicks(t, timeTicks(hi, 5), 0, hi, 6)
	})
}

func TestTicksByExample(t *testing.T) {
	for _, c := range []struct {
		got  []tick
		want []string
	}{
		{evenTicks(0, 0.97, 5, shareName), []string{"0%", "20%", "40%", "60%", "80%"}},
		{evenTicks(0, 1, 10, human.Tick), []string{"0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"}},
		{evenTicks(1_000_000, 1_000_009, 5, human.Tick), []string{"1,000,000", "1,000,002", "1,000,004", "1,000,006", "1,000,008"}},
		{evenTicks(-3, 3, 4, human.Tick), []string{"-2", "0", "2"}},
		{logTicks(0.75, 120, human.Tick), []string{"1", "10", "100"}},
		{logTicks(0.75, 60, human.Tick), []string{"1", "2", "5", "10", "20", "50"}},
		{logTicks(0.75, 2e9, human.Tick), []string{"1", "", "100", "", "10k", "", "1M", "", "100M", ""}},
		{logTicks(31, 33, human.Tick), []string{"31", "31.5", "32", "32.5", "33"}},
		{octaveTicks(4, 256, human.Tick), []string{"4", "8", "16", "32", "64", "128", "256"}},
		{decades(1e-7, 1, shareName), []string{"1 in 10M", "1 in 1M", "0.001%", "0.01%", "0.1%", "1%", "10%", "100%"}},
		{timeTicks(0.0032, 4), []string{"0 ms", "1 ms", "2 ms", "3 ms"}},
		{timeTicks(700, 5), []string{"0 min", "5 min", "10 min"}},
	} {
		var labels []string
		for _, k := range c.got {
			labels = append(labels, k.label)
		}
		if d := cmp.Diff(c.want, labels); d != "" {
			t.Errorf("ticks (-want +got):\n%s", d)
		}
	}
}
