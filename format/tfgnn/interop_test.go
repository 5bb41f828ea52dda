//go:build interop

package tfgnn

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/internal/fsx"
)

func shared(t *testing.T, pattern string) []string {
	t.Helper()
	dir := os.Getenv("GRAPHMILL_SHARED")
	if dir == "" {
		t.Fatal("GRAPHMILL_SHARED is not set; set it to the folder that holds data/")
	}
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: found %d files, %v", pattern, len(files), err)
	}
	return files
}

// octal is how Python's text_format writes bytes above 127 unless it is told to
// leave UTF-8 as it is.
var octal = regexp.MustCompile(`\\[23][0-7]{2}`)

// The schemas that TF-GNN wrote are written back to the byte, and are valid.
func TestGoldenSchemas(t *testing.T) {
	for _, file := range shared(t, "data/golden/tfgnn/encoding/*/schema.pbtxt") {
		schema, _, _, err := ReadSchema(fsx.OS, file)
		if err != nil {
			t.Error(err)
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want = octal.ReplaceAllFunc(want, func(b []byte) []byte {
			return []byte{(b[1]-'0')<<6 | (b[2]-'0')<<3 | (b[3] - '0')}
		})
		if got := AppendText(nil, schema); string(got) != string(want) {
			t.Errorf("%s: found\n%s", file, got)
		}
	}
}

// TF-GNN's own schemas and specs are read, checked, and their tables found.
func TestRealFiles(t *testing.T) {
	for _, file := range append(shared(t, "data/tfgnn/*/*/*.pbtxt"), shared(t, "data/golden/tfgnn/sampler/*/*.pbtxt")...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseSpec(file, text); err == nil {
			continue
		}
		schema, _, warnings, err := ReadSchema(fsx.OS, file)
		if err != nil {
			t.Error(err)
			continue
		}
		t.Log(file, warnings)
		again, err := ParseSchema(file, AppendText(nil, schema))
		if err != nil || !proto.Equal(schema, again) {
			t.Errorf("%s: not written back the same: %v", file, err)
		}
	}
	dir := filepath.Dir(shared(t, "data/golden/tfgnn/sampler/vectors_vecA/schema.pbtxt")[0])
	if files, err := Tables(fsx.OS, dir, "nodes.tfrecord@2", false); err != nil || len(files) != 2 {
		t.Errorf("found %v, %v", files, err)
	}
}
