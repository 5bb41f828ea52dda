package tfgnn

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/fuzzing"
)

// odd has every form that the text format allows.
const odd = `# a comment with { brackets
context < features { value: { dtype: DT_INT64 } # ' in a comment
  key: "c\x41\102" 'd' } >
node_sets [ { key: "n" value { context: ["cABd", 'cABd'] , context: "cABd" ; description: "a } # b\"" } },
  < key: 'm' value < features: { key: "f" value { dtype: DT_FLOAT shape { dim [{size: 2}, {size: - 1 name: "é"}] dim { size:-1} } description: "x" } } > >]
node_sets { key: "n" value { features { key: "again" value { dtype: DT_BOOL } } } }
edge_sets{key:"\u00e9"value{source:"n"target:"m"metadata{extra{key:"a"value:"b"}extra{}cardinality:0x10}}}`

func TestPlaces(t *testing.T) {
	x, desc := indexText([]byte(odd)), new(tfgnnpb.GraphSchema).ProtoReflect().Descriptor()
	for _, c := range []struct {
		path   fieldPath
		line   int
		column int
	}{
		{nil, 1, 1},
		{fieldPath{}.field("context"), 2, 1},
		{fieldPath{}.field("context").entry("features", "cABd").field("dtype"), 2, 31},
		{fieldPath{}.field("context").entry("features", "absent").field("dtype"), 2, 1},
		{fieldPath{}.entry("node_sets", "m").entry("features", "f").field("shape").element("dim", 1).field("name"), 5, 102},
		{fieldPath{}.entry("node_sets", "m").entry("features", "f").field("shape").element("dim", 2).field("size"), 5, 120},
		{fieldPath{}.entry("node_sets", "n"), 6, 1}, // the last one of a key counts
		{fieldPath{}.entry("node_sets", "n").entry("features", "again").field("dtype"), 6, 62},
		{fieldPath{}.entry("node_sets", "n").element("context", 0), 6, 1},
		{fieldPath{}.entry("edge_sets", "é").field("target"), 7, 39},
		{fieldPath{}.entry("edge_sets", "é").field("metadata").element("extra", 1).field("key"), 7, 81},
	} {
		if line, column := x.position(x.find(desc, []fieldPath{c.path})[0]); line != c.line || column != c.column {
			t.Errorf("%s: found %d:%d, expected %d:%d", c.path, line, column, c.line, c.column)
		}
	}
	m, err := ParseSchema("s", []byte(odd))
	if err != nil {
		t.Fatal(err)
	}
	checkPlaces(t, []byte(odd), m)
	text := AppendText(nil, m)
	checkPlaces(t, text, m)
	if again := x.twice(desc); len(again) != 1 || again[0].String() != `node_sets["n"]` {
		t.Errorf("found %v twice, expected the node set n", again)
	}
}

// A set that is given twice is read as TF-GNN reads it, with a warning.
func TestSetGivenTwice(t *testing.T) {
	f, err := InspectSchema("s.pbtxt", []byte(base+`node_sets { key: "n" value { } }`))
	if err != nil || f.Err() != nil || len(f.Warnings) != 1 || f.Warnings[0].Line != 4 || f.Message.NodeSets["n"].Features != nil {
		t.Errorf("found %+v, %v; expected a warning at line 4", f, err)
	}
}

// A schema with many faults is checked quickly, and the number of reported faults is bounded.
func TestManyFaults(t *testing.T) {
	const n = 20000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "node_sets { key: 'n%d' value { features { key: 'f' value { } } } }\nedge_sets { key: 'e%d' value { source: 'm%d' target: 'n0' } }\n", i, i, i)
	}
	start := time.Now()
	f, err := InspectSchema("s.pbtxt", []byte(b.String()))
	if err != nil || len(f.Faults) != maxFaults+1 || f.Faults[1].Line == 0 {
		t.Fatalf("found %d faults, %v", len(f.Faults), err)
	}
	if took := time.Since(start); took > time.Minute { // against a hang
		t.Errorf("took %v", took)
	}
}

// checkPlaces finds every field of a message in the text that it was read from. The text there must be the name of
// the field, or an element of its list.
func checkPlaces(t *testing.T, text []byte, m proto.Message) {
	t.Helper()
	x := indexText(text)
	lines := strings.Split(string(text), "\n")
	check := func(at fieldPath, name string) {
		line, column := x.position(x.find(m.ProtoReflect().Descriptor(), []fieldPath{at})[0])
		if line < 1 || line > len(lines) || column < 1 {
			t.Fatalf("%s: found place %d:%d in text of %d lines", at, line, column, len(lines))
		}
		runes := []rune(strings.ToValidUTF8(lines[line-1], "\x00")) // a bad byte counts as a character, as in the index
		if column > len(runes) {
			t.Fatalf("%s: found column %d in a line of %d characters", at, column, len(runes))
		}
		rest := string(runes[column-1:])
		if !strings.HasPrefix(rest, name) && !strings.ContainsAny(rest[:1], `{<"'`) && at[len(at)-1].kind == stepField {
			t.Fatalf("%s: found %q at %d:%d, expected %q", at, rest, line, column, name)
		}
	}
	var walk func(at fieldPath, m protoreflect.Message)
	walk = func(at fieldPath, m protoreflect.Message) {
		m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			name := string(f.Name())
			switch {
			case f.IsMap():
				v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
					at := at.entry(name, k.String())
					check(at, name)
					walk(at, v.Message())
					return true
				})
			case f.IsList():
				for i := range v.List().Len() {
					at := at.element(name, i)
					check(at, name)
					if f.Message() != nil {
						walk(at, v.List().Get(i).Message())
					}
				}
			default:
				at := at.field(name)
				check(at, name)
				if f.Message() != nil {
					walk(at, v.Message())
				}
			}
			return true
		})
	}
	walk(nil, m.ProtoReflect())
}

// The index accepts any text, and finds all fields of a message that was read from it.
func FuzzPlaces(f *testing.F) {
	f.Add([]byte(odd))
	f.Add([]byte(base))
	f.Add([]byte("node_sets: [{key:'a' value<>}] ]}> \"\\x"))
	f.Add([]byte(strings.Repeat("a{", 100)))
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzzing.Check(t, len(text), func() {
			_ = indexText(text).twice(new(tfgnnpb.GraphSchema).ProtoReflect().Descriptor())
			if isBinary(text) {
				return
			}
			if m, err := ParseSchema("s", text); err == nil {
				checkPlaces(t, text, m)
			}
		})
	})
}
