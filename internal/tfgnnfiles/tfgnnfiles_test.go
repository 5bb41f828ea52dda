package tfgnnfiles

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/vfs"
)

// base is a valid schema.
const base = `
node_sets { key: "n" value { features { key: "f" value { dtype: DT_FLOAT } } } }
edge_sets { key: "e" value { source: "n" target: "n" } }
`

func write(t testing.TB, dir string, files ...string) {
	t.Helper()
	for _, f := range files {
		name, text, _ := strings.Cut(f, "=")
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadSchema(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one/graph.pbtxt="+base, "one/spec.pbtxt=seed_op {}", "one/x.csv=",
		"two/a.pbtxt="+base, "two/b.pbtxt="+base, "none/a.pbtxt=seed_op {}",
		"bad/a.pbtxt=node_sets { key: '' value {} } edge_sets { key: 'e' value { source: 'x' target: '' } }")
	for _, c := range []struct{ path, file, err string }{
		{"one", "one/graph.pbtxt", ""},
		{"two/a.pbtxt", "two/a.pbtxt", ""},
		{"two", "", "found two schemas, a.pbtxt and b.pbtxt, expected one"},
		{"none", "", "found no GraphSchema among its .pbtxt and .pb files"},
		{"bad", "", `bad/a.pbtxt:1:61: edge_sets["e"].source: found "x"`},
		{"absent", "", "no such file"},
	} {
		m, file, _, err := ReadSchema(vfs.OS, filepath.Join(dir, c.path))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: found error %v, expected %q", c.path, err, c.err)
			}
			continue
		}
		if err != nil || file != filepath.Join(dir, c.file) || m.EdgeSets["e"].GetSource() != "n" {
			t.Errorf("%s: found %s, %v", c.path, file, err)
		}
	}
	// Any call to the file system may fail.
	count := &vfs.Fault{FS: vfs.OS}
	if _, _, _, err := ReadSchema(count, filepath.Join(dir, "one")); err != nil {
		t.Fatal(err)
	}
	for i := int64(1); i <= count.Calls(); i++ {
		broken := errors.New("broken")
		if _, _, _, err := ReadSchema(&vfs.Fault{FS: vfs.OS, FailAt: i, Err: broken}, filepath.Join(dir, "one")); !errors.Is(err, broken) {
			t.Errorf("call %d fails: found error %v", i, err)
		}
	}
}

func TestTables(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "schema/a.csv", "schema/s-00000-of-00002", "schema/s-00001-of-00002", "schema/p-00000-of-00002",
		"schema/q-00000-of-00001", "schema/q-00001-of-00002", "schema/q-00000-of-00002", "schema/deep/x/1.csv", "schema/deep/y/1.csv", "schema/deep/y/2.csv",
		"schema/odd[1].csv", "outside.csv")
	schema := filepath.Join(dir, "schema")
	for _, c := range []struct {
		name  string
		files string
		err   string
	}{
		{"a.csv", "a.csv", ""},
		{"./a.csv", "a.csv", ""},
		{"odd[1].csv", "odd[1].csv", ""},
		{"s@2", "s-00000-of-00002 s-00001-of-00002", ""},
		{"s-?????-of-00002", "s-00000-of-00002 s-00001-of-00002", ""},
		{"s-?????-of-?????", "s-00000-of-00002 s-00001-of-00002", ""},
		{"s-*", "s-00000-of-00002 s-00001-of-00002", ""},
		{"q@1", "q-00000-of-00001", ""},
		{"q@2", "q-00000-of-00002 q-00001-of-00002", ""},
		{"deep/*/1.csv", "deep/x/1.csv deep/y/1.csv", ""},
		{"deep/[y]/?.csv", "deep/y/1.csv deep/y/2.csv", ""},
		{"s@3", "", "s-00000-of-00003: found 0 of 3 shards, expected all"},
		{"p@2", "", "p-00001-of-00002: found 1 of 2 shards, expected all"},
		{"p-?????-of-?????", "", "p-00001-of-00002: found 1 of 2"},
		{"q-?????-of-?????", "", "expected one set; name it as q@"},
		{"z-?????-of-?????", "", "found no shards"},
		{"s@0", "", "found 0 shards, expected 1 to 99999"},
		{"s@99999999999999999999", "", "shards, expected 1 to 99999"},
		{"", "", "found an empty file name"},
		{"b.csv", "", "found no such file"},
		{"*.npy", "", "found no file that matches"},
		{"[a.csv", "", "found a malformed pattern"},
		{"../outside.csv", "", "found a file name with .."},
		{"deep/../../outside.csv", "", "found a file name with .."},
		{"../*.csv", "", "found a file name with .."},
		{filepath.Join(dir, "outside.csv"), "", "found an absolute file name"},
		{"deep", "", "found a folder, expected a file"},
		{"s", "", "found no such file, but 2 shards of it; add @2 to the name"},
		{"deep/z.csv", "", "found no such file, expected one"},
	} {
		files, err := Tables(vfs.OS, schema, c.name, false)
		for i, f := range files {
			files[i], _ = filepath.Rel(schema, f)
		}
		if got := strings.Join(files, " "); got != c.files {
			t.Errorf("%s: found %q, expected %q", c.name, got, c.files)
		}
		if (err == nil) != (c.err == "") || err != nil && (!errors.Is(err, ErrTable) || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: found error %v, expected %q", c.name, err, c.err)
		}
	}
	want := filepath.Join(dir, "outside.csv")
	if files, err := Tables(vfs.OS, schema, want, true); err != nil || !slices.Equal(files, []string{want}) {
		t.Errorf("absolute: found %v, %v", files, err)
	}
	if files, err := Tables(vfs.OS, schema, filepath.Join(dir, "schema/s@2"), true); err != nil || len(files) != 2 {
		t.Errorf("absolute shards: found %v, %v", files, err)
	}
}

// The binary schema of a folder is found if there is no schema in text.
func TestBinarySchemaInFolder(t *testing.T) {
	m, err := tfgnn.ParseSchema("s", []byte(base))
	if err != nil {
		t.Fatal(err)
	}
	m.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 7))
	b, err := tfgnn.AppendBinary(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "s/schema.pb="+string(b), "s/readme.txt=")
	f, err := OpenSchema(vfs.OS, filepath.Join(dir, "s"))
	if err != nil || !f.Binary || f.Err() != nil || len(f.Warnings) != 1 || filepath.Base(f.Name) != "schema.pb" {
		t.Errorf("found %+v, %v", f, err)
	}
}

// The faults of a spec have the places of its file.
func TestOpenSpec(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "spec.pbtxt=seed_op {\n  op_name: 's'\n  node_set_name: 'm'\n}\n", "bad.pbtxt=seed_op {")
	schema, err := tfgnn.ParseSchema("s", []byte(base))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "spec.pbtxt")
	f, err := OpenSpec(vfs.OS, file, schema)
	if err != nil || len(f.Faults) != 1 || !strings.HasPrefix(f.Faults[0].Error(), file+`:3:3: seed_op.node_set_name: found "m", expected`) {
		t.Errorf("found %+v, %v", f, err)
	}
	if spec, err := ReadSpec(vfs.OS, file); err != nil || spec.GetSeedOp().GetOpName() != "s" {
		t.Errorf("found %v, %v", spec, err)
	}
	if _, err := OpenSpec(vfs.OS, filepath.Join(dir, "bad.pbtxt"), schema); !errors.Is(err, tfgnn.ErrSyntax) {
		t.Errorf("found %v, expected a syntax error", err)
	}
}

// Tables that are missing, and sets without a file name, are faults at the line of the set.
func TestOpenTables(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "n.csv", "s.pbtxt=context { metadata { filename: 'none.csv' } }\n"+
		"node_sets { key: 'n' value { metadata { filename: 'n.csv' } } }\nnode_sets { key: '_aux' }\n"+
		"edge_sets { key: 'e' value { source: 'n' target: 'n' } }")
	f, err := OpenSchema(vfs.OS, filepath.Join(dir, "s.pbtxt"))
	if err != nil {
		t.Fatal(err)
	}
	tables := OpenTables(vfs.OS, f, "", false)
	if len(tables) != 1 || tables[0].Set != "n" || !slices.Equal(tables[0].Files, []string{filepath.Join(dir, "n.csv")}) {
		t.Errorf("found %v", tables)
	}
	var faults []string
	for _, f := range f.Faults {
		faults = append(faults, strings.TrimPrefix(f.Error(), dir+"/"))
	}
	want := []string{"s.pbtxt:1:22: context.metadata.filename: " + dir + "/none.csv: found no such file, expected one",
		`s.pbtxt:4:1: edge_sets["e"].metadata.filename: found no filename, expected the table of the set`}
	if !slices.Equal(faults, want) {
		t.Errorf("found %q, expected %q", faults, want)
	}
}

// No relative name leads out of the folder.
func FuzzTables(f *testing.F) {
	dir := f.TempDir()
	write(f, dir, "in/a.csv", "in/b/c.csv", "in/s-00000-of-00001", "out.csv")
	for _, s := range []string{"a.csv", "../out.csv", "*/c.csv", "s@1", "b/../../out.csv", "..@1", "./.*/out.csv", "/etc/passwd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		fuzzing.Check(t, len(name), func() {
			files, err := Tables(vfs.OS, filepath.Join(dir, "in"), name, false)
			if err != nil {
				return
			}
			for _, file := range files {
				if rel, err := filepath.Rel(filepath.Join(dir, "in"), file); err != nil || !filepath.IsLocal(rel) {
					t.Fatalf("%q leads to %q", name, file)
				}
			}
		})
	})
}
