package tablefiles

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestBound reads a row of 3 MiB with 32 MiB of memory, of which a row may take a share, and without a bound.
func TestBound(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	zipped := func(b []byte) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write(b)
		_ = z.Close()
		return out.Bytes()
	}
	csv := []byte("a,b\n1,x\n2," + long + "\n3,y\n")
	lines := []byte("p\tr\tq\np\tr\t" + long + "\n")
	record := tfrecord.AppendFrame(nil, []byte("\n\x00"))
	record = tfrecord.AppendFrame(record, append([]byte("\x9a\x06\x80\x80\x80\x02"), make([]byte, 4<<20)...)) // an unknown field
	for name, b := range map[string][]byte{"t.csv": csv, "t.csv.gz": zipped(csv), "t.jsonl": []byte("{\"b\": \"x\"}\n{\"b\": \"" + long + "\"}\n"),
		"t.triples": lines, "t.tfrecord": record, "z.tfrecord": zipped(record)} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		var tab table.Table
		var err error
		columns := []table.Column{{Name: "b", DType: graph.String}}
		if strings.HasSuffix(name, "triples") {
			tab, err = textfiles.OpenTriples(vfs.OS, []string{path}, nil)
			columns[0].Name = textfiles.TripleTail
		} else if tab, err = Open(vfs.OS, []string{path}, Options{}); strings.HasSuffix(name, "tfrecord") {
			columns = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		rows := func(*int) func(int, *table.Chunk) error { return func(int, *table.Chunk) error { return nil } }
		if _, err := tab.Scan(t.Context(), columns, 2, rows(nil)); err != nil {
			t.Errorf("%s without a bound: %v", name, err)
		}
		if _, err := tab.Scan(table.Bound(t.Context(), 0, 2), columns, 2, rows(nil)); err != nil {
			t.Errorf("%s with no memory: %v", name, err)
		}
		_, err = tab.Scan(table.Bound(t.Context(), 32<<20, 2), columns, 2, rows(nil))
		if !errors.Is(err, table.ErrFormat) || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%s with a bound: found %v", name, err)
		}
	}
}

// TestWindow reads a frame of zstd that asks for 128 MiB in a small file.
func TestWindow(t *testing.T) {
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithWindowSize(128<<20))
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		_, _ = z.Write(bytes.Repeat([]byte("1,2\n"), 1<<18))
	}
	_ = z.Close()
	path := filepath.Join(t.TempDir(), "t.csv.zst")
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = textfiles.OpenCSV(vfs.OS, []string{path}, textfiles.CSVOptions{Numbered: true})
	if !errors.Is(err, table.ErrFormat) || !strings.Contains(err.Error(), "window") {
		t.Errorf("found %v, expected an error about the window", err)
	}
}
