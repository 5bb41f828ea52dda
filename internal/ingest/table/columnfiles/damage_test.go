//go:build unix

package columnfiles_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

const (
	damagedCopies = 2000
	// damagedAlloc bounds what reading a damaged copy of 30 KB allocates in all.
	damagedAlloc = 16 << 20
	damagedTime  = time.Minute
	// damagedSpace bounds the address space of the process that reads them.
	damagedSpace = 6 << 30
)

// No damaged copy of an Arrow or Parquet file ends the process, hangs or takes much memory: each gives rows or an error. The copies are
// read in a process of its own, which may not grow.
func TestDamaged(t *testing.T) {
	for _, name := range []string{
		"arrow/plain.arrow", "arrow/lz4.arrow", "arrow/zstd.arrow", "arrow/plain.arrows", "arrow/zstd.arrows", "arrow/polars.arrow",
		"parquet/lz4.parquet", "parquet/brotli.parquet", "parquet/integers.parquet",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestDamagedChild$", "-test.v")
			cmd.Env = append(os.Environ(), "GRAPHMILL_DAMAGED="+name)
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte(fmt.Sprintf("read %d copies", damagedCopies))) {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}

// TestDamagedChild is the process.
func TestDamagedChild(t *testing.T) {
	name := os.Getenv("GRAPHMILL_DAMAGED")
	if name == "" {
		t.Skip("started by TestDamaged")
	}
	if runtime.GOOS == "linux" {
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: damagedSpace, Max: damagedSpace}); err != nil {
			t.Fatal(err)
		}
	}
	good, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(name))
	random := rand.New(rand.NewPCG(1, uint64(len(good))))
	failed, most, slowest := 0, uint64(0), time.Duration(0)
	var stats runtime.MemStats
	for i := range damagedCopies {
		if err := os.WriteFile(path, damage(random, good), 0o644); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&stats)
		before, start := stats.TotalAlloc, time.Now()
		if err := readAll(path); err != nil {
			if !errors.Is(err, table.ErrFormat) || !strings.Contains(err.Error(), path) {
				t.Fatalf("copy %d: found %v, expected an error about the bytes with the place", i, err)
			}
			failed++
		}
		runtime.ReadMemStats(&stats)
		slowest, most = max(slowest, time.Since(start)), max(most, stats.TotalAlloc-before) // for the log
		if stats.TotalAlloc-before > damagedAlloc || time.Since(start) > damagedTime {      // against a hang
			t.Fatalf("copy %d: found %d bytes allocated in %v, expected at most %d in %v", i, stats.TotalAlloc-before, time.Since(start), damagedAlloc, damagedTime) // for the message
		}
	}
	if failed < damagedCopies/10 {
		t.Fatalf("found %d errors in %d copies, expected more: the damage does nothing", failed, damagedCopies)
	}
	t.Logf("read %d copies: %d errors, at most %d KiB and %v for one", damagedCopies, failed, most>>10, slowest)
}

// readAll reads every column of a file.
func readAll(path string) error {
	tab, err := tablefiles.Open(vfs.OS, []string{path}, tablefiles.Options{})
	if err != nil {
		return err
	}
	_, err = tabletest.Values(tab, 2)
	return err
}

// damage returns a copy with some damage.
func damage(r *rand.Rand, good []byte) []byte {
	b := bytes.Clone(good)
	switch r.IntN(5) {
	case 0:
		for range 1 + r.IntN(8) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
	case 1:
		for range 1 + r.IntN(16) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
	case 2: // cut bytes off, or out
		from := r.IntN(len(b))
		to := len(b)
		if r.IntN(2) == 0 {
			to = min(len(b), from+1+r.IntN(64))
		}
		b = append(b[:from], b[to:]...)
	case 3:
		large := []uint64{0x7fffffff, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, 1 << 40}
		for range 1 + r.IntN(3) {
			at := r.IntN(len(b)/4-2) * 4
			v := large[r.IntN(len(large))]
			if v <= 0xffffffff && r.IntN(2) == 0 {
				binary.LittleEndian.PutUint32(b[at:], uint32(v))
			} else {
				binary.LittleEndian.PutUint64(b[at:], v)
			}
		}
	default: // a small number, which a length or an offset may be
		at := r.IntN(len(b)/4-1) * 4
		binary.LittleEndian.PutUint32(b[at:], r.Uint32N(1<<r.IntN(31)))
	}
	return b
}

// Any bytes give rows or an error.
func FuzzArrow(f *testing.F) {
	files, err := filepath.Glob("testdata/arrow/*.arrow*")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			path := filepath.Join(dir, "x.arrow")
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := readAll(path); err != nil && !strings.Contains(err.Error(), path) {
				t.Fatalf("found the error %v, expected one with the place", err)
			}
		})
	})
}
