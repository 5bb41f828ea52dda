// Package form says which form of a proof runs, and from which random seed.
package form

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Long reports whether the long form runs: TORTURE=long. Otherwise the short form does.
func Long(tb testing.TB) bool {
	tb.Helper()
	switch v := os.Getenv("TORTURE"); v {
	case "", "short":
		return false
	case "long":
		return true
	default:
		tb.Fatalf("found TORTURE=%q, expected long or short", v)
		return false
	}
}

// Count is short in the short form and long in the long form. The variable TORTURE_COUNT replaces it.
func Count(tb testing.TB, short, long int) int {
	tb.Helper()
	n := short
	if Long(tb) {
		n = long
	}
	return int(number(tb, "TORTURE_COUNT", uint64(n)))
}

// Seed is the random seed of the run: 1, or the variable TORTURE_SEED.
func Seed(tb testing.TB) uint64 {
	tb.Helper()
	return number(tb, "TORTURE_SEED", 1)
}

// Random is a generator of the run's seed and a number of its own, so that one case can be repeated without those before it.
func Random(tb testing.TB, stream uint64) *rand.Rand {
	tb.Helper()
	return rand.New(rand.NewPCG(Seed(tb), stream))
}

func number(tb testing.TB, name string, otherwise uint64) uint64 {
	tb.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		tb.Fatalf("found %s=%q, expected a number", name, v)
	}
	return n
}
