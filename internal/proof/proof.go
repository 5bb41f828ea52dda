// Package proof says which form of a proof a test runs, and from which random seed: the short form at each push, or the long form, which
// make check-long and make torture ask for with TORTURE=long.
//
// What the long form alone does is appended to the file that TORTURE_REPORT names, a line each, so that a run says what it did that a
// push does not.
package proof

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
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

// OnlyLong leaves a test out of the short form. why says what it costs, or what the short form has in its place.
func OnlyLong(tb testing.TB, why string) {
	tb.Helper()
	if !Long(tb) {
		tb.Skipf("long form (TORTURE=long): %s", why)
	}
	report(tb, "not in the short form: "+why)
}

// OnDisk moves the temporary folders of a package to the disk where those of tests lie in memory (scripts/tmpdir.sh), for packages that prove how files of a disk are
// read and written. TestMain calls it.
func OnDisk() {
	const memory, disk = "/dev/shm", "/var/tmp"
	if info, err := os.Stat(disk); strings.HasPrefix(os.TempDir(), memory) && err == nil && info.IsDir() {
		if err := os.Setenv("TMPDIR", disk); err != nil {
			panic(err)
		}
	}
}

// More reports whether the long form runs, for what it does that the short form leaves out of a test.
func More(tb testing.TB, what string) bool {
	tb.Helper()
	long := Long(tb)
	if long {
		report(tb, "not in the short form: "+what)
	}
	return long
}

// Count is short in the short form and long in the long form. The variable TORTURE_COUNT replaces it.
func Count(tb testing.TB, short, long int) int {
	tb.Helper()
	n := short
	if Long(tb) {
		n = long
	}
	n = int(number(tb, "TORTURE_COUNT", uint64(n)))
	if Long(tb) {
		report(tb, fmt.Sprintf("%d cases, %d in the short form", n, short))
	}
	return n
}

// FewerChecks divides the number of rapid's checks by n in a package whose checks are dear, unless the flag -rapid.checks gives a number.
// TestMain calls it.
func FewerChecks(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	f := flag.Lookup("rapid.checks")
	if given || f == nil {
		return
	}
	checks, err := strconv.Atoi(f.Value.String())
	if err == nil {
		err = f.Value.Set(strconv.Itoa(max(1, checks/n)))
	}
	if err != nil {
		panic(err)
	}
}

// LeastChecks has rapid take at least n cases until the test ends: for a proof whose cases are cheap, and whose faults are rare. The tests
// of its package must not run in parallel.
func LeastChecks(tb testing.TB, n int) {
	tb.Helper()
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	checks, err := strconv.Atoi(before)
	if err == nil {
		err = f.Value.Set(strconv.Itoa(max(checks, n)))
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = f.Value.Set(before) })
}

// report appends a line about a test to the file TORTURE_REPORT.
func report(tb testing.TB, line string) {
	tb.Helper()
	path := os.Getenv("TORTURE_REPORT")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s: %s\n", tb.Name(), line)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
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
