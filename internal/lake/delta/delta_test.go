package delta

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

const (
	protocol = `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`
	metadata = `{"metaData":{"id":"x","format":{"provider":"parquet"},"schemaString":"{\"type\":\"struct\",\"fields\":[` +
		`{\"name\":\"src\",\"type\":\"long\",\"metadata\":{}},{\"name\":\"day\",\"type\":\"string\",\"metadata\":{}}]}","partitionColumns":["day"],"configuration":{}}}`
	add = `{"add":{"path":"a%20b.parquet","partitionValues":{"day":"1"},"size":1,"modificationTime":1,"dataChange":true}}`
)

// writeLog writes files of a log, and returns the folder of the table.
func writeLog(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, Log, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func commit(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// TestRefused has what is not a log that can be read, and says so in one line.
func TestRefused(t *testing.T) {
	first := "00000000000000000000.json"
	for name, c := range map[string]struct {
		files map[string]string
		ref   lake.Ref
		want  string
	}{
		"no commit":       {map[string]string{"_last_checkpoint": `{"version":3}`}, lake.Ref{}, "found no commit, expected 00000000000000000000.json"},
		"no JSON":         {map[string]string{first: commit(protocol, "{")}, lake.Ref{}, ".json:2: found a line that is no action"},
		"no schema":       {map[string]string{first: commit(protocol)}, lake.Ref{}, "found no schema and protocol up to version 0"},
		"gap":             {map[string]string{first: commit(protocol, metadata), "00000000000000000002.json": commit(add)}, lake.Ref{}, "00000000000000000001.json: found no such file, expected all commits up to version 2"},
		"old version":     {map[string]string{"00000000000000000004.json": commit(add)}, lake.Ref{}, "found no checkpoint at or before version 4"},
		"no such version": {map[string]string{first: commit(protocol, metadata)}, lake.Ref{Version: 1, HasVersion: true}, "found versions up to 0, expected version 1"},
		"early time":      {map[string]string{first: commit(protocol, metadata)}, lake.Ref{Time: time.UnixMilli(1)}, "found no version at that time"},
		"reader version":  {map[string]string{first: commit(`{"protocol":{"minReaderVersion":4}}`, metadata)}, lake.Ref{}, "needs reader version 4"},
		"feature":         {map[string]string{first: commit(`{"protocol":{"minReaderVersion":3,"readerFeatures":["columnMapping","catalogManaged"]}}`, metadata)}, lake.Ref{}, `needs the reader feature "catalogManaged"`},
		"format":          {map[string]string{first: commit(protocol, strings.Replace(metadata, `"parquet"`, `"orc"`, 1))}, lake.Ref{}, `files of the format "orc"`},
		"mapping":         {map[string]string{first: commit(protocol, strings.Replace(metadata, `"configuration":{}`, `"configuration":{"delta.columnMapping.mode":"name"}`, 1))}, lake.Ref{}, "found no physical name"},
		"mapping mode":    {map[string]string{first: commit(protocol, strings.Replace(metadata, `"configuration":{}`, `"configuration":{"delta.columnMapping.mode":"new"}`, 1))}, lake.Ref{}, `found the mode "new"`},
		"partition":       {map[string]string{first: commit(protocol, strings.Replace(metadata, `["day"]`, `["week"]`, 1))}, lake.Ref{}, `found the partition column "week"`},
		"value":           {map[string]string{first: commit(protocol, metadata, strings.Replace(add, `"day":"1"`, "", 1))}, lake.Ref{}, `without the value of the partition "day"`},
		"path outside":    {map[string]string{first: commit(protocol, metadata, strings.Replace(add, "a%20b", "../b", 1))}, lake.Ref{}, "allow it with `AllowOutside`"},
		"absolute path":   {map[string]string{first: commit(protocol, metadata, strings.Replace(add, "a%20b", "file:///etc/b", 1))}, lake.Ref{}, "allow it with `AllowOutside`"},
		"scheme":          {map[string]string{first: commit(protocol, metadata, strings.Replace(add, "a%20b", "abfss://x/b", 1))}, lake.Ref{}, "expected a path, or one of file:, s3: and gs:"},
		"escape":          {map[string]string{first: commit(protocol, metadata, strings.Replace(add, "a%20b", "a%2", 1))}, lake.Ref{}, "expected %XX only for escaped bytes"},
		"vector storage":  {map[string]string{first: commit(protocol, metadata, strings.Replace(add, `"size"`, `"deletionVector":{"storageType":"x","pathOrInlineDv":"","sizeInBytes":1,"cardinality":1},"size"`, 1))}, lake.Ref{}, `deletion vector of storage type "x"`},
		"inline vector":   {map[string]string{first: commit(protocol, metadata, strings.Replace(add, `"size"`, `"deletionVector":{"storageType":"i","pathOrInlineDv":"00000","sizeInBytes":4,"cardinality":1},"size"`, 1))}, lake.Ref{}, "found bytes that are no Roaring bitmap"},
		"checkpoint":      {map[string]string{"00000000000000000001.checkpoint.parquet": "PAR1"}, lake.Ref{}, "checkpoint.parquet: found 4 bytes"},
		"sidecar":         {map[string]string{"00000000000000000001.checkpoint.12345678-1234-1234-1234-123456789012.json": commit(protocol, metadata, `{"sidecar":{"path":"../x"}}`)}, lake.Ref{}, `found the sidecar "../x"`},
		"empty commit":    {map[string]string{first: commit(protocol, metadata), "00000000000000000001.json": "\n"}, lake.Ref{}, "00000000000000000001.json: found a commit without a line"},
		"twice":           {map[string]string{first: commit(protocol, metadata, add, strings.Replace(add, "a%20b", "a b", 1))}, lake.Ref{}, "a b.parquet twice, expected it once"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(vfs.OS, writeLog(t, c.files), c.ref, "", false)
			if !errors.Is(err, lake.ErrFormat) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected an error of kind ErrFormat with %q", err, c.want)
			}
		})
	}
}

// TestVersions opens a table at numbers and times. A commit says its time itself where the table asks for it.
func TestVersions(t *testing.T) {
	file := func(name string) string { return strings.Replace(add, "a%20b", name, 1) }
	dir := writeLog(t, map[string]string{
		"00000000000000000000.json": commit(`{"commitInfo":{"inCommitTimestamp":1000}}`, protocol, metadata, file("a")),
		"00000000000000000001.json": commit(`{"commitInfo":{"inCommitTimestamp":2000}}`, file("b")),
		"00000000000000000002.json": commit(`{"commitInfo":{"inCommitTimestamp":3000}}`, `{"remove":{"path":"a.parquet","dataChange":true}}`),
	})
	for _, c := range []struct {
		ref     lake.Ref
		version int64
		files   string
	}{
		{lake.Ref{}, 2, "b.parquet"},
		{lake.Ref{HasVersion: true}, 0, "a.parquet"},
		{lake.Ref{HasVersion: true, Version: 1}, 1, "a.parquet b.parquet"},
		{lake.Ref{Time: time.UnixMilli(1000)}, 0, "a.parquet"},
		{lake.Ref{Time: time.UnixMilli(2999)}, 1, "a.parquet b.parquet"},
		{lake.Ref{Time: time.UnixMilli(1 << 50)}, 2, "b.parquet"},
	} {
		s, err := Open(vfs.OS, dir, c.ref, "", false)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range s.Files {
			names = append(names, filepath.Base(f.Path))
		}
		if s.Version != c.version || strings.Join(names, " ") != c.files {
			t.Errorf("%v: found version %d with %q, expected %d with %q", c.ref, s.Version, names, c.version, c.files)
		}
	}
}

// TestCheckpointIsEnough opens a table whose first commits were removed, and one that has a checkpoint in the middle of its commits.
func TestCheckpointIsEnough(t *testing.T) {
	whole, err := Open(vfs.OS, "../../ingest/tablefiles/testdata/delta/ids", lake.Ref{}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../ingest/tablefiles/testdata/delta/ids")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"00000000000000000000.json", "00000000000000000001.json", "00000000000000000002.json"} {
		if err := os.Remove(filepath.Join(dir, Log, name)); err != nil {
			t.Fatal(err)
		}
	}
	cut, err := Open(vfs.OS, dir, lake.Ref{}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	if len(cut.Files) != len(whole.Files) || cut.Version != whole.Version {
		t.Errorf("found version %d of %d files, expected version %d of %d", cut.Version, len(cut.Files), whole.Version, len(whole.Files))
	}
}

// FuzzLog replays any commit: an error or a table, and no more.
func FuzzLog(f *testing.F) {
	f.Add([]byte(commit(protocol, metadata, add)))
	f.Add([]byte(commit(protocol, strings.Replace(metadata, `\"long\"`, `{\"type\":\"array\",\"elementType\":\"decimal(3,1)\"}`, 1))))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := writeLog(t, map[string]string{"00000000000000000000.json": string(b)})
		fuzzing.Check(t, len(b), func() {
			_, err := Open(vfs.OS, dir, lake.Ref{}, "", false)
			if err != nil && !errors.Is(err, lake.ErrFormat) && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("found %v, expected an error of kind ErrFormat", err)
			}
		})
	})
}
