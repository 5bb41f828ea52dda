package extsort

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record is a record of the tests: its key, its worker, its number there, and padding that follows from these.
type record struct{ key, worker, number uint64 }

func (r record) bytes(pad int) []byte {
	b := make([]byte, 24+pad)
	binary.LittleEndian.PutUint64(b, r.key)
	binary.LittleEndian.PutUint64(b[8:], r.worker)
	binary.LittleEndian.PutUint64(b[16:], r.number)
	for i := range b[24:] {
		b[24+i] = byte(r.key + r.number + uint64(i))
	}
	return b
}

func parse(b []byte) record {
	return record{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
}

// TestPartition checks the whole contract: every record comes back once, in the
// bucket of its key, unchanged, and runs keep the order of their Writer.
func TestPartition(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		spill := NewSpill(vfs.OS, dir, rapid.SampledFrom([]int64{0, 1 << 20, 4 << 20}).Draw(t, "memory"))
		defer func() {
			if err := spill.Close(); err != nil {
				t.Fatal(err)
			}
		}()
		p := NewPartition(spill, 1<<rapid.IntRange(1, 5).Draw(t, "buckets"), rapid.SampledFrom([]int{64, 512, 4096}).Draw(t, "extent"), uint(rapid.IntRange(0, 8).Draw(t, "shift")))
		seed := rapid.Uint64().Draw(t, "seed")
		workers, n := rapid.IntRange(1, 4).Draw(t, "workers"), rapid.IntRange(0, 800).Draw(t, "records")
		top := rapid.SampledFrom([]uint64{1, 100, 1 << 20, 1 << 62}).Draw(t, "top")
		pads := rapid.SampledFrom([][]int{{0}, {0, 5, 40}, {0, 9000}}).Draw(t, "pads")
		want := map[record]int{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for k := range workers {
			w, err := p.Writer()
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(k)))
				for i := range n {
					x := record{r.Uint64N(top), uint64(k), uint64(i)}
					pad := pads[r.IntN(len(pads))]
					slot, err := w.Slot(x.key, 24+pad)
					if err != nil {
						t.Error(err)
						return
					}
					copy(slot, x.bytes(pad))
					if r.IntN(100) == 0 {
						if err := w.NextRun(); err != nil {
							t.Error(err)
						}
					}
					mu.Lock()
					want[x] = pad
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if err := p.Finish(); err != nil {
			t.Fatal(err)
		}
		var total int64
		for b := range p.Buckets() {
			buf := make([]byte, p.Bytes(b))
			total += p.Bytes(b)
			runs, err := p.Load(b, buf)
			if err != nil {
				t.Fatal(err)
			}
			var scanned, scratch []byte
			begins := 0
			if err := p.Scan(b, &scratch, func(data []byte, first bool) error {
				scanned = append(scanned, data...)
				if first {
					begins++
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(buf, scanned) || begins != len(runs) {
				t.Fatalf("bucket %d: Scan and Load differ", b)
			}
			at := 0
			for _, r := range runs {
				if r.From != at || r.To <= r.From {
					t.Fatalf("bucket %d: runs %v", b, runs)
				}
				at = r.To
				var last record
				for i := r.From; i < r.To; {
					x := parse(buf[i:])
					pad, ok := want[x]
					if !ok || !bytes.Equal(buf[i:i+24+pad], x.bytes(pad)) {
						t.Fatalf("bucket %d: record %+v is unknown, changed or there twice", b, x)
					}
					delete(want, x)
					if x.key>>p.Shift() != uint64(b) {
						t.Fatalf("bucket %d holds key %d", b, x.key)
					}
					if i > r.From && (x.worker != last.worker || x.number <= last.number) {
						t.Fatalf("bucket %d: run is out of order", b)
					}
					last = x
					i += 24 + pad
				}
			}
			if at != len(buf) {
				t.Fatalf("bucket %d: runs end at %d of %d", b, at, len(buf))
			}
		}
		if len(want) > 0 || total != p.Total() {
			t.Fatalf("%d records are missing; %d bytes, Total %d", len(want), total, p.Total())
		}
	})
}

// TestSpillUsesFreedPlaces alternates Put and Free, and checks that the file does not grow.
func TestSpillUsesFreedPlaces(t *testing.T) {
	s := NewSpill(vfs.OS, t.TempDir(), blockBytes)
	defer func() {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	b := make([]byte, 60000)
	var end int64
	for round := range 5 {
		var es []Extent
		for i := range 40 {
			b[0], b[len(b)-1] = byte(i), byte(round)
			e, err := s.Put(b)
			if err != nil {
				t.Fatal(err)
			}
			es = append(es, e)
		}
		for i, e := range es {
			got := make([]byte, e.Len())
			if err := s.Get(e, got); err != nil {
				t.Fatal(err)
			}
			if got[0] != byte(i) || got[len(got)-1] != byte(round) {
				t.Fatalf("round %d: extent %d was overwritten", round, i)
			}
		}
		s.Free(es...)
		if round == 0 {
			end = s.end
		}
	}
	if end == 0 || s.end != end {
		t.Fatalf("the file grew from %d to %d bytes", end, s.end)
	}
}

func TestSpillFaults(t *testing.T) {
	errDisk := errors.New("disk failed")
	for at := int64(1); at <= 4; at++ { // temp, write, read, close
		f := &vfs.Fault{FS: vfs.OS, FailAt: at, Err: errDisk}
		s := NewSpill(f, t.TempDir(), 0)
		e, err := s.Put([]byte("graph"))
		if err == nil {
			err = s.Get(e, make([]byte, 5))
		}
		if cerr := s.Close(); err == nil {
			err = cerr
		}
		if !errors.Is(err, errDisk) {
			t.Fatalf("call %d failed, but the error is %v", at, err)
		}
	}
}

func TestScratch(t *testing.T) {
	for _, memory := range []int64{0, 1 << 20} {
		s, err := NewScratch(vfs.OS, t.TempDir(), 3000, memory)
		if err != nil {
			t.Fatal(err)
		}
		for _, off := range []int64{2000, 0, 1000} {
			if err := s.WriteAt(bytes.Repeat([]byte{byte(off / 1000)}, 1000), off); err != nil {
				t.Fatal(err)
			}
		}
		got := make([]byte, 1500)
		if err := s.ReadAt(got, 1500); err != nil || got[0] != 1 || got[499] != 1 || got[500] != 2 || got[1499] != 2 {
			t.Fatalf("read %v..., error %v", got[:3], err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOutAdd passes extents from a Partition to another one, as between two processes.
func TestOutAdd(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		spill := NewSpill(vfs.OS, dir, 1<<20)
		defer func() {
			if err := spill.Close(); err != nil {
				t.Fatal(err)
			}
		}()
		const buckets, shift = 4, 3
		to := NewPartition(spill, buckets, 0, shift)
		from := NewPartition(nil, buckets, rapid.SampledFrom([]int{32, 64, 512}).Draw(t, "extent"), shift)
		from.Out = func(bucket int, records []byte) error { return to.Add(bucket, records) }
		defer from.Close()
		w, err := from.Writer()
		if err != nil {
			t.Fatal(err)
		}
		want := make([][]record, buckets)
		for i := range rapid.IntRange(1, 100).Draw(t, "records") {
			x := record{key: rapid.Uint64Range(0, buckets<<shift-1).Draw(t, "key"), number: uint64(i)}
			slot, err := w.Slot(x.key, 24)
			if err != nil {
				t.Fatal(err)
			}
			copy(slot, x.bytes(0))
			want[x.key>>shift] = append(want[x.key>>shift], x)
		}
		if err := from.Finish(); err != nil {
			t.Fatal(err)
		}
		for b, list := range want {
			var buf []byte
			var got []record
			if err := to.Scan(b, &buf, func(data []byte, first bool) error {
				if !first {
					t.Fatal("found an extent that is no run of its own")
				}
				for ; len(data) > 0; data = data[24:] {
					got = append(got, parse(data))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, list) || to.Bytes(b) != int64(24*len(list)) {
				t.Fatalf("bucket %d: found %v, expected %v", b, got, list)
			}
		}
		if _, err := w.Slot(buckets<<shift, 24); err == nil {
			t.Fatal("found no error for a key beyond the buckets")
		}
	})
}
