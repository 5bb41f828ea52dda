package graphmill_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

const piecedYAML = `
missing: {float: nan}
nodes:
  user:
    table: user.csv
    id: id
    columns: {row: int32, v: "float32[5]", age: float32, city: string, tags: string}
    features:
      x: {bits: 8, parts: [v, {from: city, encode: one-hot}, {from: tags, encode: multi-hot, separator: ";"}, {from: age, impute: mean}]}
      hot: {dtype: float16, parts: [{from: age, impute: mean, flag: true}, {from: city, encode: one-hot}]}
      aside: {bits: 4, dtype: bfloat16, parts: [v]}
      plain: [v]
      city_code: {from: city, encode: code}
  item: {table: item.csv, id: id}
edges:
  user:buys:item:
    table: buys.csv
    src: user
    dst: item
    columns: {row: int32, amount: float32, kind: string}
    features: {e: {bits: 4, parts: [amount, {from: kind, encode: one-hot}]}}
`

// piecedTables writes tables of so many users and edges. Some users have no tags, and some values are missing.
func piecedTables(t *testing.T, dir string, users, edges int) {
	t.Helper()
	var user, item, buys strings.Builder
	user.WriteString("id,row,v,age,city,tags\n")
	for i := range users {
		var tags []string
		for k := range i % 4 {
			tags = append(tags, fmt.Sprintf("t%02d", (7*i+13*k)%40))
		}
		age := fmt.Sprint(i % 50)
		if i%11 == 0 {
			age = ""
		}
		fmt.Fprintf(&user, "u%d,%d,%d %g %g 7 %d,%s,c%d,%s\n", i, i, i, math.Sqrt(float64(i)), -0.3*float64(i), i%2, age, i%40, strings.Join(tags, ";"))
	}
	item.WriteString("id\ni0\ni1\ni2\n")
	buys.WriteString("user,item,row,amount,kind\n")
	for i := range edges {
		fmt.Fprintf(&buys, "u%d,i%d,%d,%g,k%d\n", i*7%users, i%3, i, 0.1*float64(i), i%40)
	}
	for name, text := range map[string]string{"graph.yaml": piecedYAML, "user.csv": user.String(), "item.csv": item.String(), "buys.csv": buys.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// widened are the numbers of the features that a store holds in pieces, by type and name and by the column "row", from the codes and the
// ranges of features.json.
func widened(t *testing.T, st *graphmill.Store) map[string][][]float64 {
	t.Helper()
	file, err := features.ReadFile(vfs.OS, st.Dir())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][][]float64{}
	of := func(typ string, columns []*graph.Column, made *features.Type) {
		if made == nil {
			return
		}
		for name, f := range made.Features {
			if f.Code || f.Pieces[0].Column == name {
				continue
			}
			dtype, err := graph.ParseDType(f.DType)
			if err != nil {
				t.Fatal(err)
			}
			numbers := graph.View[int32](graph.FindColumn(columns, "row").Values)
			rows := make([][]float64, len(numbers))
			for i := range f.Pieces {
				p := &f.Pieces[i]
				c := graph.FindColumn(columns, p.Column)
				for r, number := range numbers {
					row := make([]float64, p.Width)
					switch p.Kind {
					case features.PieceOneHot:
						row[c.Values[r]] = 1
					case features.PieceMultiHot:
						for k := range row {
							row[k] = float64(c.Row(r)[k/8] >> (k % 8) & 1)
						}
					case features.PieceLowBit:
						for k := range row {
							code := int(c.Row(r)[k*p.Bits/8]) >> (k * p.Bits % 8) & (1<<p.Bits - 1)
							row[k] = p.Number(k, code, dtype)
						}
					default:
						row = numbersOf(c, r)
					}
					rows[number] = append(rows[number], row...)
				}
			}
			out[typ+"/"+name] = rows
		}
	}
	for _, n := range st.Graph().Nodes {
		of(n.Type, n.Columns, file.Nodes[n.Type])
	}
	for _, e := range st.Graph().Edges {
		of(e.Type.Rel, e.Columns, file.Edges[e.Type.String()])
	}
	return out
}

// numbersOf are the numbers of a row of floats.
func numbersOf(c *graph.Column, r int) (out []float64) {
	size := c.DType.Size()
	for b := range slices.Chunk(c.Row(r), size) {
		switch c.DType {
		case graph.Float16:
			out = append(out, float64(example.Float16(binary.LittleEndian.Uint16(b))))
		case graph.BFloat16:
			out = append(out, float64(example.BFloat16(binary.LittleEndian.Uint16(b))))
		case graph.Float32:
			out = append(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		default:
			panic("no floats: " + c.DType.String())
		}
	}
	return out
}

// sameRows compares the rows of features with those of columns that were read back. The column "row" says which row each of them is.
func sameRows(t *testing.T, what, typ string, want map[string][][]float64, columns []*graph.Column) {
	t.Helper()
	numbers := graph.FindColumn(columns, "row")
	if numbers == nil || numbers.Rows == 0 {
		t.Fatalf("%s: %s: found no rows", what, typ)
	}
	row := graph.View[int32](numbers.Values)
	if numbers.DType == graph.Int64 {
		row = nil
		for _, r := range graph.View[int64](numbers.Values) {
			row = append(row, int32(r))
		}
	}
	for _, c := range columns {
		if _, piece := graph.PieceOf(c.Name); piece {
			t.Errorf("%s: found the piece %s of %s", what, c.Name, typ)
		}
	}
	for name, rows := range want {
		of, feature, _ := strings.Cut(name, "/")
		if of != typ {
			continue
		}
		c := graph.FindColumn(columns, feature)
		if c == nil {
			t.Errorf("%s: found no column %s", what, name)
			continue
		}
		for i, r := range row {
			if got := numbersOf(c, i); !slices.Equal(got, rows[r]) {
				t.Errorf("%s: %s, row %d: found %v, expected %v", what, name, r, got, rows[r])
				break
			}
		}
	}
}

// piecedStore is a store with features in pieces, what they are, and how to read an output of it back.
type piecedStore struct {
	*graphmill.Store
	dir    string
	want   map[string][][]float64
	run    option.Run
	warned []string
}

func newPiecedStore(t *testing.T) *piecedStore {
	t.Helper()
	p := &piecedStore{dir: t.TempDir()}
	piecedTables(t, p.dir, 90, 250)
	st, err := graphmill.Import(t.Context(), p.dir, p.in("g.store"), option.Import{Build: option.Build{Both: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	p.Store, p.want = st, widened(t, st)
	if len(p.want) != 4 {
		t.Fatalf("found %d features in pieces, expected 4", len(p.want))
	}
	p.run = option.Run{NoReport: true, Warn: func(text string) { p.warned = append(p.warned, text) }}
	return p
}

func (p *piecedStore) in(name string) string { return filepath.Join(p.dir, name) }

// readBack imports an output, and compares its rows.
func (p *piecedStore) readBack(t *testing.T, what, source, schema string) {
	t.Helper()
	got, err := graphmill.Import(t.Context(), source, p.in("back.store"), option.Import{Schema: schema, Build: option.Build{Run: option.Run{Overwrite: true, NoReport: true}}})
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if c := got.Collection(); c != nil {
		for _, n := range c.Nodes {
			if n.Type == "user" {
				sameRows(t, what, "user", p.want, n.Columns)
			}
		}
		for _, e := range c.Edges {
			sameRows(t, what, "buys", p.want, e.Columns)
		}
		return
	}
	sameRows(t, what, "user", p.want, got.Graph().Nodes[got.Graph().NodeType("user")].Columns)
	sameRows(t, what, "buys", p.want, got.Graph().Edges[0].Columns)
}

// noneLeft checks that no warning says that a feature is left out.
func (p *piecedStore) noneLeft(t *testing.T) {
	t.Helper()
	for _, text := range p.warned {
		for name := range p.want {
			_, feature, _ := strings.Cut(name, "/")
			if strings.Contains(text, "left out") && (strings.Contains(text, "user."+feature) || strings.Contains(text, "user/"+feature) || strings.Contains(text, "item."+feature)) {
				t.Errorf("found the warning %q", text)
			}
		}
	}
}

// Tables of a unigraph have the numbers of features that the store holds in pieces, in every row.
func TestWidenedTables(t *testing.T) {
	p := newPiecedStore(t)
	for _, format := range []string{"csv", "tfrecord", "parquet"} {
		out := p.in(format)
		if _, err := graphmill.StoreToUnigraph(t.Context(), p.Dir(), out, option.UnigraphTables{Run: p.run, To: format, Shards: 2}); err != nil {
			t.Fatal(err)
		}
		p.readBack(t, "unigraph of "+format, filepath.Join(out, "schema.pbtxt"), "")
	}
	p.noneLeft(t)
}

// Chunked graphs and parts of DGL have them, too.
func TestWidenedDGL(t *testing.T) {
	p := newPiecedStore(t)
	for _, format := range []string{"numpy", "parquet"} {
		if _, err := graphmill.Export(t.Context(), p.Dir(), p.in(format), option.Export{Run: p.run, To: option.FormatChunked, Chunks: 3, Features: format}); err != nil {
			t.Fatal(err)
		}
		p.readBack(t, "chunked graph of "+format, p.in(format), "")
	}
	o := option.PartitionGraph{Partition: option.Partition{Run: p.run, Parts: 3}, DGLParts: option.DGLParts{GraphName: "g", SaveOrigNids: true, SaveOrigEids: true}}
	if _, err := graphmill.PartitionGraph(t.Context(), p.Dir(), p.in("parts"), o); err != nil {
		t.Fatal(err)
	}
	p.readBack(t, "parts", p.in("parts/g.json"), "")
	check, err := graphmill.Verify(t.Context(), p.in("parts"), option.Verify{Run: p.run, Against: p.Dir()})
	if err != nil {
		t.Fatal(err)
	}
	if !check.OK || check.Partition == nil || check.Partition.Rows < 4*90 {
		t.Errorf("found %+v, expected parts without a fault, with rows of features", check.Partition)
	}
	p.noneLeft(t)
}

// Examples have them, too, of both executors and joined to a collection.
func TestWidenedRecords(t *testing.T) {
	p := newPiecedStore(t)
	sampled := option.Sample{Run: p.run, Batching: option.Batching{SeedType: []string{"user"}}, Draw: option.Draw{Fanout: []int{3}, Direction: option.DirectionOut, Scope: option.ScopeSeed}}
	for _, executor := range []option.Executor{option.ExecutorMemory, option.ExecutorStream} {
		o, out := sampled, p.in(string(executor))
		o.Executor, o.Format = executor, option.FormatTFRecord
		if _, err := graphmill.Sample(t.Context(), p.Store, out, o); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := graphmill.Sample(t.Context(), p.Store, p.in("collection"), sampled); err != nil {
		t.Fatal(err)
	}
	if _, err := graphmill.Export(t.Context(), p.in("collection"), p.in("joined"), option.Export{Run: p.run, To: option.FormatTFRecord, Store: p.Dir()}); err != nil {
		t.Fatal(err)
	}
	const file = "/samples.tfrecord-00000-of-00001"
	p.readBack(t, "records", p.in("memory")+file, p.in("memory"))
	p.readBack(t, "joined records", p.in("joined")+file, p.in("joined"))
	want, err := os.ReadFile(p.in("memory") + file)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"stream", "joined"} {
		if got, err := os.ReadFile(p.in(other) + file); err != nil || string(got) != string(want) {
			t.Errorf("%s: found other records than those of the memory executor, or %v", other, err)
		}
	}
	p.noneLeft(t)
}

// Links that are edges of the store have them, too: in _readout of Examples, and in links/NAME of batches, of both executors.
func TestWidenedLinks(t *testing.T) {
	p := newPiecedStore(t)
	const edges = "user:buys:item"
	plan, schema := p.in("plan.json"), p.in("schema.pbtxt")
	for name, text := range map[string]string{
		plan: `{"seed_type": ["user", "item"], "scope": "seed", "expand": "new", "ops": [{"from": [0], "edges": "user:buys:item", "dir": "out", "take": 2, "how": "uniform"}]}`,
		schema: `node_sets { key: "user" value {} } node_sets { key: "item" value {} } edge_sets { key: "buys" value { source: "user" target: "item" } }
			node_sets { key: "_readout" value { features { key: "row" value { dtype: DT_INT64 } } features { key: "e" value { dtype: DT_FLOAT } } } }
			edge_sets { key: "_readout/source" value { source: "user" target: "_readout" } } edge_sets { key: "_readout/target" value { source: "item" target: "_readout" } }`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fanout := option.Draw{Fanout: []int{2}, Scope: option.ScopeSeed}
	negatives := fanout
	negatives.Negatives = 1
	for _, c := range []struct {
		name     string
		draw     option.Draw
		batching option.Batching
		schema   string
	}{
		{"all", fanout, option.Batching{Seeds: edges}, ""},
		{"in the order of the input", fanout, option.Batching{Seeds: edges + ":#input_position", LimitSeeds: 40}, ""},
		{"negatives", negatives, option.Batching{Seeds: edges, LimitSeeds: 40}, ""},
		{"a plan", option.Draw{Plan: plan}, option.Batching{Seeds: edges, LimitSeeds: 40}, ""},
		{"a schema", fanout, option.Batching{Seeds: edges, LimitSeeds: 40}, schema},
	} {
		var records []string
		for _, executor := range []option.Executor{option.ExecutorMemory, option.ExecutorStream} {
			o, out := option.Sample{Run: p.run, Draw: c.draw, Batching: c.batching, Format: option.FormatTFRecord}, p.in("links")
			o.Executor, o.Overwrite, o.GraphSchema = executor, true, c.schema
			if _, err := graphmill.Sample(t.Context(), p.Store, out, o); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			file, err := os.ReadFile(filepath.Join(out, "samples.tfrecord-00000-of-00001"))
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, string(file))
			sameRows(t, c.name+" "+string(executor), "buys", p.want, readout(t, file))
			if c.schema != "" {
				continue
			}
			n := 0
			for _, b := range batches(t, p.Store, option.Batches{Run: option.Run{NoReport: true}, Draw: o.Draw, Batching: c.batching}) {
				var columns []*graph.Column
				for _, x := range b.Columns() {
					if name, is := strings.CutPrefix(x.Name, "links/"); is {
						column := *x
						column.Name, n = name, n+1
						columns = append(columns, &column)
					}
				}
				sameRows(t, "batches of "+c.name+" "+string(executor), "buys", p.want, columns)
			}
			if n == 0 || n%3 != 0 {
				t.Errorf("%s: found %d columns of links, expected row, amount and e of each batch", c.name, n)
			}
		}
		if records[0] != records[1] {
			t.Errorf("%s: found other records of the stream executor", c.name)
		}
	}
}

// readout are the columns row and e of all links of Examples.
func readout(t *testing.T, file []byte) []*graph.Column {
	t.Helper()
	var rows []int64
	var numbers []float32
	r := tfrecord.NewReader(bytes.NewReader(file), "samples", int64(len(file)))
	var d example.Decoder
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = d.Decode(record)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Features() {
			if name, is := strings.CutPrefix(string(f.Key), "nodes/_readout."); is && strings.HasPrefix(name, "#e") {
				t.Errorf("found the piece %s", name)
			}
		}
		row, e := d.Find("nodes/_readout.row"), d.Find("nodes/_readout.e")
		if row == nil || e == nil {
			t.Fatal("found no row or no e of a link, expected both")
		}
		rows, numbers = row.AppendInts(rows), e.AppendFloats(numbers)
	}
	return []*graph.Column{{Name: "row", DType: graph.Int64, Rows: len(rows), Values: graph.Bytes(rows)},
		{Name: "e", DType: graph.Float32, Shape: []int{len(numbers) / max(len(rows), 1)}, Rows: len(rows), Values: graph.Bytes(numbers)}}
}
