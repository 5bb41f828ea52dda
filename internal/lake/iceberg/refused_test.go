package iceberg

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// fields are keys of JSON that a test changes; nil removes one.
type fields map[string]any

// plainTable is the metadata of a table with one snapshot of one manifest.
func plainTable(change fields) []byte {
	m := fields{
		"format-version": 2, "table-uuid": "u", "location": "s3a://bucket/old/table", "current-schema-id": 0,
		"schemas":             []any{fields{"schema-id": 0, "fields": []any{fields{"id": 1, "name": "src", "type": "long", "required": false}}}},
		"partition-specs":     []any{fields{"spec-id": 0, "fields": []any{}}},
		"current-snapshot-id": 7,
		"snapshots":           []any{fields{"snapshot-id": 7, "timestamp-ms": 1000, "manifest-list": "s3://bucket/old/table/metadata/list.avro", "schema-id": 0, "summary": fields{"operation": "append"}}},
		"snapshot-log":        []any{fields{"snapshot-id": 7, "timestamp-ms": 1000}},
	}
	for k, v := range change {
		if m[k] = v; v == nil {
			delete(m, k)
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

const (
	listSchema = `{"type":"record","name":"manifest_file","fields":[{"name":"manifest_path","type":"string"},{"name":"partition_spec_id","type":"int"},
		{"name":"content","type":"int"},{"name":"sequence_number","type":"long"},{"name":"added_snapshot_id","type":"long"},{"name":"key_metadata","type":["null","bytes"]}]}`
	entrySchema = `{"type":"record","name":"manifest_entry","fields":[{"name":"status","type":"int"},{"name":"snapshot_id","type":["null","long"]},{"name":"sequence_number","type":["null","long"]},
		{"name":"data_file","type":{"type":"record","name":"r2","fields":[{"name":"content","type":"int"},{"name":"file_path","type":"string"},{"name":"file_format","type":"string"},
		{"name":"partition","type":{"type":"record","name":"r102","fields":[]}},{"name":"record_count","type":"long"},{"name":"equality_ids","type":["null",{"type":"array","items":"int"}]},
		{"name":"key_metadata","type":["null","bytes"]},{"name":"referenced_data_file","type":["null","string"]},{"name":"content_offset","type":["null","long"]},{"name":"content_size_in_bytes","type":["null","long"]}]}}]}`
)

// records is a file in Avro.
func records(t *testing.T, schema string, codec ocf.Codec, rows ...fields) []byte {
	t.Helper()
	var b bytes.Buffer
	var opts []ocf.WriterOpt
	if codec != nil {
		opts = append(opts, ocf.WithCodec(codec))
	}
	w, err := ocf.NewWriter(&b, avro.MustParse(schema), opts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Encode(map[string]any(r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func manifestRow(change fields) fields {
	m := fields{"manifest_path": "s3://bucket/old/table/metadata/m.avro", "partition_spec_id": 0, "content": 0, "sequence_number": 1, "added_snapshot_id": 7, "key_metadata": nil}
	for k, v := range change {
		m[k] = v
	}
	return m
}

func fileRow(change fields) fields {
	f := map[string]any{"content": 0, "file_path": "s3://bucket/old/table/data/a.parquet", "file_format": "PARQUET", "partition": map[string]any{}, "record_count": 1,
		"equality_ids": nil, "key_metadata": nil, "referenced_data_file": nil, "content_offset": nil, "content_size_in_bytes": nil}
	e := fields{"status": 1, "snapshot_id": nil, "sequence_number": nil, "data_file": f}
	for k, v := range change {
		if _, ok := f[k]; ok {
			f[k] = v
		} else {
			e[k] = v
		}
	}
	return e
}

// writeTable writes files of metadata, and returns the folder of the table.
func writeTable(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		path := filepath.Join(dir, Metadata, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRefused has what is not a table that can be read, and says so in one line.
func TestRefused(t *testing.T) {
	column := func(kind any, more fields) []any {
		f := fields{"id": 1, "name": "c", "type": kind}
		for k, v := range more {
			f[k] = v
		}
		return []any{fields{"schema-id": 0, "fields": []any{f}}}
	}
	snapshot := func(change fields) []any {
		s := fields{"snapshot-id": 7, "manifest-list": "s3://bucket/old/table/metadata/list.avro"}
		for k, v := range change {
			s[k] = v
		}
		return []any{s}
	}
	for name, c := range map[string]struct {
		table, manifest, file fields
		ref                   lake.Ref
		want                  string
	}{
		"version 4":            {table: fields{"format-version": 4}, want: "found format-version 4, expected 1, 2 or 3"},
		"no version":           {table: fields{"format-version": nil}, want: "found format-version 0"},
		"encrypted table":      {table: fields{"encryption-keys": []any{fields{}}}, want: "found an encrypted table"},
		"encrypted snapshot":   {table: fields{"snapshots": snapshot(fields{"key-id": "k"})}, want: "found an encrypted table"},
		"encrypted manifest":   {manifest: fields{"key_metadata": []byte("k")}, want: "found an encrypted table"},
		"encrypted file":       {file: fields{"key_metadata": []byte("k")}, want: "found an encrypted table"},
		"no schema":            {table: fields{"current-schema-id": 3}, want: "found no schema 3"},
		"type":                 {table: fields{"schemas": column(fields{"type": 3}, nil)}, want: "expected one of Iceberg"},
		"decimal":              {table: fields{"schemas": column("decimal(x)", nil)}, want: `found the type "decimal(x)"`},
		"field id":             {table: fields{"schemas": column("int", fields{"id": 0})}, want: "found the field id 0"},
		"default":              {table: fields{"schemas": column("int", fields{"initial-default": "x"})}, want: `found the default "x", expected a number`},
		"default of bytes":     {table: fields{"schemas": column("binary", fields{"initial-default": "x"})}, want: `expected bytes as hexadecimal digits`},
		"mapping":              {table: fields{"properties": fields{"schema.name-mapping.default": "x"}}, want: "found a schema.name-mapping.default that is none"},
		"no snapshot":          {table: fields{"current-snapshot-id": 8}, want: "found no snapshot 8, expected one of 7 (1970-01-01T00:00:01.000Z)"},
		"other snapshot":       {ref: lake.Ref{HasVersion: true, Version: 5}, want: "found no snapshot 5"},
		"early time":           {ref: lake.Ref{Time: time.UnixMilli(999)}, want: "expected a time from 1970-01-01T00:00:01.000Z on"},
		"no branch":            {ref: lake.Ref{Name: "audit"}, want: `found no branch or tag "audit"`},
		"list outside":         {table: fields{"snapshots": snapshot(fields{"manifest-list": "/etc/passwd"})}, want: "allow it with `AllowOutside`"},
		"list above":           {table: fields{"snapshots": snapshot(fields{"manifest-list": "s3://bucket/old/table/../../x"})}, want: "expected one in the folder of the table"},
		"manifest outside":     {manifest: fields{"manifest_path": "s3://other/m.avro"}, want: "allow it with `AllowOutside`"},
		"no path of manifest":  {manifest: fields{"manifest_path": ""}, want: "found a manifest without a path"},
		"content of manifest":  {manifest: fields{"content": 2}, want: "found a manifest with content 2"},
		"spec":                 {manifest: fields{"partition_spec_id": 9}, want: "found no partition spec 9"},
		"file outside":         {file: fields{"file_path": "file:/etc/passwd"}, want: "allow it with `AllowOutside`"},
		"ORC":                  {file: fields{"file_format": "orc"}, want: "in the format ORC, expected PARQUET; rewrite the table"},
		"content of file":      {file: fields{"content": 1}, want: "with content 1 in a manifest with content 0"},
		"kind of deletion":     {manifest: fields{"content": 1}, file: fields{"content": 3}, want: "with content 3"},
		"status":               {file: fields{"status": 4}, want: "found a file of status 4"},
		"no sequence":          {file: fields{"status": 0}, want: "without a sequence number"},
		"vector without place": {manifest: fields{"content": 1}, file: fields{"content": 1, "file_format": "puffin"}, want: "without its data file, offset and size"},
		"no keys":              {manifest: fields{"content": 1}, file: fields{"content": 2}, want: "without equality_ids"},
		"nested keys":          {manifest: fields{"content": 1}, file: fields{"content": 2, "equality_ids": []int{5}}, want: "found deletions by the field 5 within a column"},
		"keys of long decimals": {table: fields{"schemas": column("decimal(20, 2)", nil)}, manifest: fields{"content": 1}, file: fields{"content": 2, "equality_ids": []int{1}},
			want: "decimals of 20 digits, expected at most 15"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeTable(t, map[string][]byte{
				"v1.metadata.json": plainTable(c.table), "list.avro": records(t, listSchema, nil, manifestRow(c.manifest)), "m.avro": records(t, entrySchema, nil, fileRow(c.file)),
			})
			_, err := Open(vfs.OS, dir, c.ref, "", false)
			if !errors.Is(err, lake.ErrFormat) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("found %v, expected an error of kind ErrFormat with %q and the path", err, c.want)
			}
		})
	}
}

// TestCodecs reads lists and manifests of all codecs. A table in another place than it says has its files in its folder.
func TestCodecs(t *testing.T) {
	zstd, err := ocf.ZstdCodec(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, codec := range map[string]ocf.Codec{"null": nil, "deflate": ocf.DeflateCodec(6), "snappy": ocf.SnappyCodec(), "zstd": zstd} {
		dir := writeTable(t, map[string][]byte{
			"v1.metadata.json": plainTable(nil), "list.avro": records(t, listSchema, codec, manifestRow(nil)), "m.avro": records(t, entrySchema, codec, fileRow(nil), fileRow(fields{"status": 2})),
		})
		s, err := Open(vfs.OS, dir, lake.Ref{}, "", false)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := []string{filepath.Join(dir, "data/a.parquet")}
		if got := paths(s); !cmp.Equal(got, want) || s.Version != 7 || s.Mark() != "u@7" {
			t.Errorf("%s: found version %d with %q, expected 7 with %q", name, s.Version, got, want)
		}
	}
}

func paths(s *lake.Snapshot) (list []string) {
	for _, f := range s.Files {
		list = append(list, f.Path)
	}
	return list
}

// TestNewest finds the newest file of metadata by its name. The snapshot of a file has its number.
func TestNewest(t *testing.T) {
	packed := func(b []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	numbered := func(n int) []byte {
		return plainTable(fields{"current-snapshot-id": nil, "snapshots": []any{}, "table-uuid": fmt.Sprint("t", n)})
	}
	for name, c := range map[string]struct {
		files map[string][]byte
		id    string
		want  string
	}{
		"by number":         {files: map[string][]byte{"v2.metadata.json": numbered(2), "v10.metadata.json": numbered(10)}, id: "t10"},
		"of a catalog":      {files: map[string][]byte{"00009-b.metadata.json": numbered(9), "00010-a.metadata.json": numbered(10)}, id: "t10"},
		"packed":            {files: map[string][]byte{"v1.metadata.json": numbered(1), "v2.gz.metadata.json": packed(numbered(2))}, id: "t2"},
		"packed by others":  {files: map[string][]byte{"00001-a.metadata.json": numbered(1), "00002-b.metadata.json.gz": packed(numbered(2))}, id: "t2"},
		"hint":              {files: map[string][]byte{"version-hint.text": []byte("1\n"), "v1.metadata.json": numbered(1), "v3.metadata.json": numbered(3)}, id: "t1"},
		"hint and newer":    {files: map[string][]byte{"version-hint.text": []byte("1"), "v1.metadata.json": numbered(1), "v2.gz.metadata.json": packed(numbered(2))}, id: "t2"},
		"hint of a name":    {files: map[string][]byte{"version-hint.text": []byte("00001-a"), "00001-a.metadata.json": numbered(1), "00002-b.metadata.json": numbered(2)}, id: "t1"},
		"hint of a file":    {files: map[string][]byte{"version-hint.text": []byte("00001-a.metadata.json"), "00001-a.metadata.json": numbered(1), "00002-b.metadata.json": numbered(2)}, id: "t1"},
		"two of one number": {files: map[string][]byte{"00001-a.metadata.json": numbered(1), "00001-b.metadata.json": numbered(1)}, want: "of which one may be of a commit that failed"},
		"no such hint":      {files: map[string][]byte{"version-hint.text": []byte("4"), "v1.metadata.json": numbered(1)}, want: "v4.metadata.json: found no such file"},
		"bad hint":          {files: map[string][]byte{"version-hint.text": []byte("../x"), "v1.metadata.json": numbered(1)}, want: `found "../x", expected the number of a version`},
		"none":              {files: map[string][]byte{"x.json": nil}, want: "found no file of metadata"},
		"no JSON":           {files: map[string][]byte{"v1.metadata.json": []byte("{")}, want: "found what is no metadata of Iceberg"},
		"no gzip":           {files: map[string][]byte{"v1.metadata.json": {0x1f, 0x8b, 8, 0}}, want: "found bytes that gzip does not unpack"},
		"bomb":              {files: map[string][]byte{"v1.metadata.json": packed(make([]byte, 1<<24))}, want: "of JSON, expected fewer"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(vfs.OS, writeTable(t, c.files), lake.Ref{}, "", false)
			switch {
			case c.want != "" && (!errors.Is(err, lake.ErrFormat) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("found %v, expected an error of kind ErrFormat with %q", err, c.want)
			case c.want == "" && (err != nil || s.ID != c.id):
				t.Errorf("found %v, %v, expected the table %s", s, err, c.id)
			}
		})
	}
}

// TestAdded takes the rows that were added after a mark.
func TestAdded(t *testing.T) {
	dir := "testdata/branches"
	all, err := Open(vfs.OS, dir, lake.Ref{}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	first, err := Open(vfs.OS, dir, lake.Ref{Name: "first"}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	audit, err := Open(vfs.OS, dir, lake.Ref{Name: "audit"}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	added, err := Open(vfs.OS, dir, lake.Ref{}, first.Mark(), false)
	if err != nil || len(added.Files) == 0 || len(added.Files)+len(first.Files) != len(all.Files) || added.Mark() != all.Mark() {
		t.Errorf("found %q after %q, %v, expected the others of %q", paths(added), paths(first), err, paths(all))
	}
	for _, p := range paths(added) {
		if strings.Contains(strings.Join(paths(first), " "), p) {
			t.Errorf("found %s, which was taken before", p)
		}
	}
	if none, err := Open(vfs.OS, dir, lake.Ref{}, all.Mark(), false); err != nil || len(none.Files) != 0 {
		t.Errorf("found %v, %v after the last mark, expected none", none, err)
	}
	if _, err := Open(vfs.OS, dir, lake.Ref{}, audit.Mark(), false); err == nil || !strings.Contains(err.Error(), "take the whole table anew") {
		t.Errorf("found %v after the mark of a branch, expected an error", err)
	}
	if other, err := Open(vfs.OS, dir, lake.Ref{}, "other@5", false); err != nil || len(other.Files) != len(all.Files) {
		t.Errorf("found %v, %v after the mark of another table, expected all files", other, err)
	}
	if _, err := Open(vfs.OS, "testdata/pyiceberg2", lake.Ref{}, markOf(t, "testdata/pyiceberg2"), false); err == nil || !strings.Contains(err.Error(), "deleted or changed rows") {
		t.Errorf("found %v after a snapshot whose rows were changed, expected an error", err)
	}
}

// markOf is the mark of the first snapshot of a table.
func markOf(t *testing.T, dir string) string {
	t.Helper()
	m, err := readMetadata(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s@%d", m.id(), m.Snapshots[0].ID)
}
