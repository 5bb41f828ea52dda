package shards

import (
	"math"
	"strings"
	"testing"
)

// A record that exceeds the limit of an Example is refused before it is read.
func TestRecordsHaveABound(t *testing.T) {
	c := &Chunk{opt: &Options{Shards: 1, Records: 1}}
	if err := c.Append(make([]byte, math.MaxInt32+1), 0); err == nil || !strings.Contains(err.Error(), "found a record of 2147483648 bytes, expected at most 2 GiB") {
		t.Errorf("found %v", err)
	}
	if len(c.buf) > 0 || len(c.parts) > 0 {
		t.Errorf("found %d bytes of %d parts", len(c.buf), len(c.parts))
	}
}

func TestShards(t *testing.T) {
	for _, total := range []uint64{0, 1, 2, 10, 17, 1 << 40} {
		for _, shards := range []int{1, 2, 3, 10, 16} {
			end := uint64(0)
			for k := range shards {
				next := shardEnd(k, total, shards)
				if n := next - end; n != total/uint64(shards) && n != total/uint64(shards)+1 {
					t.Fatalf("shard %d of %d, %d records: found %d", k, shards, total, n)
				}
				if next > end && (shardOf(end, total, shards) != k || shardOf(next-1, total, shards) != k) {
					t.Fatalf("shard %d of %d, %d records: [%d, %d) is not its own", k, shards, total, end, next)
				}
				end = next
			}
			if end != total {
				t.Fatalf("%d shards, %d records: found %d", shards, total, end)
			}
		}
	}
}
