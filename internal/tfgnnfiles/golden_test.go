package tfgnnfiles

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/vfs"
)

func matches(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
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
	for _, file := range matches(t, golden.Dir(t, "tfgnn/encoding/*/schema.pbtxt")) {
		schema, _, _, err := ReadSchema(vfs.OS, file)
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
		if got := tfgnn.AppendText(nil, schema); string(got) != string(want) {
			t.Errorf("%s: found\n%s", file, got)
		}
	}
}

// The schemas and specs of the sampler's golden files are read, checked, and their tables found.
func TestGoldenSpecs(t *testing.T) {
	testRealFiles(t, matches(t, golden.Dir(t, "tfgnn/sampler/*/*.pbtxt")))
	dir := golden.Dir(t, "tfgnn/sampler/vectors_vecA")
	if files, err := Tables(vfs.OS, dir, "nodes.tfrecord@2", false); err != nil || len(files) != 2 {
		t.Errorf("found %v, %v", files, err)
	}
}

// testRealFiles reads specs, and reads and checks schemas and writes them back.
func testRealFiles(t *testing.T, files []string) {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tfgnn.ParseSpec(file, text); err == nil {
			continue
		}
		schema, _, warnings, err := ReadSchema(vfs.OS, file)
		if err != nil {
			t.Error(err)
			continue
		}
		t.Log(file, warnings)
		again, err := tfgnn.ParseSchema(file, tfgnn.AppendText(nil, schema))
		if err != nil || !proto.Equal(schema, again) {
			t.Errorf("%s: not written back the same: %v", file, err)
		}
	}
}
