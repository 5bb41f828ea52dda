package batch_test

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/batch"
)

// Both ways to gather copy the rows asked for and write nothing else, for any alignment of source and destination.
func TestGather(t *testing.T) {
	src := make([]byte, 1<<16)
	for i := range src {
		src[i] = byte(i*31 + i>>8)
	}
	gathers := map[string]func(dst, src []byte, width int, rows []uint64){
		"Gather": batch.Gather[uint64], "GatherAway": batch.GatherAway[uint64],
	}
	rapid.Check(t, func(t *rapid.T) {
		skip := rapid.IntRange(0, 70).Draw(t, "skip")
		table := src[skip:]
		width := rapid.OneOf(rapid.IntRange(1, 200), rapid.SampledFrom([]int{4, 8, 16, 64, 400, 512, 1024, 1040, 4000})).Draw(t, "width")
		rows := rapid.SliceOfN(rapid.Uint64Range(0, uint64(len(table)/width-1)), 0, 200).Draw(t, "rows")
		before := rapid.SampledFrom([]int{0, 1, 8, 16, 64}).Draw(t, "before")
		for name, gather := range gathers {
			got := bytes.Repeat([]byte{0xa5}, before+len(rows)*width+64)
			want := bytes.Clone(got)
			for i, r := range rows {
				copy(want[before+i*width:], table[int(r)*width:(int(r)+1)*width])
			}
			gather(got[before:], table, width, rows)
			if !bytes.Equal(got, want) {
				t.Fatalf("%s: found other bytes than those of the rows", name)
			}
		}
	})
}

func TestGatherBeyond(t *testing.T) {
	for _, width := range []int{4, 16, 400, 4000} {
		for _, last := range []uint32{3, 1 << 31} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("width %d: row %d of 3 was copied", width, last)
					}
				}()
				batch.Gather(make([]byte, 2*width), make([]byte, 3*width+width-1), width, []uint32{0, last})
			}()
		}
	}
}

// The rate at which rows of a table that is larger than the caches are gathered to memory that is larger than the
// caches.
func BenchmarkGather(b *testing.B) {
	const size, part = 512 << 20, 16 << 20
	table, dst := make([]byte, size), make([]byte, 4*part)
	for i := 0; i < size; i += 4096 {
		table[i] = 1
	}
	for _, width := range []int{64, 400, 1024} {
		rows := make([]uint32, part/width)
		for i := range rows {
			rows[i] = uint32(uint64(i) * 2654435761 % uint64(size/width))
		}
		run := func(name string, gather func(dst, src []byte, width int, rows []uint32)) {
			b.Run(fmt.Sprintf("width=%d/%s", width, name), func(b *testing.B) {
				b.SetBytes(int64(len(rows) * width))
				for i := 0; b.Loop(); i++ {
					gather(dst[i%4*part:], table, width, rows)
				}
			})
		}
		run("near", batch.Gather[uint32])
		run("away", batch.GatherAway[uint32])
	}
}
