// Package fuzzing holds parsers to their bounds, in fuzz targets and in tests of hostile files: a parser takes at most 4 times the
// bytes of its input and 64 MiB of memory, ends within Longest, and forgets no error of its input.
package fuzzing

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// Longest bounds the time of a parser for the inputs of a fuzz target. Machines that run many fuzz targets are slow.
const Longest = 60 * time.Second

// Memory is the bound for an input of a number of bytes.
func Memory(input int) uint64 { return 4*uint64(input) + 64<<20 }

// Check runs a parser on an input of a number of bytes, and fails t if it takes more memory or time than it may. Where all
// that it allocates together is above the bound, as for a parser that reuses nothing, Check runs it once more to measure
// the peak, so that parse must do the same twice.
//
// Where the variable GRAPHMILL_REACHED names a file and coverage is on, Check appends the name of t if parse reached statements
// that no call before it reached. scripts/fuzz.sh chooses inputs to commit so.
func Check(t testing.TB, input int, parse func()) {
	t.Helper()
	if problem := checkCost(input, parse); problem != "" {
		t.Error(problem)
	}
	if name := os.Getenv("GRAPHMILL_REACHED"); name != "" && !t.Failed() {
		if now := testing.Coverage(); now > reached {
			reached = now
			if err := appendLine(name, t.Name()); err != nil {
				t.Error(err)
			}
		}
	}
}

// reached is the largest coverage so far.
var reached float64

func appendLine(name, line string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

func checkCost(input int, parse func()) string {
	start, before := time.Now(), allocated()
	parse()
	if took := time.Since(start); took > Longest {
		return fmt.Sprintf("found %v for %d bytes, expected at most %v", took, input, Longest)
	}
	bound := Memory(input)
	if allocated()-before <= bound {
		return ""
	}
	if n := peak(parse); n > bound {
		return fmt.Sprintf("found %d bytes of memory for an input of %d, expected at most %d", n, input, bound)
	}
	return ""
}

// peak is the largest size of the heap while parse runs, above its size before, and at least the size of the largest object.
func peak(parse func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	objects := largest()
	base := heap()
	stop, top := make(chan struct{}), make(chan uint64)
	go func() {
		most := uint64(0)
		for {
			select {
			case <-stop:
				top <- most
				return
			default:
				most = max(most, heap())
				time.Sleep(100 * time.Microsecond)
			}
		}
	}()
	func() {
		defer func() { close(stop) }() // also where parse calls t.FailNow
		parse()
	}()
	n := <-top
	n -= min(n, base)
	for stack, now := range largest() {
		old := objects[stack]
		if count := now.objects - old.objects; count > 0 {
			n = max(n, uint64((now.bytes-old.bytes)/count))
		}
	}
	return n
}

type allocations struct{ objects, bytes int64 }

// largest returns the allocations of each stack, of the objects that the memory profile samples: all that are much larger than
// runtime.MemProfileRate. It collects garbage, because the profile shows the state at the last collection.
func largest() map[[32]uintptr]allocations {
	runtime.GC()
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 1<<10)
	for {
		n, ok := runtime.MemProfile(records, true)
		if ok {
			records = records[:n]
			break
		}
		records = make([]runtime.MemProfileRecord, 2*n)
	}
	of := map[[32]uintptr]allocations{}
	for _, r := range records {
		x := of[r.Stack0]
		of[r.Stack0] = allocations{x.objects + r.AllocObjects, x.bytes + r.AllocBytes}
	}
	return of
}

func readMetric(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// allocated is all that the process has allocated so far, freed or not.
func allocated() uint64 { return readMetric("/gc/heap/allocs:bytes") }

// heap is the size of the objects that are live, or dead and not swept.
func heap() uint64 { return readMetric("/memory/classes/heap/objects:bytes") }
