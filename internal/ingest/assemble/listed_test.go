package assemble

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/vfs"
)

// integers reads an array of uint32 or uint64.
func integers(t *rapid.T, b []byte) []int {
	t.Helper()
	h, err := npy.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var list []int
	if data := bytes.Clone(b[h.Offset:]); h.Descr == "u4" {
		for _, v := range graph.View[uint32](data) {
			list = append(list, int(v))
		}
	} else {
		for _, v := range graph.View[uint64](data) {
			list = append(list, int(v))
		}
	}
	return list
}

// TestListed builds the lists of the near nodes that have edges: they say what the offsets of all nodes do, and all other bytes are the same, whatever the threads and the memory.
func TestListed(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		in, opt := genInput(t), genOptions(t)
		opt.Both, opt.Homogeneous, opt.DuplicateEdges = false, false, Keep
		o := &oracle{in: in, opt: opt}
		bad := o.build()
		opt.Listed = true
		opt.Threads = rapid.SampledFrom([]int{1, 2, 8}).Draw(t, "threads")
		opt.work = rapid.SampledFrom([]int64{0, 4 << 10, 32 << 10, 1 << 20}).Draw(t, "work")
		opt.wide = rapid.IntRange(0, 3).Draw(t, "wide") == 0
		defer func(before int64) { limits.Positions = before }(limits.Positions)
		limits.Positions = rapid.SampledFrom([]int64{math.MaxUint32, 0, 6}).Draw(t, "positions")
		got, res, err := build(t, vfs.OS, dir, in, opt)
		if bad != "" {
			if err == nil {
				t.Fatalf("no error, want one about %s", bad)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for name, m := range res.Meta.Edges {
			folder, _, _ := strings.Cut(m.Arrays["nodes"], "/lists/")
			indptr := integers(t, o.files[folder+"/indptr.npy"])
			nodes, starts := []int{}, []int{}
			for v := range len(indptr) - 1 {
				if indptr[v] < indptr[v+1] {
					nodes, starts = append(nodes, v), append(starts, indptr[v])
				}
			}
			starts = append(starts, indptr[len(indptr)-1])
			for array, want := range map[string][]int{"nodes": nodes, "starts": starts} {
				have := integers(t, got[m.Arrays[array]])
				if !slices.Equal(have, want) {
					t.Fatalf("%s: %s are %v, want %v", name, array, have, want)
				}
				delete(got, m.Arrays[array])
			}
			delete(o.files, folder+"/indptr.npy")
		}
		narrowed(t, got)
		if d := diff(o.files, got); d != "" {
			t.Fatal(d)
		}
	})
}
