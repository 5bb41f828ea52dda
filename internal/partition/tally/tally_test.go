package tally

import (
	"testing"

	"pgregory.net/rapid"
)

// A table has the sums of a map, row after row, also where rows are of different lengths.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 300).Draw(rt, "most")
		table := New(most)
		for range rapid.IntRange(1, 5).Draw(rt, "rows") {
			row := rapid.SliceOfN(rapid.Uint32Range(0, 50), 0, most).Draw(rt, "keys")
			table.Reset(len(row))
			want := map[uint32]uint64{}
			for i, key := range row {
				key *= 1 << 16 // few of the low bits differ
				want[key] += uint64(i)
				if !table.Add(key, uint32(i)) {
					rt.Fatal("found no room")
				}
			}
			if len(table.Slots) != len(want) {
				rt.Fatalf("found %d keys, expected %d", len(table.Slots), len(want))
			}
			for key, sum := range want {
				if got := table.Sum(key); got != sum {
					rt.Fatalf("key %d: found %d, expected %d", key, got, sum)
				}
			}
			if got := table.Sum(1); got != 0 {
				rt.Fatalf("found %d of a key that the table lacks, expected 0", got)
			}
		}
	})
}

// A full table refuses new keys, and adds to those that it has.
func TestFullTable(t *testing.T) {
	table := New(mostKeys + 1)
	table.Reset(mostKeys + 1)
	for key := range uint32(mostKeys) {
		if !table.Add(key, 1) {
			t.Fatalf("found no room for key %d", key)
		}
	}
	if table.Add(mostKeys, 1) || !table.Add(0, 2) || table.Sum(0) != 3 {
		t.Errorf("found a sum of %d", table.Sum(0))
	}
}
