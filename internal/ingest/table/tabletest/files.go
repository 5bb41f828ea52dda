package tabletest

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/graphmill/graphmill/format/npy"
)

// WriteText writes text, compressed as the extension of the name says.
func WriteText(t testing.TB, dir, name, text string) string {
	t.Helper()
	var buf bytes.Buffer
	var w io.WriteCloser
	switch filepath.Ext(name) {
	case ".gz":
		w = gzip.NewWriter(&buf)
	case ".zst":
		w, _ = zstd.NewWriter(&buf)
	}
	if w == nil {
		buf.WriteString(text)
	} else {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// WriteNpy writes values of any numeric Go type as an array.
func WriteNpy(t testing.TB, dir, name, descr string, shape []int, values any) string {
	t.Helper()
	b, err := npy.AppendHeader(nil, descr, shape)
	if err == nil {
		b, err = binary.Append(b, binary.LittleEndian, values)
	}
	path := filepath.Join(dir, name)
	if err == nil {
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
