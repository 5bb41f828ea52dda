package chunk_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestSeedTable checks the arithmetic against the table that the format's authors published for a graph of 111
// million nodes: start, end, edges, bytes without padding, words of padding, and fill.
func TestSeedTable(t *testing.T) {
	rows := []struct {
		start, end uint32
		edges      uint64
		size       int64
		padding    uint64
		fill       string
	}{
		{0, 10521746, 123695935, 536870740, 43, "100.00%"},
		{10521747, 16564523, 128167549, 536841316, 7399, "99.99%"},
		{16564524, 21486461, 129295773, 536870856, 14, "100.00%"},
		{21486462, 26399870, 129304299, 536870844, 17, "100.00%"},
		{26399871, 31310495, 129306910, 536870152, 190, "100.00%"},
		{31310496, 36218482, 129309715, 536870820, 23, "100.00%"},
		{36218483, 41128311, 129307864, 536870784, 32, "100.00%"},
		{41128312, 45803992, 129540167, 536863404, 1877, "100.00%"},
		{45803993, 49503592, 130518090, 536870772, 35, "100.00%"},
		{49503593, 53191139, 130530149, 536870796, 29, "100.00%"},
		{53191140, 63352413, 124056435, 536870848, 16, "100.00%"},
		{63352414, 80917735, 116652065, 536869560, 338, "100.00%"},
		// The published table has 99.99% here, which contradicts its own numbers.
		{80917736, 111059954, 86000921, 464572572, 89, "100.00%"},
	}
	next := uint32(0)
	for i, want := range rows {
		r := chunk.Row{Start: next, Nodes: want.end - next + 1, Edges: want.edges}
		r.Pad(chunk.DefaultBytes, i == len(rows)-1)
		if r.Start != want.start || r.End() != want.end || r.Size() != want.size || r.Padding != want.padding || fmt.Sprintf("%.2f%%", 100*r.Fill()) != want.fill {
			t.Errorf("row %d: found %+v, %d bytes, fill %.4f%%, expected %+v", i, r, r.Size(), 100*r.Fill(), want)
		}
		if r.Bytes() != chunk.DefaultBytes && (i < len(rows)-1 || r.Bytes()%chunk.Sector != 0) {
			t.Errorf("row %d: found %d bytes with padding", i, r.Bytes())
		}
		next = r.End() + 1
	}
}

// TestSeedExample is the worked example of the format's authors, with the number of nodes that its first offset
// implies: 1,000 nodes from id 1000 on, offsets 1003, 1007, 1011, 1013, ..., 9000, neighbours 0 to 9, 12, 13, 14, ...
func TestSeedExample(t *testing.T) {
	offsets := []uint64{0, 4, 8, 10}
	for len(offsets) < 1000 {
		offsets = append(offsets, offsets[len(offsets)-1]+8)
	}
	offsets = append(offsets, 9000-1003)
	neighbours := []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14}
	for len(neighbours) < 9000-1003 {
		neighbours = append(neighbours, 15)
	}
	// Node 1000 is the first of the second chunk; the chunk before it is full of nodes.
	var file bytes.Buffer
	w := chunk.NewWriter(&file, 64<<10)
	begin := func(nodes int, offset func(int) uint64, neighbours []uint32) {
		t.Helper()
		if err := errors.Join(w.Begin(nodes, offset), w.Neighbours(neighbours)); err != nil {
			t.Fatal(err)
		}
	}
	begin(1000, func(int) uint64 { return 0 }, nil)
	begin(1000, func(i int) uint64 { return offsets[i] }, neighbours)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b := file.Bytes()[64<<10:]
	c := make(chunk.Chunk, len(b)/4)
	for i := range c {
		c[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	if diff := cmp.Diff(chunk.Chunk{1000, 1000, 1003, 1007, 1011, 1013}, c[:6]); diff != "" {
		t.Error(diff)
	}
	if c[2+1000] != 9000 || len(c)%128 != 0 || len(c) < 9000 || len(c) >= 9128 {
		t.Errorf("found the last offset %d and %d words, expected 9000 and the next multiple of 128", c[1002], len(c))
	}
	for id, want := range map[int][]uint32{1000: {0, 1, 2, 3}, 1001: {4, 5, 6, 7}, 1002: {8, 9}} {
		if diff := cmp.Diff(want, c.Neighbours(id-1000)); diff != "" {
			t.Errorf("node %d: %s", id, diff)
		}
	}
	if from, to, ok := c.Span(1); from != 1007 || to != 1011 || !ok {
		t.Errorf("node 1001: found [%d, %d), expected [1007, 1011)", from, to)
	}
	if diff := cmp.Diff([]uint32{12, 13, 14}, c.Neighbours(3)[:3]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]byte{0, 0, 0, 0, 0xe8, 3, 0, 0}, w.Info()); diff != "" {
		t.Errorf("chunk-info: %s", diff)
	}
}

// folder holds the files of an edge type with one node type.
type folder struct {
	meta         chunk.Metadata
	chunks, info []byte
}

// cut writes a graph with the given degrees as chunks.
func cut(t interface{ Fatal(...any) }, size int64, degrees []int, neighbour func(edge int) uint32) *folder {
	offsets := make([]uint64, len(degrees)+1)
	for i, d := range degrees {
		offsets[i+1] = offsets[i] + uint64(d)
	}
	at := func(i int) uint64 { return offsets[i] }
	var file bytes.Buffer
	w := chunk.NewWriter(&file, size)
	for start := 0; start < len(degrees); {
		n, err := chunk.Fit(size, start, len(degrees), at)
		if err == nil {
			err = w.Begin(n, func(i int) uint64 { return at(start + i) })
		}
		for e := at(start); e < at(start+n) && err == nil; e++ {
			err = w.Neighbours([]uint32{neighbour(int(e))})
		}
		if err != nil {
			t.Fatal(err)
		}
		start += n
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &folder{
		chunk.Metadata{Format: 1, ChunkBytes: size, Nodes: map[string]uint64{"n": uint64(len(degrees))},
			Edges: map[string]chunk.Edges{"n:e:n": {Count: offsets[len(degrees)], Dir: "in", Chunks: "x/chunks.bin", Info: "x/info.bin"}}},
		file.Bytes(), w.Info(),
	}
}

// save writes the files to a folder.
func (f *folder) save(t interface{ Fatal(...any) }, dir string) {
	text, err := f.meta.JSON()
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "x"), 0o755)
	}
	for name, b := range map[string][]byte{chunk.File: text, "x/chunks.bin": f.chunks, "x/info.bin": f.info} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), b, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// check opens a folder and reads all of it.
func check(ctx context.Context, fsys vfs.FS, dir string) (*chunk.Set, error) {
	m, err := chunk.Read(fsys, dir)
	if err != nil {
		return nil, err
	}
	s, err := chunk.OpenSet(fsys, dir, m, "n:e:n")
	if err != nil {
		return nil, err
	}
	return s, s.Check(ctx, fsys)
}

// TestFit: a chunk takes nodes as long as they fit, and never a part of one.
func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		degrees := rapid.SliceOfN(rapid.IntRange(0, 1020), 1, 60).Draw(t, "degrees")
		f := cut(t, 4096, degrees, func(e int) uint32 { return uint32(e % len(degrees)) })
		dir, err := os.MkdirTemp("", "chunk")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		f.save(t, dir)
		s, err := check(t.Context(), vfs.OS, dir)
		if err != nil {
			t.Fatal(err)
		}
		node, edges := 0, uint64(0)
		for i, r := range s.Rows {
			if int(r.Start) != node || r.Words() > 1024 {
				t.Fatalf("chunk %d: found %+v, expected it to start at %d and to fit", i, r, node)
			}
			node += int(r.Nodes)
			edges += r.Edges
			if node < len(degrees) && r.Words()+1+uint64(degrees[node]) <= 1024 {
				t.Fatalf("chunk %d: found %+v, expected node %d in it too", i, r, node)
			}
			if i+1 < len(s.Rows) && r.Bytes() != 4096 {
				t.Fatalf("chunk %d takes %d bytes", i, r.Bytes())
			}
		}
		if node != len(degrees) || edges != f.meta.Edges["n:e:n"].Count {
			t.Fatalf("found %d nodes and %d edges", node, edges)
		}
	})
}

func TestTooLarge(t *testing.T) {
	degrees := []uint64{0, 3, 3 + 1021}
	_, err := chunk.Fit(4096, 1, 2, func(i int) uint64 { return degrees[i] })
	const want = "node 1: found 1021 neighbours, expected at most the 1020 that a chunk of 4096 bytes holds; make chunks of 8192 bytes or more"
	if !errors.Is(err, chunk.ErrTooLarge) || err.Error() != want {
		t.Errorf("found %v, expected %s", err, want)
	}
	if _, err := chunk.Fit(8192, 1, 2, func(i int) uint64 { return degrees[i] }); err != nil {
		t.Error(err)
	}
	_, err = chunk.Fit(4096, 0, 1, func(i int) uint64 { return uint64(i) << 62 })
	if !errors.Is(err, chunk.ErrTooLarge) || !strings.Contains(err.Error(), "the format has no larger ones") {
		t.Error(err)
	}
}

func TestWriterRefuses(t *testing.T) {
	offsets := func(list ...uint64) func(int) uint64 { return func(i int) uint64 { return list[i] } }
	for name, write := range map[string]func(w *chunk.Writer) error{
		"too many neighbours": func(w *chunk.Writer) error {
			return errors.Join(w.Begin(1, offsets(0, 1)), w.Neighbours([]uint32{1, 2}))
		},
		"too few, then a chunk":   func(w *chunk.Writer) error { return errors.Join(w.Begin(1, offsets(0, 1)), w.Begin(1, offsets(0, 0))) },
		"too few, then the end":   func(w *chunk.Writer) error { return errors.Join(w.Begin(1, offsets(0, 1)), w.Close()) },
		"more than a chunk holds": func(w *chunk.Writer) error { return w.Begin(1, offsets(0, 1021)) },
		"falling offsets":         func(w *chunk.Writer) error { return w.Begin(2, offsets(4, 2, 6)) },
		"a fall over all":         func(w *chunk.Writer) error { return w.Begin(1, offsets(4, 2)) },
		"no nodes":                func(w *chunk.Writer) error { return w.Begin(0, offsets(0)) },
	} {
		if err := write(chunk.NewWriter(&bytes.Buffer{}, 4096)); err == nil {
			t.Errorf("%s: found no error", name)
		}
	}
}

// TestDamage changes a word or cuts a file; the error names the byte. The graph has chunks of 1,000 nodes without
// edges, except for the first node of each chunk, which has 20.
func TestDamage(t *testing.T) {
	degrees := make([]int, 2500)
	for i := range degrees {
		if i%1000 == 0 {
			degrees[i] = 20
		}
	}
	sound := func() *folder { return cut(t, 4096, degrees, func(int) uint32 { return 7 }) }
	put := func(b []byte, word int, v uint32) { binary.LittleEndian.PutUint32(b[4*word:], v) }
	at := chunk.Words(1000, 0)
	for _, c := range []struct {
		name   string
		change func(f *folder)
		want   string
	}{
		{"nodes", func(f *folder) { put(f.chunks, 0, 999) }, "chunks.bin: chunk 0, byte 0: found 999 nodes, expected 1000"},
		{"start", func(f *folder) { put(f.chunks, 1024+1, 7) }, "chunks.bin: chunk 1, byte 4100: found the start id 7, expected 1000"},
		{"first offset", func(f *folder) { put(f.chunks, 2, 0) }, "chunks.bin: chunk 0, byte 8: found the offset 0, expected 1003, the start of the neighbours"},
		{"an offset", func(f *folder) { put(f.chunks, 5, 1024) }, "chunks.bin: chunk 0, byte 20: found the offset 1024 after 1023, expected offsets that ascend to 1023"},
		{"an offset back", func(f *folder) { put(f.chunks, 5, 3) }, "chunks.bin: chunk 0, byte 20: found the offset 3 after 1023"},
		{"last offset", func(f *folder) { put(f.chunks, 1002, 1025) }, "chunks.bin: chunk 0, byte 4008: found the offset 1025, expected 1003 to 1024; the file was cut or damaged"},
		{"neighbour", func(f *folder) { put(f.chunks, int(at)+3, 2500) }, "chunks.bin: chunk 0, byte 4024: found the neighbour 2500, expected one below 2500"},
		{"padding", func(f *folder) { put(f.chunks, 1023, 1) }, "chunks.bin: chunk 0, byte 4092: found 1, expected zeros after the neighbours"},
		{"cut", func(f *folder) { f.chunks = f.chunks[:8192+1024] }, "chunks.bin: chunk 2, byte 8192: found 256 words, expected at least the 503 of 500 nodes"},
		{"cut at a chunk", func(f *folder) { f.chunks = f.chunks[:8192] }, "info.bin: found 12 bytes, expected 8: 4 for each of the 2 chunks of "},
		{"cut in the padding", func(f *folder) { f.chunks = f.chunks[:len(f.chunks)-4] }, "found 10748 bytes, expected 10752: the last chunk is padded to a multiple of 512"},
		{"longer", func(f *folder) { f.chunks = append(f.chunks, make([]byte, 512)...) }, "found 11264 bytes, expected 10752"},
		{"start ids cut", func(f *folder) { f.info = f.info[:8] }, "info.bin: found 8 bytes, expected 12"},
		{"start ids fall", func(f *folder) { put(f.info, 2, 1000) }, "info.bin: byte 8: found the start id 1000, expected ids that ascend from 0"},
		{"start ids begin late", func(f *folder) { put(f.info, 0, 1) }, "info.bin: byte 0: found the start id 1"},
		{"start ids beyond", func(f *folder) { put(f.info, 2, 2500) }, "info.bin: byte 8: found the start id 2500, expected ids that ascend from 0 and are below 2500"},
		{"count", func(f *folder) {
			e := f.meta.Edges["n:e:n"]
			e.Count = 1 << 60
			f.meta.Edges["n:e:n"] = e
		}, "chunks.bin: found 60 neighbours, expected the 1152921504606846976 edges"},
		{"many nodes", func(f *folder) { f.meta.Nodes["n"] = chunk.None }, "chunk 2, byte 8192: found 640 words, expected at least the "},
		{"nothing", func(f *folder) { f.chunks, f.info = nil, nil }, "chunks.bin: found no chunks, expected those of 2500 nodes of type n"},
	} {
		dir, f := t.TempDir(), sound()
		c.change(f)
		f.save(t, dir)
		_, err := check(t.Context(), vfs.OS, dir)
		if !errors.Is(err, chunk.ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %s", c.name, err, c.want)
		}
	}
	f := sound()
	dir := t.TempDir()
	f.save(t, dir)
	if _, err := check(t.Context(), vfs.OS, dir); err != nil {
		t.Errorf("without damage: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := check(ctx, vfs.OS, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	count := &vfs.Fault{FS: vfs.OS}
	if _, err := check(t.Context(), count, dir); err != nil {
		t.Fatal(err)
	}
	for n := range count.Calls() {
		if _, err := check(t.Context(), &vfs.Fault{FS: vfs.OS, FailAt: n + 1, Err: fs.ErrPermission}, dir); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("call %d: %v", n+1, err)
		}
	}
}

// TestMetadata checks what Parse refuses in chunks.json.
func TestMetadata(t *testing.T) {
	const sound = `{"format": 1, "chunk_bytes": 4096, "nodes": {"a": 1, "b": 2}, "edges": {"a:r:b": {"count": 0, "dir": "in", "chunks": "c", "info": "i"}}}`
	if _, err := chunk.Parse([]byte(sound)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{sound, "", "byte 0: EOF"},
		{"}}}", "}}} 1", "found text after the JSON value"},
		{`"format"`, `"formats"`, `unknown field "formats"`},
		{`"format": 1`, `"format": 2`, "found format 2, expected 1"},
		{"4096", "4100", "chunk_bytes: found a chunk size of 4100 bytes, expected a multiple of 4096"},
		{"4096", "17179869184", "expected a multiple of 4096 from 4096 to 17179865088"},
		{"a:r:b", "a:b", `found edge type "a:b", expected src:rel:dst`},
		{`"in"`, `"both"`, `found dir "both", expected in or out`},
		{`"b": 2`, `"c": 2`, `found no node type "b"`},
		{`"b": 2`, `"b": 4294967296`, "node type b: found 4294967296 nodes, expected at most 4294967295; ids are 32-bit"},
		{`"b": 2`, `"b": -2`, "cannot unmarshal number -2"},
		{`"c"`, `"../c"`, `found file name "../c", expected a path inside the folder`},
		{`"c"`, `"/c"`, `found file name "/c", expected a path inside the folder`},
		{`"c"`, `"i"`, `found the file "i", which belongs to a:r:b`},
	} {
		_, err := chunk.Parse([]byte(strings.Replace(sound, c.from, c.to, 1)))
		if !errors.Is(err, chunk.ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %s", c.to, err, c.want)
		}
	}
}

// FuzzSet reads any bytes as the files of an edge type. It gets an error, or a set in which all neighbours of every
// node exist, without allocating more memory than the bytes justify.
func FuzzSet(f *testing.F) {
	add := func(x *folder) {
		f.Add(x.meta.Nodes["n"], x.meta.Edges["n:e:n"].Count, x.info, x.chunks)
	}
	add(cut(f, 4096, nil, nil))
	add(cut(f, 4096, []int{2, 0, 1}, func(e int) uint32 { return uint32(e) }))
	add(cut(f, 4096, make([]int, 1500), nil))
	damaged := cut(f, 4096, []int{2, 0, 1}, func(e int) uint32 { return uint32(e) })
	damaged.chunks[8] = 200
	add(damaged)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, nodes, edges uint64, info, chunks []byte) {
		fuzzing.Check(t, len(info)+len(chunks), func() {
			x := &folder{chunk.Metadata{Format: 1, ChunkBytes: 4096, Nodes: map[string]uint64{"n": nodes},
				Edges: map[string]chunk.Edges{"n:e:n": {Count: edges, Dir: "in", Chunks: "x/chunks.bin", Info: "x/info.bin"}}}, chunks, info}
			x.save(t, dir)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s, err := check(t.Context(), vfs.OS, dir)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20+64*uint64(len(info)+len(chunks)) {
				t.Fatalf("found %d bytes allocated for %d", got, len(info)+len(chunks))
			}
			if err != nil {
				return
			}
			all := make(chunk.Chunk, len(chunks)/4)
			for i := range all {
				all[i] = binary.LittleEndian.Uint32(chunks[4*i:])
			}
			node, total := uint64(0), 0
			for i, r := range s.Rows {
				c := all[s.Offset(i)/4:][:r.Words()]
				if err := c.CheckHead(r); err != nil || uint64(r.Start) != node {
					t.Fatalf("chunk %d: %v", i, err)
				}
				node += uint64(r.Nodes)
				for v := range c.Nodes() {
					if _, _, ok := c.Span(v); !ok {
						t.Fatalf("chunk %d: node %d has no span", i, v)
					}
					total += len(c.Neighbours(v))
				}
			}
			if node != nodes || uint64(total) != edges {
				t.Fatalf("found %d nodes and %d edges, expected %d and %d", node, total, nodes, edges)
			}
		})
	})
}

// FuzzParse reads any text as chunks.json. Accepted text names files inside the folder and types with counts, and
// reads back the same.
func FuzzParse(f *testing.F) {
	text, err := cut(f, 4096, []int{1}, func(int) uint32 { return 0 }).meta.JSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"format": 1, "chunk_bytes": 8192, "edges": {"a:b:c": {"dir": "out", "chunks": "x/../../y", "info": ""}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			m, err := chunk.Parse(b)
			if err != nil {
				return
			}
			for name, e := range m.Edges {
				near, far, err := e.Ends(name)
				if err != nil || m.Nodes[near] > chunk.None || m.Nodes[far] > chunk.None || !filepath.IsLocal(e.Chunks) || !filepath.IsLocal(e.Info) {
					t.Fatalf("accepted %s: %+v, %v", name, e, err)
				}
			}
			text, err := m.JSON()
			if err != nil {
				t.Fatal(err)
			}
			again, err := chunk.Parse(text)
			if diff := cmp.Diff(m, again); err != nil || diff != "" {
				t.Fatalf("%v: %s", err, diff)
			}
		})
	})
}
