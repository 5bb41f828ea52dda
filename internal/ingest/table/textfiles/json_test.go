package textfiles

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

func openJSON(t testing.TB, name, text string, names []string) *JSON {
	t.Helper()
	tab, err := OpenJSONLines(vfs.OS, []string{tabletest.WriteText(t, t.TempDir(), name, text)}, names, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestJSONFields(t *testing.T) {
	text := `{"src": 0, "dst": 1, "w": 0.5, "ok": true, "name": "a", "feat": [1, 2.5], "tags": ["x"], "obj": {"a": [1]}, "deep": [[1], []], "code": "007"}

 { "w" : 2 , "src":1,"dst":12, "tags":[], "name":null, "feat":[NaN,-Infinity], "late": 3, "mix": 1, "ok": false, "deep": [] }
{"mix": "x", "big": 18446744073709551615}
`
	for _, name := range []string{"a.jsonl", "a.ndjson.gz", "a.jsonl.zst"} {
		tab := openJSON(t, name, text, nil)
		want := []table.Field{{Name: "src"}, {Name: "dst"}, {Name: "w"}, {Name: "ok", DType: graph.Bool}, {Name: "name"},
			{Name: "feat", DType: graph.Float32, Shape: []int{2}, Inferred: true}, {Name: "tags", DType: graph.String, Shape: []int{-1}},
			{Name: "deep", DType: graph.Int64, Shape: []int{-1, -1}}, {Name: "code"}, {Name: "late"}, {Name: "mix"}, {Name: "big"}}
		if diff := cmp.Diff(want, tab.Fields()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff([]string{`"obj" (objects)`}, tab.Unreadable()); diff != "" {
			t.Error(diff)
		}
		guesses, err := tab.Guess()
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]string{}
		for i, f := range tab.Fields() {
			g := guesses[i]
			kinds[f.Name] = fmt.Sprint(g.Unsigned, g.Integer, g.Number, g.Empty)
		}
		for field, want := range map[string]string{"src": "true true true true", "w": "false false true true", "code": "false false false true", "mix": "false false false true", "big": "true false true true"} {
			if kinds[field] != want {
				t.Errorf("%s: %s: found %s, expected %s", name, field, kinds[field], want)
			}
		}
	}
}

func TestJSONRows(t *testing.T) {
	text := `{"id": 1, "s": "a\u00e9\n\"\ud83d\ude00", "f": 1e2, "v": [1, 2], "b": true, "r": [[1, 2], [3]]}` + "\r\n" +
		`{"r": [], "v": [3, 4], "id": -2, "b": false}` + "\n\n" +
		`{"id": 3, "s": null, "v": null, "f": NaN, "r": [[]], "b": 1}`
	for _, threads := range []int{1, 4} {
		tab := openJSON(t, "a.jsonl", text, nil)
		tab.text.chunk, tab.text.margin = 16, 8
		columns := []table.Column{
			{Name: "id", DType: graph.Int16}, {Name: "s", DType: graph.String}, {Name: "f", DType: graph.Float64, Empty: table.EmptyFill, Fill: "7"},
			{Name: "v", DType: graph.Uint8, Shape: []int{2}, Empty: table.EmptyAbsent}, {Name: "b", DType: graph.Bool},
			{Name: "r", DType: graph.Int64, Shape: []int{-1, -1}}, {Name: "id", DType: graph.String, ID: true},
		}
		var out []string
		for _, c := range columns {
			values := tabletest.ScanOne(t, tab, c, threads)
			out = append(out, fmt.Sprint(values...))
		}
		want := []string{"1-23", "aé\n\"😀", "100 7 NaN", "[1 2] [3 4] <nil>", "true false true", "[[1 2] [3]] [] [[]]", "1-23"}
		if diff := cmp.Diff(want, out); diff != "" {
			t.Error(diff)
		}
	}
}

func TestJSONErrors(t *testing.T) {
	const good = `{"a": 1, "b": "x", "v": [1, 2]}` + "\n"
	late := good + strings.Repeat(" ", headSize) + "\n" // ends the first MiB
	for _, c := range []struct {
		name, text string
		column     table.Column
		want       string
	}{
		{"array", `[[1, 2]]`, table.Column{}, ":1:1: found an array, expected one object per line; convert the file"},
		{"no object", good + "7\n", table.Column{}, `:2:1: found "7", expected an object per line`},
		{"twice", `{"a": 1, "a": 2}`, table.Column{}, `:1:10: found the key "a" twice, expected it once`},
		{"twice later", late + `{"a": 1, "a": 2}`, table.Column{}, `:3:10: found the key "a" twice`},
		{"new key", late + `{"a": 1, "c": 2}`, table.Column{}, `:3:10: found the key "c", which no object in the first MiB has, expected some of a, b, v; put an object with all keys first`},
		{"open string", `{"a": "x` + "\n", table.Column{}, ":1:7: found a string that is not closed, expected a quote on the same line"},
		{"not UTF-8", "{\"a\": \"\xff\"}\n", table.Column{}, ":1:7: found a string that is not UTF-8"},
		{"escape", `{"a": "\x41"}`, table.Column{}, ":1:8: found an unknown escape"},
		{"surrogate", `{"a": "\ud83d"}`, table.Column{}, ":1:8: found an escape that is no character"},
		{"two objects", `{"a": 1} {"a": 2}`, table.Column{}, `:1:10: found "{\"a\": 2}" after an object, expected the end of the line`},
		{"comma", `{"a": 1,}`, table.Column{}, `:1:9: found "}", expected a key in quotes`},
		{"no colon", `{"a" 1}`, table.Column{}, `:1:6: found "1}", expected a colon after the key`},
		{"number", `{"a": 012}`, table.Column{}, `:1:7: found "012}", expected a number of JSON`},
		{"word", `{"a": nope}`, table.Column{}, `:1:7: found "nope}", expected a value of JSON`},
		{"cut", `{"a": [1, 2`, table.Column{}, `:1:12: found the end of the line, expected a comma or ]`},
		{"deep", `{"a": ` + strings.Repeat("[", 100) + "}", table.Column{}, ":1:71: found arrays or objects deeper than 64, expected fewer"},
		{"control", "{\"a\": \"\x01\"}", table.Column{}, `:1:8: found the control character 0x01 in a string`},
		{"huge", late + `{"a": 99999999999999999999}`, table.Column{Name: "a", DType: graph.Int64}, `:3:7: found "99999999999999999999}" in column "a", expected an integer from -9223372036854775808 to 9223372036854775807`},
		{"huge float", late + `{"a": 1e999}`, table.Column{Name: "a", DType: graph.Float32}, `:3:7: found "1e999}" in column "a", expected a number in the range of float32`},
		{"string for number", late + `{"a": "x"}`, table.Column{Name: "a", DType: graph.Int64}, `:3:7: found "\"x\"}" in column "a", expected an integer`},
		{"object for number", late + `{"a": {"b": 1}}`, table.Column{Name: "a", DType: graph.Int64}, `:3:7: found "{\"b\": 1}}" in column "a", expected an integer`},
		{"shape", late + `{"a": 1, "v": [1, 2, 3]}`, table.Column{Name: "v", DType: graph.Int64, Shape: []int{2}}, `:3:15: found "[1, 2, 3]}" in column "v", expected 2 and not 3 in a dimension`},
		{"null in a list", late + `{"a": 1, "v": [1, null]}`, table.Column{Name: "v", DType: graph.Int64, Shape: []int{2}}, `:3:15: found "[1, null]}" in column "v", expected 2 values`},
		{"null", `{"a": 1}` + "\n" + `{"a": null, "b": "y"}`, table.Column{Name: "a", DType: graph.Int64}, ":2:7: found null in column \"a\", expected an integer from -9223372036854775808 to 9223372036854775807; fill the cell, or give `Missing` a value for it"},
		{"missing", late + `{"b": "y"}`, table.Column{Name: "a", DType: graph.Int64}, `:3:1: found no key "a", expected an integer`},
		{"no such key", good, table.Column{Name: "z", DType: graph.Int64}, `: found the keys a, b, v, expected "z" among them`},
	} {
		path := tabletest.WriteText(t, t.TempDir(), "x.jsonl", c.text)
		tab, err := OpenJSONLines(vfs.OS, []string{path}, nil, nil)
		if err == nil {
			columns := []table.Column{c.column}
			if c.column.Name == "" {
				columns = nil
			}
			_, err = tab.Scan(t.Context(), columns, 2, func(int, *table.Chunk) error { return nil })
		}
		if err == nil || !strings.HasPrefix(err.Error(), path+c.want) {
			t.Errorf("%s: found error %v, expected %q", c.name, err, c.want)
		}
	}
}

// With names, other keys are ignored, and a key that no object has is an empty column.
func TestJSONNames(t *testing.T) {
	tab := openJSON(t, "a.jsonl", `{"a": 1, "x": {"y": [1, {"z": null}]}}`+"\n"+`{"q": "\u0041", "b": 2}`, []string{"b", "a", "none"})
	if diff := cmp.Diff([]table.Field{{Name: "b"}, {Name: "a"}, {Name: "none"}}, tab.Fields()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"a": "[1 0]", "b": "[0 2]", "none": "[0 0]"} {
		if got := fmt.Sprint(tabletest.ScanOne(t, tab, table.Column{Name: name, DType: graph.Int64, Empty: table.EmptyFill, Fill: "0"}, 2)); got != want {
			t.Errorf("%s: found %s, expected %s", name, got, want)
		}
	}
	if where := tab.Where(1, "a"); !strings.HasSuffix(where, "a.jsonl:2") {
		t.Error(where)
	}
}

// The rows are those that the library's parser reads, for any values, chunks and threads.
func TestJSONModel(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		type row struct {
			I *int64    `json:"i,omitempty"`
			F float64   `json:"f"`
			S string    `json:"s"`
			B bool      `json:"b"`
			V []float32 `json:"v"`
			T []string  `json:"t"`
		}
		rows := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) row {
			return row{
				I: rapid.Ptr(rapid.Int64(), true).Draw(r, "i"), F: rapid.Float64().Draw(r, "f"), S: rapid.String().Draw(r, "s"), B: rapid.Bool().Draw(r, "b"),
				V: rapid.SliceOfN(rapid.Float32(), 0, 3).Draw(r, "v"), T: rapid.SliceOfN(rapid.String(), 0, 3).Draw(r, "t"),
			}
		}), 1, 20).Draw(r, "rows")
		var b bytes.Buffer
		want := map[string][]any{}
		for _, x := range rows {
			line, err := json.Marshal(x)
			if err != nil {
				r.Fatal(err)
			}
			b.Write(line)
			b.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", "\n\n", "\n  \n"}).Draw(r, "end"))
			var i any
			if x.I != nil {
				i = *x.I
			}
			vs, ts := []any{}, []any{}
			for _, v := range x.V {
				vs = append(vs, float64(v))
			}
			for _, s := range x.T {
				ts = append(ts, strings.ToValidUTF8(s, "\ufffd"))
			}
			for k, v := range map[string]any{"i": i, "f": x.F, "s": strings.ToValidUTF8(x.S, "\ufffd"), "b": x.B, "v": vs, "t": ts} {
				want[k] = append(want[k], v)
			}
		}
		path := filepath.Join(dir, "x.jsonl")
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			r.Fatal(err)
		}
		tab, err := OpenJSONLines(vfs.OS, []string{path}, []string{"i", "f", "s", "b", "v", "t"}, nil)
		if err != nil {
			r.Fatal(err)
		}
		tab.text.chunk, tab.text.margin = rapid.IntRange(1, 100).Draw(r, "chunk"), rapid.IntRange(0, 50).Draw(r, "margin")
		for _, c := range []table.Column{
			{Name: "i", DType: graph.Int64, Empty: table.EmptyAbsent}, {Name: "f", DType: graph.Float64}, {Name: "s", DType: graph.String}, {Name: "b", DType: graph.Bool},
			{Name: "v", DType: graph.Float32, Shape: []int{-1}}, {Name: "t", DType: graph.String, Shape: []int{-1}},
		} {
			for _, threads := range []int{1, 3} {
				have := tabletest.ScanOne(t, tab, c, threads)
				if len(have) != len(rows) {
					r.Fatalf("%s: found %d rows, expected %d", c.Name, len(have), len(rows))
				}
				for i := range have {
					if n, ok := have[i].(json.Number); ok {
						have[i], _ = n.Int64()
					}
				}
				if diff := cmp.Diff(want[c.Name], have); diff != "" {
					r.Fatalf("%s: %s", c.Name, diff)
				}
			}
		}
	})
}

// Lines that the library's parser accepts as objects without repeated keys are rows, and others are errors with a place.
func FuzzJSONLines(f *testing.F) {
	for _, s := range []string{`{"a": 1}`, `{"a": [1, "x", null, true, {"b": []}]}` + "\n" + `{"a":-1.5e3}`, `{"a":"\ud83d\ude00\/"}`, `{"a":NaN}`, `{} x`, "{\"a\": \"\xff\"}"} {
		f.Add(s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			path := filepath.Join(dir, "x.jsonl")
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			tab, err := OpenJSONLines(vfs.OS, []string{path}, nil, nil)
			rows := uint64(0)
			if err == nil {
				rows, err = tab.Scan(t.Context(), nil, 2, func(int, *table.Chunk) error { return nil })
			}
			if err != nil {
				if !strings.HasPrefix(err.Error(), path) {
					t.Fatalf("found the error %v, expected one with the place", err)
				}
				return
			}
			_, err = tabletest.Values(tab, 2)
			_ = err // a guess from the first rows may not hold for a later one
			if strings.ContainsAny(text, "NI\r\x00") || isRecords([]byte(text)) {
				return // one value, and Python's numbers, and line ends that are not spaces
			}
			lines := slices.DeleteFunc(strings.Split(strings.TrimPrefix(text, "\xef\xbb\xbf"), "\n"), func(s string) bool { return strings.Trim(s, " \t") == "" })
			if uint64(len(lines)) != rows {
				t.Fatalf("found %d rows, expected %d", rows, len(lines))
			}
			for _, line := range lines {
				if !json.Valid([]byte(line)) {
					t.Fatalf("found %q read, expected an error", line)
				}
			}
		})
	})
}
