package iceberg

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// maxBlock bounds the bytes of an unpacked block of a file in Avro. Writers begin a new one after 64 kB, or with each record.
const maxBlock = 32 << 20

// eachRecord calls fn for the records of a file in Avro. head, if not nil, is called before them.
func eachRecord[T any](fsys vfs.FS, path string, head func(*avro.SchemaNode, map[string][]byte) error, fn func(*T) error) (err error) {
	info, err := vfs.Regular(fsys, path)
	if err != nil {
		return err
	}
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := decodeRecords(f, info.Size(), head, fn); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readFailure is a failure to read a file, and no damage of its bytes.
type readFailure struct{ err error }

func (e *readFailure) Error() string { return e.err.Error() }
func (e *readFailure) Unwrap() error { return e.err }

// failureReader marks failures to read.
type failureReader struct{ r io.Reader }

func (f failureReader) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &readFailure{err}
	}
	return n, err
}

// decodeRecords is eachRecord of size bytes.
func decodeRecords[T any](f io.ReaderAt, size int64, head func(*avro.SchemaNode, map[string][]byte) error, fn func(*T) error) (err error) {
	damaged := func(err error) error {
		if failed := (*readFailure)(nil); errors.As(err, &failed) {
			return failed.err
		}
		return lake.Badf("found what is no whole file of Avro, expected the manifests or files of a snapshot; copy the file again: %w", err)
	}
	r := failureReader{io.NewSectionReader(f, 0, size)}
	if err := checkHeader(bufio.NewReader(r), size); err != nil {
		return damaged(err)
	}
	r = failureReader{io.NewSectionReader(f, 0, size)}
	// Names of partitions can be any text in files of old writers.
	x, err := ocf.NewReader(r, ocf.WithMaxBlockBytes(max(size, 1)), ocf.WithMaxDecompressedBlockBytes(maxBlock),
		ocf.WithSchemaOpts(avro.WithLaxNames(nil)), ocf.WithDecodeOpts(avro.SkipUnknown()))
	if err != nil {
		return damaged(err)
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if head != nil {
		if err := head(x.Schema().Root(), x.Metadata()); err != nil {
			return err
		}
	}
	for n := 0; ; n++ {
		var record T
		err := x.Decode(&record)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return damaged(fmt.Errorf("record %d: %w", n, err))
		}
		if err := fn(&record); err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
	}
}

// checkHeader refuses a header whose texts are longer than the file. The library allocates them by their lengths alone.
func checkHeader(r *bufio.Reader, size int64) error {
	if _, err := r.Discard(4); err != nil {
		return err
	}
	for {
		n, err := binary.ReadVarint(r)
		if err == nil && n < 0 {
			n = -n
			_, err = binary.ReadVarint(r) // bytes of the block
		}
		if err != nil || n == 0 {
			return err
		}
		for range min(n, size) {
			for range 2 { // the key and the value
				length, err := binary.ReadVarint(r)
				if err != nil {
					return err
				}
				if length < 0 || length > size {
					return fmt.Errorf("found a text of %d bytes in a header, expected at most the %d of the file", length, size)
				}
				if _, err := r.Discard(int(length)); err != nil {
					return err
				}
			}
		}
	}
}

// partitionShape finds the record of a partition in the schema of a manifest: the names, field ids and logical types of its fields.
func partitionShape(root *avro.SchemaNode) ([]shapeField, error) {
	at := root
	for _, name := range []string{"data_file", "partition"} {
		next := fieldNode(at, name)
		if next == nil {
			return nil, lake.Badf("found no field %s in the schema, expected the entries of a manifest; copy the file again", name)
		}
		at = next
	}
	var fields []shapeField
	for i := range at.Fields {
		f := &at.Fields[i]
		id := 0
		switch v := f.Props["field-id"].(type) {
		case int64:
			id = int(v)
		case json.Number:
			return nil, lake.Badf("found the field id %s, expected one of 32 bits; the file is damaged", v)
		}
		fields = append(fields, shapeField{f.Name, id, valueNode(&f.Type).LogicalType})
	}
	return fields, nil
}

// shapeField is a field of a partition in a manifest.
type shapeField struct {
	name    string
	id      int // 0: none
	logical string
}

// fieldNode is the type of a field of a record; nil: there is none.
func fieldNode(n *avro.SchemaNode, name string) *avro.SchemaNode {
	for i := range n.Fields {
		if n.Fields[i].Name == name {
			return valueNode(&n.Fields[i].Type)
		}
	}
	return nil
}

// valueNode is the type beside null.
func valueNode(n *avro.SchemaNode) *avro.SchemaNode {
	for i := range n.Branches {
		if n.Branches[i].Type != "null" {
			return &n.Branches[i]
		}
	}
	return n
}
