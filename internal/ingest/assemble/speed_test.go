package assemble

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// synthetic is a table of random ends that are computed when they are read, so that a benchmark measures the build
// alone.
type synthetic struct {
	rows, nodes uint64
	ids         bool // a node table: row i has key i
}

func (t *synthetic) Fields() []table.Field             { return nil }
func (t *synthetic) Files() []string                   { return []string{"synthetic"} }
func (t *synthetic) Bytes() int64                      { return int64(t.rows) * 15 }
func (t *synthetic) Where(row uint64, _ string) string { return fmt.Sprint("synthetic:", row) }

func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

func (t *synthetic) Scan(ctx context.Context, columns []table.Column, threads int, fn func(int, *table.Chunk) error) (uint64, error) {
	const run = 64 << 10
	var next atomic.Uint64
	var wg sync.WaitGroup
	var failed atomic.Pointer[error]
	for w := range threads {
		wg.Go(func() {
			c := &table.Chunk{Columns: make([]table.Vector, len(columns))}
			nums := make([][]uint64, len(columns))
			for i := range nums {
				nums[i] = make([]uint64, run)
			}
			for failed.Load() == nil {
				c.First = next.Add(run) - run
				if c.First >= t.rows {
					return
				}
				c.Rows = int(min(run, t.rows-c.First))
				for k := range columns {
					v := &c.Columns[k]
					v.Data, v.Ends = v.Data[:0], v.Ends[:0]
					for i := range c.Rows {
						row := c.First + uint64(i)
						x := mix(row*2+uint64(k)) % t.nodes
						if t.ids {
							x = row
						}
						if columns[k].DType == graph.String {
							v.Data = append(v.Data, "paper/"...)
							v.Data = strconv.AppendUint(v.Data, x, 10)
							v.Ends = append(v.Ends, uint32(len(v.Data)))
						} else {
							nums[k][i] = x
						}
					}
					if columns[k].DType != graph.String {
						v.Data = graph.Bytes(nums[k][:c.Rows])
					}
				}
				if err := fn(w, c); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return t.rows, nil
}

// peakRSS returns the peak memory of this process so far.
func peakRSS() string {
	b, _ := os.ReadFile("/proc/self/status")
	for _, l := range splitLines(string(b)) {
		if len(l) > 6 && l[:6] == "VmHWM:" {
			return l[6:]
		}
	}
	return "?"
}

func splitLines(s string) []string {
	var out []string
	for from, i := 0, 0; i < len(s); i++ {
		if s[i] == '\n' {
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	return out
}

// BenchmarkBuild builds a graph of BUILD_ROWS edges (1 << 22) of integer ids, or
// of string ids, and reports edges per second up to the finished, checksummed
// store, within BUILD_MEMORY bytes (256 MiB).
// BUILD_CSV names a file of edges (src,dst) to read instead.
func BenchmarkBuild(b *testing.B) {
	rows := uint64(1 << 22)
	if s := os.Getenv("BUILD_ROWS"); s != "" {
		rows, _ = strconv.ParseUint(s, 10, 64)
	}
	memory := int64(256 << 20)
	if s := os.Getenv("BUILD_MEMORY"); s != "" {
		memory, _ = strconv.ParseInt(s, 10, 64)
	}
	for _, c := range []struct {
		name   string
		keys   bool
		nodes  uint64
		memory int64
	}{{"integers", false, rows / 16, memory}, {"free", false, rows / 16, 0}, {"strings", true, rows / 5, memory}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				in := Input{Nodes: []Nodes{{Type: "n", Count: 0}}}
				id := table.Column{Name: "id", DType: graph.Uint64}
				if c.keys {
					id.DType = graph.String
					in.Nodes[0].Table = &synthetic{rows: c.nodes, nodes: c.nodes, ids: true}
					in.Nodes[0].ID = id
				}
				in.Edges = []Edges{{Type: graph.EdgeType{Src: "n", Rel: "e", Dst: "n"}, Table: &synthetic{rows: rows, nodes: c.nodes},
					Src: table.Column{Name: "src", DType: id.DType}, Dst: table.Column{Name: "dst", DType: id.DType}}}
				if name := os.Getenv("BUILD_CSV"); name != "" {
					tab, err := textfiles.OpenCSV(vfs.OS, []string{name}, textfiles.CSVOptions{})
					if err != nil {
						b.Fatal(err)
					}
					in.Edges[0].Table = tab
				}
				start := time.Now()
				w, err := store.Create(vfs.OS, b.TempDir()+"/s", true)
				if err != nil {
					b.Fatal(err)
				}
				res, err := Build(context.Background(), vfs.OS, w, in, Options{Threads: 2, Memory: c.memory, DuplicateEdges: Keep, SelfLoops: Keep})
				if err != nil {
					b.Fatal(err)
				}
				built := time.Since(start)
				rows := res.Edges[0].Rows
				if err := w.Seal(context.Background(), res.Meta, 2); err != nil {
					b.Fatal(err)
				}
				total := time.Since(start)
				b.ReportMetric(float64(rows)/total.Seconds()/1e6, "Medges/s")
				b.Logf("build %v, seal %v, %+v; RSS %s", built, total-built, res.Stages, peakRSS())
				if err := w.Abort(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
