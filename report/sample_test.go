package report

import (
	"math"
	"time"
)

// powerLaw returns n numbers with a heavy tail, the same on every machine.
func powerLaw(n int, seed uint64, zeros bool) *Histogram {
	h := new(Histogram)
	x := seed*0x9E3779B97F4A7C15 + 1
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		u := x>>40 + 1 // 1 .. 2^24
		v := (uint64(1) << 24) / u
		if zeros {
			v--
		}
		h.Add(v)
	}
	return h
}

// bell returns n numbers around the middle of lo..hi.
func bell(n int, seed, lo, hi uint64) *Histogram {
	h := new(Histogram)
	x := seed*0x9E3779B97F4A7C15 + 1
	for range n {
		sum := uint64(0)
		for range 4 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			sum += x >> 48
		}
		h.Add(lo + sum*(hi-lo)>>18)
	}
	return h
}

// importReport is the report of a typed import, with every kind of section.
func importReport() *Report {
	r := New("import", "Debian package graph", "0.1.0",
		[]string{"/usr/local/bin/graphmill", "import", "packages/graph.yaml", "--out", "debian store", "--dangling=drop", "--memory", "256MiB"})
	r.Threads, r.MemoryBudget, r.PeakRSS, r.ElapsedSeconds = 2, 256<<20, 213_400_000, 4.87
	r.Head("edges", Count(31_214_553, "edges"))
	r.Head("rate", Number(6.41e6, "edges/s"))
	r.Input("packages/nodes.csv.gz", 18_231_004, "5d2c0f4b9a1e7733")
	r.Input("packages/depends.csv.zst", 412_119_870, "0a9913c4dd81f20e")
	r.Input("packages/contents.csv.zst", 1_412_119_870, "77be13c4dd81f2aa")
	r.In("node rows", Count(1_204_551, "rows"))
	r.In("edge rows", Count(31_214_565, "rows"))
	r.Out("nodes", Count(1_204_551, "nodes"))
	r.Out("edges", Count(31_214_553, "edges"))
	r.Out("store", Bytes(391_004_221))
	r.Out("files", Count(87, ""))
	r.Out("primary direction", Text("in"))
	r.Warn(12, "dangling edges dropped")
	r.Warn(1_204, "empty cells of column version set to 0")
	r.Note("the reverse of package:depends:package is not stored; --both stores it")
	r.Table(Table{Title: "Node types", Columns: []string{"node type", "nodes", "columns", "original ids"}, Rows: [][]Value{
		{Text("file"), Count(1_104_333, ""), Count(1, ""), Text("string")},
		{Text("maintainer"), Count(2_211, ""), Count(0, ""), Text("string")},
		{Text("package"), Count(98_007, ""), Count(6, ""), Text("string")},
	}})
	types := []string{"package:breaks:package", "package:conflicts:package", "package:contains:file", "package:depends:package",
		"package:enhances:package", "package:maintained_by:maintainer", "package:provides:package", "package:recommends:package",
		"package:replaces:package", "package:suggests:package"}
	d := Distribution{Title: "In-degree by edge type", Of: "nodes", What: "in-degree", View: CCDF}
	t := Table{Title: "Edge types", Columns: []string{"edge type", "edges", "columns", "size", "share"}}
	for i, name := range types {
		h := powerLaw(1000+i*i*3000, uint64(i), i%2 == 0)
		d.Series = append(d.Series, Series{name, h})
		t.Rows = append(t.Rows, []Value{Text(name), Count(h.Sum(), ""), Count(i%3, ""), Bytes(int64(h.Sum()) * 8), Share(float64(i) / 45)})
	}
	r.Table(t)
	r.Plot(d)
	drift := 0.125
	counts := make([]int64, 20)
	for i := range counts {
		counts[i] = int64(i * i * 100)
	}
	r.Profiles = []ColumnProfile{
		{Type: "package", Name: "size", Rows: 98_007, Values: 98_007, Missing: 1204, Distinct: 50_122, Drift: &drift, Top: []ValueCount{{"0", 12_000}, {"4096", 3}, {"17", 1}},
			Numbers: &NumberProfile{Least: 0, Greatest: 1e6, Mean: 1234.5, Deviation: 2, Quantiles: []float64{1, 2, 300, 4, 5}, Histogram: counts}},
		{Type: "package", Name: "size", Part: "train", Rows: 10, Values: 10, Missing: 10},
		{Type: "package:depends:package", Name: "since", Unit: "s", Rows: 9, Values: 9, Distinct: 1, Top: []ValueCount{{"2024-04-01T00:00:00Z", 9}},
			Numbers: &NumberProfile{Least: 1711929600, Greatest: 1711929600, Mean: 1711929600, Quantiles: []float64{1711929600, 1711929600, 1711929600, 1711929600, 1711929600}, Histogram: append([]int64{9}, make([]int64, 19)...)}},
	}
	r.Stage("read and bucket", 2310*time.Millisecond, 1_842_470_744, "bytes")
	r.Stage("number string ids", 990*time.Millisecond, 31_214_565, "references")
	r.Stage("finish buckets", 1120*time.Millisecond, 31_214_553, "edges")
	r.Stage("checksum and sync", 310*time.Millisecond, 391_004_221, "bytes")
	return r
}

// sampleReport is the report of a sampling run.
func sampleReport() *Report {
	r := New("sample", "Debian package graph", "0.1.0",
		[]string{"graphmill", "sample", "debian.store", "--fanout", "10,5", "--scope", "seed", "--format", "tfrecord", "--out", "subgraphs"})
	r.Threads, r.PeakRSS, r.ElapsedSeconds = 2, 611_000_000, 0.412
	r.Head("subgraphs", Count(98_007, ""))
	r.Head("rate", Number(238_000, "subgraphs/s"))
	r.In("seeds", Count(98_007, "seed nodes"))
	r.Out("sampled edges", Count(3_528_252, "edges"))
	r.Plot(Distribution{Title: "Subgraph size", Of: "subgraphs", What: "number in a subgraph", View: Bins, Series: []Series{
		{"nodes", bell(98_007, 1, 1, 62)}, {"edges", bell(98_007, 2, 4, 110)},
	}})
	r.Plot(Distribution{Title: "In-degree of the seed nodes", Of: "seed nodes", What: "in-degree", View: CCDF, Series: []Series{{"package", powerLaw(98_007, 4, true)}}})
	r.Plot(Distribution{Title: "Bytes of an Example", Of: "Examples", What: "bytes", View: Bins, Series: []Series{{"package", powerLaw(9_007, 9, true)}}})
	r.Plot(Distribution{Title: "Hops reached", Of: "subgraphs", What: "hops", View: Bins, Series: []Series{{"package", bell(9_007, 9, 0, 5)}}})
	r.Stage("sample", 240*time.Millisecond, 3_528_252, "edges")
	r.Stage("write", 160*time.Millisecond, 88_101_222, "bytes")
	return r
}

// hostileReport has names that would break a page, a drawing or a terminal.
func hostileReport() *Report {
	evil := "</title></svg><script>alert(1)</script>&\"'`{{.}}\x00\x1b[2J\xff\u202e\n-->]]>"
	r := New(evil, evil, evil, []string{evil, "--x='" + evil, "a b", "", "=x", "\xff7"})
	r.Head(evil, Count(1, evil))
	r.Input(evil, 1, evil)
	r.In(evil, Text(evil))
	r.Out(evil, Number(-1e-9, evil))
	r.Warn(math.MaxInt64, evil)
	r.Note(evil)
	r.Table(Table{Title: evil, Columns: []string{evil}, Rows: [][]Value{{Text(evil)}, {{}}}})
	h := new(Histogram)
	h.AddN(math.MaxUint64, 3)
	h.Add(0)
	for _, v := range []View{CCDF, Bins} {
		r.Plot(Distribution{Title: evil, Of: evil, What: evil, View: v, Series: []Series{{evil, h}, {evil, new(Histogram)}}})
	}
	r.Profiles = []ColumnProfile{{Type: evil, Name: evil, Part: evil, Unit: evil, Top: []ValueCount{{evil, math.MaxInt64}}},
		{Type: evil, Name: evil, Unit: "ns", Numbers: &NumberProfile{Least: -math.MaxFloat64, Greatest: math.MaxFloat64, Quantiles: make([]float64, 5), Histogram: append([]int64{math.MaxInt64}, make([]int64, 19)...)}}}
	r.Stage(evil, time.Second, 1, evil)
	return r
}

// emptyReport has only a command and plots without numbers.
func emptyReport() *Report {
	r := New("verify", "", "", nil)
	r.Plot(Distribution{Title: "Nothing", View: Bins})
	r.Plot(Distribution{Title: "Zeros only", View: CCDF, Series: []Series{{"z", Degrees([]uint32{0, 0, 0})}}})
	r.Stage("nothing", 0, 0, "edges")
	return r
}
