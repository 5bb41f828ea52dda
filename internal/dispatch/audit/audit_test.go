package audit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/vfs"
)

// draw draws a small typed graph, divided in any way.
func draw(t *rapid.T) *made {
	m := &made{
		parts:     rapid.IntRange(1, 4).Draw(t, "parts"),
		hops:      rapid.IntRange(0, 3).Draw(t, "hops"),
		formats:   dgl.Formats(rapid.IntRange(1, 7).Draw(t, "formats")),
		originals: rapid.IntRange(0, 2).Draw(t, "originals"),
		owner:     rapid.Bool().Draw(t, "owner"),
	}
	m.leaving = m.hops > 0 && rapid.Bool().Draw(t, "leaving")
	types := rapid.IntRange(1, 3).Draw(t, "types")
	for i := range types {
		n := rapid.IntRange(0, 7).Draw(t, "nodes")
		m.nodeTypes, m.counts = append(m.nodeTypes, string(rune('a'+i))), append(m.counts, n)
		part := make([]int, n)
		for k := range part {
			part[k] = rapid.IntRange(0, m.parts-1).Draw(t, "part")
		}
		m.part = append(m.part, part)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "relations") {
		e := madeEdges{src: rapid.IntRange(0, types-1).Draw(t, "src"), dst: rapid.IntRange(0, types-1).Draw(t, "dst")}
		e.name = fmt.Sprintf("%s:r%d:%s", m.nodeTypes[e.src], i, m.nodeTypes[e.dst])
		if m.counts[e.src] > 0 && m.counts[e.dst] > 0 {
			for range rapid.IntRange(0, 15).Draw(t, "edges") {
				e.ends = append(e.ends, [2]int{rapid.IntRange(0, m.counts[e.src]-1).Draw(t, "from"), rapid.IntRange(0, m.counts[e.dst]-1).Draw(t, "to")})
			}
		}
		m.edgeTypes = append(m.edgeTypes, e)
	}
	return m
}

// Correct parts pass, alone and against their store, also where edges are too many for ids of 32 bits.
func TestWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		defer func(before int64) { limits.Positions = before }(limits.Positions)
		limits.Positions = rapid.SampledFrom([]int64{math.MaxUint32, 0, 7}).Draw(rt, "positions")
		m := draw(rt)
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		opt := Options{}
		if m.originals > 0 {
			opt.Against = m.store()
		}
		r, err := Verify(t.Context(), vfs.OS, m.write(t, dir), opt)
		if err != nil {
			rt.Fatal(err)
		}
		if r.Fault != nil {
			rt.Fatal(r.Fault)
		}
		edges := int64(0)
		for _, e := range m.edgeTypes {
			edges += int64(len(e.ends))
		}
		if r.Edges != edges || m.originals > 0 && r.ComparedEdges != edges {
			rt.Fatalf("found %d edges, %d compared, expected %d", r.Edges, r.ComparedEdges, edges)
		}
	})
}

// example is a graph of two node and two edge types in three parts.
func example() *made {
	m := &made{nodeTypes: []string{"paper", "person"}, counts: []int{9, 5}, parts: 3, hops: 2, leaving: true, formats: 7, originals: 1, owner: true,
		part: [][]int{{0, 1, 2, 0, 1, 2, 0, 1, 2}, {0, 0, 1, 1, 2}}}
	cites := madeEdges{name: "paper:cites:paper"}
	for i := range 9 {
		cites.ends = append(cites.ends, [2]int{i, (i + 1) % 9}, [2]int{i, (i * 4) % 9})
	}
	writes := madeEdges{name: "person:writes:paper", src: 1}
	for i := range 9 {
		writes.ends = append(writes.ends, [2]int{i % 5, i})
	}
	m.edgeTypes = []madeEdges{cites, writes}
	return m
}

// find returns an array of a file: "ndata/_ID", "coo/src", or a tensor of a dict.
func find(t *testing.T, file, array string) dgl.Array {
	t.Helper()
	if !strings.HasSuffix(file, "graph.dgl") {
		d, err := dgl.OpenDict(vfs.OS, file)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		a, ok := d.Find(array)
		if !ok {
			t.Fatalf("%s has no %s", file, array)
		}
		return a
	}
	f, err := dgl.OpenGraphs(vfs.OS, file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := f.Graph(0)
	if err != nil {
		t.Fatal(err)
	}
	r := &g.Relations[0]
	arrays := map[string]dgl.Array{}
	if r.COO != nil {
		arrays["coo/src"], arrays["coo/dst"] = r.COO.Src, r.COO.Dst
	}
	if r.CSR != nil {
		arrays["csr/indptr"], arrays["csr/indices"], arrays["csr/eids"] = r.CSR.Indptr, r.CSR.Indices, r.CSR.EdgeIDs
	}
	if r.CSC != nil {
		arrays["csc/indptr"], arrays["csc/indices"], arrays["csc/eids"] = r.CSC.Indptr, r.CSC.Indices, r.CSC.EdgeIDs
	}
	for _, a := range g.NodeTypes[0].Data {
		arrays["ndata/"+a.Name] = a
	}
	for _, a := range r.Data {
		arrays["edata/"+a.Name] = a
	}
	a, ok := arrays[array]
	if !ok {
		t.Fatalf("%s has no %s", file, array)
	}
	return a
}

// poke changes value i of an array; i < 0 counts from the end.
func poke(t *testing.T, file, array string, i int64, value int64) {
	t.Helper()
	a := find(t, file, array)
	size := a.DType.Size()
	if i < 0 {
		i += a.Rows()
	}
	b := integers(a.DType, 1, func(int) int64 { return value })
	edit(t, file, func(data []byte) []byte {
		copy(data[a.Offset+i*size:], b)
		return data
	})
}

// peek returns value i of an array.
func peek(t *testing.T, file, array string, i int64) int64 {
	a := find(t, file, array)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return int64(binary.LittleEndian.Uint64(data[a.Offset+8*i:]))
}

// edit changes a file.
func edit(t *testing.T, file string, change func(data []byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, change(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, file, from, to string) {
	edit(t, file, func(data []byte) []byte {
		if !strings.Contains(string(data), from) {
			t.Fatalf("%s has no %q", file, from)
		}
		return []byte(strings.Replace(string(data), from, to, 1))
	})
}

// Each change of one id or byte is found, and the fault says where it is.
func TestFaults(t *testing.T) {
	const graph = "part1/graph.dgl"
	set := func(file, array string, i, value int64) func(*testing.T, string) {
		return func(t *testing.T, dir string) { poke(t, filepath.Join(dir, file), array, i, value) }
	}
	config := func(from, to string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { replace(t, filepath.Join(dir, "made.json"), from, to) }
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		want   string
	}{
		"owned node":          {set(graph, "ndata/_ID", 0, 6), "part1/graph.dgl: paper: row 0 (global id 6): found _ID 6, expected 5"},
		"halo node, far away": {set(graph, "ndata/_ID", -1, 99), "found _ID 99, expected an id below 14"},
		"halo node, negative": {set(graph, "ndata/_ID", -1, -1), "found _ID -1"},
		"halo node, owned":    {set(graph, "ndata/_ID", -1, 5), "found a node that the part owns among the halo"},
		"halo node, twice": {func(t *testing.T, dir string) {
			f := filepath.Join(dir, graph)
			n := find(t, f, "ndata/_ID").Rows()
			poke(t, f, "ndata/_ID", -1, peek(t, f, "ndata/_ID", n-2))
		}, "found a halo node twice"},
		"inner node":          {set(graph, "ndata/inner_node", 1, 0), "row 1 (global id 6): found inner_node 0, expected 1"},
		"outer node":          {set(graph, "ndata/inner_node", -1, 1), "found inner_node 1, expected 0"},
		"node type":           {set(graph, "ndata/_TYPE", 0, 1), "found _TYPE 1, expected 0"},
		"owner":               {set(graph, "ndata/part_id", -1, 1), "found part_id 1, expected"},
		"owned edge":          {set(graph, "edata/_ID", 2, 0), "found _ID 0, expected 11"},
		"halo edge, far away": {set(graph, "edata/_ID", -1, 1000), "found _ID 1000, expected an id below 27"},
		"halo edge, owned":    {set(graph, "edata/_ID", -1, 9), "found an edge that the part owns among the halo"},
		"halo edge, twice": {func(t *testing.T, dir string) {
			f := filepath.Join(dir, graph)
			n := find(t, f, "edata/_ID").Rows()
			poke(t, f, "edata/_ID", -1, peek(t, f, "edata/_ID", n-2))
		}, "found a halo edge twice"},
		"inner edge":           {set(graph, "edata/inner_edge", 0, 0), "row 0 (global id 9): found inner_edge 0, expected 1"},
		"outer edge":           {set(graph, "edata/inner_edge", -1, 1), "found inner_edge 1, expected 0"},
		"edge type":            {set(graph, "edata/_TYPE", 0, 1), "paper:cites:paper: row 0 (global id 9): found _TYPE 1, expected 0"},
		"source":               {set(graph, "coo/src", 0, 2), "found an edge from"},
		"source of no node":    {set(graph, "coo/src", 0, 1<<40), "expected nodes of the part, below"},
		"source of other type": {set(graph, "coo/src", 0, 3), "found an edge from person 3 to paper"},
		"destination":          {set(graph, "coo/dst", 0, 1), "expected one from"},
		"destination of halo":  {set(graph, "coo/dst", 0, -1), "expected nodes of the part"},
		"csc offset":           {set(graph, "csc/indptr", 1, 1), "csc: row"},
		"csc offset, falling":  {set(graph, "csc/indptr", 1, 1000), "csc: found the offset 1000 after row 0, expected offsets that ascend"},
		"csc offset, first":    {set(graph, "csc/indptr", 0, 1), "csc: found the first offset 1, expected 0"},
		"csc source":           {set(graph, "csc/indices", 0, 2), "as in the other formats"},
		"csc edge id":          {set(graph, "csc/eids", 0, 1), "csc: row"},
		"csc edge id, beyond":  {set(graph, "csc/eids", 0, 1<<20), "csc: found edge id 1048576, expected ids below"},
		"csr offset":           {set(graph, "csr/indptr", 1, 0), "csr: row"},
		"csr destination":      {set(graph, "csr/indices", 0, 2), "as in the other formats"},
		"csr edge id":          {set(graph, "csr/eids", 0, 0), "csr: row"},
		"original node":        {set("part1/orig_nids.dgl", "paper", 0, 0), "part1/orig_nids.dgl: paper: row 3: found the original id 0 twice, expected each once"},
		"original node beyond": {set("part1/orig_nids.dgl", "paper", 0, 9), "expected each below 9 once"},
		"original edge":        {set("part1/orig_eids.dgl", "person:writes:paper", 0, 0), "found the original id 0 twice"},
		"original edge below":  {set("part1/orig_eids.dgl", "person:writes:paper", 0, -7), "found the original id -7, expected at least 0"},
		"more hops":            {config(`"halo_hops": 2`, `"halo_hops": 3`), "with halo_hops 3"},
		"fewer hops":           {config(`"halo_hops": 2`, `"halo_hops": 1`), "halo_hops 1 in-edges do not lead to it"},
		"no hops":              {config(`"halo_hops": 2`, `"halo_hops": 0`), "halo_hops 0 in-edges do not lead to it"},
		"range":                {config(`"paper": [[0, 3]`, `"paper": [[0, 4]`), "node_map person, part 0: found the range [3, 5), expected it to begin at 4"},
		"number of nodes":      {config(`"num_nodes": 14`, `"num_nodes": 15`), "found num_nodes 15, expected 14"},
		"number of parts":      {config(`"num_parts": 3`, `"num_parts": 2`), "found 3 ranges, expected one for each of 2 parts"},
		"type number":          {config(`"person": 1`, `"person": 0`), "expected each of 0 to 1 once"},
		"path":                 {config(`"part1/graph.dgl"`, `"../part1/graph.dgl"`), "expected one within the folder"},
		"other part's graph":   {config(`"part1/graph.dgl"`, `"part2/graph.dgl"`), "part2/orig_nids.dgl: found int64 [1], expected int64 [2]"},
		"no file": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "part2/edge_feat.dgl")); err != nil {
				t.Fatal(err)
			}
		}, "part2/edge_feat.dgl: found no such file"},
		"no original ids": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "part2/orig_eids.dgl")); err != nil {
				t.Fatal(err)
			}
		}, "found orig_eids.dgl in 2 of 3 parts, expected it in all or none"},
		"cut graph": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, graph), func(b []byte) []byte { return b[:len(b)-9] })
		}, "the file is cut"},
		"cut rows": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "part0/node_feat.dgl"), func(b []byte) []byte { return b[:len(b)-1] })
		}, "the file is cut"},
		"rows of other type": {func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, "part0/node_feat.dgl"), "paper/x", "papes/x")
		}, `found the tensor "papes/x", expected TYPE/NAME with a type of the configuration`},
		"other column": {func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, "part0/node_feat.dgl"), "paper/x", "paper/y")
		}, `part1/node_feat.dgl: found no tensor "paper/y"`},
		"dtype of rows": {func(t *testing.T, dir string) {
			f := filepath.Join(dir, "part2/node_feat.dgl")
			a := find(t, f, "paper/x")
			edit(t, f, func(b []byte) []byte { b[a.Offset-28] = 2; return b }) // float16
		}, `part2/node_feat.dgl: found "paper/x" of float16 with rows of shape [2], expected int16 with rows of shape [2] as in`},
		"bool of another value": {func(t *testing.T, dir string) {
			for p := range 3 {
				f := filepath.Join(dir, fmt.Sprintf("part%d/node_feat.dgl", p))
				a := find(t, f, "paper/x")
				edit(t, f, func(b []byte) []byte { // 4 bytes in place of 2 int16
					b[a.Offset-28], b[a.Offset-27], b[a.Offset-16] = 1, 8, 4
					clear(b[a.Offset:][:a.Size])
					if p == 1 {
						b[a.Offset+5] = 2
					}
					return b
				})
			}
			config(`"part-0"`, `"bool_features": ["paper/x"], "part-0"`)(t, dir)
		}, `part1/node_feat.dgl: paper: row 1 (global id 6): found the value 2 in "x", expected 0 or 1`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := example().write(t, dir)
			c.change(t, dir)
			r, err := Verify(t.Context(), vfs.OS, path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Fault == nil {
				t.Fatal("found nothing")
			}
			if got := strings.ReplaceAll(r.Fault.Error(), dir+string(filepath.Separator), ""); !strings.Contains(got, c.want) {
				t.Fatalf("found %q, expected %q in it", got, c.want)
			}
		})
	}
}

// With a store, every bit of every array is checked.
func TestEveryBit(t *testing.T) {
	t.Run("narrow", testEveryBit)
	defer func(before int64) { limits.Positions = before }(limits.Positions)
	limits.Positions = 0
	t.Run("wide", testEveryBit)
}

func testEveryBit(t *testing.T) {
	m := example()
	good := t.TempDir()
	path := m.write(t, good)
	against := m.store()
	for _, file := range []string{"part0/graph.dgl", "part1/node_feat.dgl", "part1/edge_feat.dgl", "part2/orig_nids.dgl", "part2/orig_eids.dgl"} {
		name := filepath.Join(good, file)
		var arrays []string
		if strings.HasSuffix(file, "graph.dgl") {
			arrays = []string{"ndata/_ID", "ndata/inner_node", "ndata/part_id", "ndata/_TYPE", "edata/_ID", "edata/inner_edge", "edata/_TYPE",
				"coo/src", "coo/dst", "csr/indptr", "csr/indices", "csr/eids", "csc/indptr", "csc/indices", "csc/eids"}
		} else {
			d, err := dgl.OpenDict(vfs.OS, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range d.Tensors {
				arrays = append(arrays, a.Name)
			}
			d.Close()
		}
		for _, array := range arrays {
			a := find(t, name, array)
			for bit := int64(0); bit < 8*a.Size; bit += 37 {
				flip := func(b []byte) []byte { b[a.Offset+bit/8] ^= 1 << (bit % 8); return b }
				edit(t, name, flip)
				r, err := Verify(t.Context(), vfs.OS, path, Options{Against: against})
				if err != nil {
					t.Fatal(err)
				}
				if r.Fault == nil {
					t.Errorf("%s, %s: bit %d is not missed", file, array, bit)
				}
				many, err := Verify(t.Context(), vfs.OS, path, Options{Against: against, Threads: 3})
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(many, r) {
					t.Errorf("%s, %s, bit %d: found %+v with three threads, expected %+v as with one", file, array, bit, many, r)
				}
				edit(t, name, flip)
			}
		}
	}
}

// It is a fault if a halo edge, or all in-edges of a halo node, are left out in all formats.
func TestIncompleteHalo(t *testing.T) {
	full := example()
	full.hops, full.originals = 1, 0
	for name, c := range map[string]struct {
		change func(m *made)
		want   string
	}{
		"leaving edges": {func(m *made) { m.leaving = false }, "found no such edge in the halo"},
		"hops":          {func(m *made) { m.hops = 2 }, "halo_hops 1 in-edges do not lead to it"},
	} {
		// Part 1 comes from another division of the same nodes.
		dir, other := t.TempDir(), t.TempDir()
		path := full.write(t, dir)
		m := *full
		c.change(&m)
		m.write(t, other)
		if err := os.Rename(filepath.Join(other, "part1", "graph.dgl"), filepath.Join(dir, "part1", "graph.dgl")); err != nil {
			t.Fatal(err)
		}
		r, err := Verify(t.Context(), vfs.OS, path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Fault == nil || !strings.Contains(r.Fault.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q in it", name, r.Fault, c.want)
		}
	}
}

// Without original edge ids, edges are compared node by node; without original node ids they are not compared.
func TestAgainstWithoutOriginals(t *testing.T) {
	m := example()
	dir := t.TempDir()
	path := m.write(t, dir)
	for p := range m.parts {
		if err := os.Remove(filepath.Join(dir, fmt.Sprintf("part%d", p), "orig_eids.dgl")); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Verify(t.Context(), vfs.OS, path, Options{Against: m.store()})
	if err != nil || r.Fault != nil || r.ComparedEdges != 27 || len(r.Notes) != 2 {
		t.Fatalf("found %+v, %v; expected 27 edges to be the same, and two notes", r, err)
	}
	other := example()
	other.edgeTypes[0].ends[3][0] = 8
	if r, err = Verify(t.Context(), vfs.OS, path, Options{Against: other.store()}); err != nil {
		t.Fatal(err)
	}
	if r.Fault == nil || !strings.Contains(r.Fault.Error(), "paper:cites:paper: found other edges at paper 4 (original id), expected the 2 of the store") {
		t.Fatalf("found %v", r.Fault)
	}
	for p := range m.parts {
		if err := os.Remove(filepath.Join(dir, fmt.Sprintf("part%d", p), "orig_nids.dgl")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = Verify(t.Context(), vfs.OS, path, Options{Against: m.store()}); !errors.Is(err, errOriginals) {
		t.Fatalf("found %v, expected %v", err, errOriginals)
	}
}

// A call that fails is an error and not a fault of the parts.
func TestFailingCalls(t *testing.T) {
	m := example()
	path := m.write(t, t.TempDir())
	count := &vfs.Fault{FS: vfs.OS}
	if _, err := Verify(t.Context(), count, path, Options{Against: m.store()}); err != nil {
		t.Fatal(err)
	}
	for i := int64(1); i <= count.Calls(); i++ {
		r, err := Verify(t.Context(), &vfs.Fault{FS: vfs.OS, FailAt: i, Err: io.ErrClosedPipe}, path, Options{Against: m.store()})
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("call %d: found %v and %+v, expected the error", i, err, r)
		}
	}
}

// A cancelled context ends the work.
func TestCancelled(t *testing.T) {
	path := example().write(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Verify(ctx, vfs.OS, path, Options{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("found %v, expected %v", err, context.Canceled)
	}
}

// Any content of the files gives a verdict.
func TestAnyBytes(t *testing.T) {
	m := example()
	dir := t.TempDir()
	path := m.write(t, dir)
	against := m.store()
	files := []string{"made.json", "part1/graph.dgl", "part1/node_feat.dgl", "part1/edge_feat.dgl", "part1/orig_nids.dgl", "part1/orig_eids.dgl"}
	r := rand.New(rand.NewPCG(3, 5))
	found := 0
	for range 400 {
		name := filepath.Join(dir, files[r.IntN(len(files))])
		good, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(good)
		at := r.IntN(len(bad) - 8)
		if len(bad) > 4096 && at < 4096 {
			at = 4096 + r.IntN(len(bad)-4104)
		}
		value := []uint64{0, 1, 7, 1 << 20, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1}[r.IntN(8)]
		binary.LittleEndian.PutUint64(bad[at:], value)
		if err := os.WriteFile(name, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		v, err := Verify(t.Context(), vfs.OS, path, Options{Against: against})
		if err != nil {
			t.Fatalf("%s with %#x at %d: %v", name, value, at, err)
		}
		if v.Fault != nil {
			found++
		}
		if err := os.WriteFile(name, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if found < 350 { // some values equal the old ones, or have no effect
		t.Errorf("found %d of 400 damages", found)
	}
}
