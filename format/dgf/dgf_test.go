package dgf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// A schema that DGF wrote is written back to the byte, but for the order of sets and features.
func TestSchemaOfDGF(t *testing.T) {
	file := filepath.Join("..", "..", "internal", "ingest", "testdata", "dgf", "papers", SchemaFile)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSchema(file, text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := AppendJSON(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	lines := func(b []byte) map[string]int {
		count := map[string]int{}
		for line := range strings.Lines(string(b)) {
			count[strings.TrimRight(line, ",\n")]++
		}
		return count
	}
	want := lines(text)
	for line, n := range lines(got) {
		if want[line] != n {
			t.Errorf("found the line %q %d times, expected it %d times", line, n, want[line])
		}
	}
	if len(got) != len(text) {
		t.Errorf("found %d bytes, expected %d", len(got), len(text))
	}
}

func TestSchemaRefuses(t *testing.T) {
	feature := func(text string) string {
		return `{"node_sets": {"a": {"features": {"x": ` + text + `}}}, "edge_sets": {}}`
	}
	for _, c := range []struct{ text, want string }{
		{"", "s:1: found the end of the file"},
		{"{\n\"node_sets\": }", "s:2: found text that is not JSON"},
		{`{"node_sets": {}, "edge_sets": {}} x`, "s:1: found text after the object"},
		{`[]`, "s:1: found array in the file"},
		{`{"node_sets": {}}`, "found no node_sets or no edge_sets"},
		{`{"node_sets": {"a": null}, "edge_sets": {}}`, `node set "a": found null`},
		{`{"node_sets": {"a": {}}, "edge_sets": {"e": null}}`, `edge set "e": found null`},
		{`{"node_sets": {"a": {}}, "edge_sets": {"e": {"source": "a", "target": "b"}}}`, `edge set "e": found the node set "b" as an end`},
		{feature(`null`), `feature "x": found null`},
		{feature(`{"format": "FLOAT_16"}`), `feature "x": found format "FLOAT_16"`},
		{feature(`{"format": "BOOL", "shape": [0]}`), "found dimension 0"},
		{feature(`{"format": "BOOL", "shape": [-1]}`), "found dimension -1"},
		{feature(`{"format": "BOOL", "shape": [4096, null, 4097]}`), "expected at most 16777216 values"},
	} {
		if _, err := ParseSchema("s", []byte(c.text)); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q", c.text, err, c.want)
		}
	}
}

func TestID(t *testing.T) {
	bytesOf := func(semantic Semantic) *Feature { return &Feature{Format: Bytes, Semantic: semantic} }
	for _, c := range []struct {
		features map[string]*Feature
		want     string
	}{
		{map[string]*Feature{"key": bytesOf(PrimaryID), "id": bytesOf(Unknown)}, "key"},
		{map[string]*Feature{"ID": bytesOf(Unknown), "x": bytesOf(Unknown)}, "ID"},
		{map[string]*Feature{"ID": bytesOf(Unknown), "id": bytesOf(Unknown)}, "found 2 features"},
		{map[string]*Feature{"x": bytesOf(Unknown)}, "found 0 features"},
		{map[string]*Feature{"x": bytesOf(PrimaryID), "y": bytesOf(PrimaryID)}, `found the features ["x" "y"]`},
	} {
		got, err := (&NodeSet{c.features}).ID()
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("found %q, expected %q", got, c.want)
		}
	}
}

func TestMetadata(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"version": 0}`, ""},
		{`{"version": 0, "timestamp": 5, "container": "TF_RECORD", "more": 1}`, ""},
		{`{"version": 1}`, "found version 1"},
		{`{}`, "found version -1"},
		{`{"version": "0"}`, "found string in version"},
	} {
		_, err := ParseMetadata("m", []byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: found %v, expected %q", c.text, err, c.want)
		}
	}
}

func TestPlan(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"seed_nodeset": "a"}`, ""},
		{`{"root": {"nodeset": "a", "children": [{"edgeset": "e", "hop_width": 2, "node": {"nodeset": "a"}}]}}`, ""},
		{`{"seed_nodeset": "a", "num_hops": 0}`, "found num_hops 0"},
		{`{"seed_nodeset": ""}`, "found no seed_nodeset"},
		{`{"seed_nodeset": "a", "hop_widths": [1]}`, `found the field "hop_widths"`},
		{`{"root": {"nodeset": "a"}, "num_hops": 2}`, `found the field "num_hops"`},
		{`{"root": {"children": []}}`, "found a step without nodeset"},
		{`{"root": {"nodeset": "a", "children": [{"edgeset": "e", "hop_width": 2}]}}`, "found a step without nodeset"},
		{`{"root": {"nodeset": "a", "children": [{"edgeset": "e", "node": {"nodeset": "a"}}]}}`, `found hop_width 0 of edge set "e"`},
		{`{"root": {"nodeset": "a", "children": [{"hop_width": 1, "node": {"nodeset": "a"}}]}}`, `found a step from "a" without edgeset`},
	} {
		_, err := ParsePlan("p", []byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: found %v, expected %q", c.text, err, c.want)
		}
		if !IsPlan([]byte(c.text)) {
			t.Errorf("%s: found no plan", c.text)
		}
	}
	if IsPlan([]byte(`{"seed_type": "a"}`)) || IsPlan([]byte(`[`)) {
		t.Error("found a plan in another document")
	}
	if p, err := ParsePlan("p", []byte(`{"seed_nodeset": "a"}`)); err != nil || !p.MultiVisit || p.Simple.Hops != 3 || p.Simple.HopWidth != 5 || !p.Simple.Reverse {
		t.Errorf("found %+v, %v, expected the defaults of DGF", p, err)
	}
}

// FuzzParse reads any text as a schema, as metadata and as a plan. Errors are of the kind of the package, and a schema is written back.
func FuzzParse(f *testing.F) {
	f.Add(`{"node_sets": {"a": {"features": {"#id": {"format": "BYTES", "shape": [2, null]}}}}, "edge_sets": {"e": {"source": "a", "target": "a"}}}`)
	f.Add(`{"version": 0, "container": "PARQUET"}`)
	f.Add(`{"root": {"nodeset": "a", "children": [{"edgeset": "e", "hop_width": 2, "node": {"nodeset": "a"}}]}}`)
	f.Add(`{"seed_nodeset": "a", "num_hops": 2}`)
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			_, mErr := ParseMetadata("m", []byte(text))
			_, pErr := ParsePlan("p", []byte(text))
			s, sErr := ParseSchema("s", []byte(text))
			for _, err := range []error{mErr, pErr, sErr} {
				if err != nil && !errors.Is(err, ErrFormat) {
					t.Fatalf("found %v, expected an error of the format", err)
				}
			}
			if sErr != nil {
				return
			}
			b, err := AppendJSON(nil, s)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ParseSchema("again", b); err != nil {
				t.Fatal(err)
			}
		})
	})
}
