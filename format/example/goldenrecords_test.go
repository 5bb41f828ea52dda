package example

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/golden"
)

// Every Example that the real TF-GNN wrote is read as protobuf reads it, and written as protobuf writes it.
func TestGoldenExamples(t *testing.T) {
	var files []string
	for _, pattern := range []string{"encoding/*/*.tfrecord", "sampler/*/*.tfrecord*"} {
		found, err := filepath.Glob(golden.Dir(t, "tfgnn", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: found %d files, %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	var (
		d     Decoder
		w     Writer
		total int
	)
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		r, err := tfrecord.Open(f, file, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		for {
			record, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			want, err := unmarshal(record)
			if err != nil {
				t.Fatal(err)
			}
			got, err := decode(&d, record)
			if err != nil || !maps.EqualFunc(got, want, value.equal) {
				t.Errorf("%s: record %d: found %v, %v, expected %v", file, total, got, err, want)
			}
			// Some verdicts have features without a list, which the Writer never writes.
			maps.DeleteFunc(want, func(_ string, v value) bool { return v.kind == None })
			if len(want) > 0 && !bytes.Equal(encode(&w, want), marshal(t, want)) {
				t.Errorf("%s: record %d is not written as protobuf writes it", file, total)
			}
			total++
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d Examples in %d files", total, len(files))
}
