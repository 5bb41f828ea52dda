package iceberg

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Metadata is the folder of the metadata in the folder of a table, and MetadataSuffix ends the name of a file of metadata.
const (
	Metadata       = "metadata"
	MetadataSuffix = ".metadata.json"
)

// maxMetadata bounds the bytes of a file of metadata, and maxRatio how many times longer it is when it is unpacked.
const (
	maxMetadata = 256 << 20
	maxRatio    = 256
)

// metadata is a table at one version.
type metadata struct {
	FormatVersion   int               `json:"format-version"`
	UUID            string            `json:"table-uuid"`
	Location        string            `json:"location"`
	Schema          *tableSchema      `json:"schema"` // of version 1
	Schemas         []tableSchema     `json:"schemas"`
	CurrentSchema   int               `json:"current-schema-id"`
	PartitionSpec   []partitionField  `json:"partition-spec"` // of version 1
	PartitionSpecs  []partitionSpec   `json:"partition-specs"`
	Properties      map[string]string `json:"properties"`
	CurrentSnapshot *int64            `json:"current-snapshot-id"`
	Snapshots       []snapshot        `json:"snapshots"`
	SnapshotLog     []struct {
		Snapshot int64 `json:"snapshot-id"`
		Time     int64 `json:"timestamp-ms"`
	} `json:"snapshot-log"`
	Refs map[string]struct {
		Snapshot int64  `json:"snapshot-id"`
		Type     string `json:"type"`
	} `json:"refs"`
	EncryptionKeys []json.RawMessage `json:"encryption-keys"`

	path string // of the file
	dir  string // the folder of the table
}

// snapshot is the table after one commit.
type snapshot struct {
	ID           int64    `json:"snapshot-id"`
	Parent       *int64   `json:"parent-snapshot-id"`
	Time         int64    `json:"timestamp-ms"`
	ManifestList string   `json:"manifest-list"`
	Manifests    []string `json:"manifests"` // of version 1, in place of a list
	SchemaID     *int     `json:"schema-id"`
	KeyID        string   `json:"key-id"`
	// Summary has texts. Its totals are there where the writer knew those of the snapshot before.
	Summary map[string]any `json:"summary"`
}

// operation says what a snapshot did: append, replace, overwrite or delete.
func (s *snapshot) operation() string {
	text, _ := s.Summary["operation"].(string)
	return text
}

// checkCount refuses fewer files than the summary of the snapshot says: a list of manifests that was cut between two of its blocks is a
// whole file to a reader of Avro.
func (s *snapshot) checkCount(found int, key string) error {
	text, _ := s.Summary[key].(string)
	said, err := strconv.Atoi(text)
	if err == nil && found < said {
		return lake.Badf("found %d files in the manifests of snapshot %d, expected %d, as its summary says (%s); copy its list of manifests again: %s; if other programs find %d files too, a writer has counted wrongly, and a copy of the table by one of them has right counts", found, s.ID, said, key, s.ManifestList, found)
	}
	return nil
}

// id identifies the table. Old tables of version 1 have no UUID.
func (m *metadata) id() string {
	if m.UUID != "" {
		return m.UUID
	}
	return m.Location
}

// snapshot returns a snapshot by its id; nil: there is none.
func (m *metadata) snapshot(id int64) *snapshot {
	for i := range m.Snapshots {
		if m.Snapshots[i].ID == id {
			return &m.Snapshots[i]
		}
	}
	return nil
}

// readMetadata reads the metadata of a table: of its folder, or a file of metadata.
func readMetadata(fsys vfs.FS, path string) (*metadata, error) {
	dir := path
	if IsMetadata(filepath.Base(path)) {
		if dir = filepath.Dir(path); filepath.Base(dir) == Metadata {
			dir = filepath.Dir(dir)
		}
	} else {
		var err error
		if path, err = newest(fsys, dir); err != nil {
			return nil, err
		}
	}
	if _, err := vfs.Regular(fsys, path); err != nil {
		return nil, err
	}
	b, err := vfs.ReadFile(fsys, path, maxMetadata)
	if err != nil {
		return nil, err
	}
	m, err := parseMetadata(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.path, m.dir = path, dir
	return m, nil
}

// parseMetadata reads the bytes of a file of metadata, which may be packed by gzip whatever the file's name is.
func parseMetadata(b []byte) (*metadata, error) {
	if len(b) > 2 && b[0] == 0x1f && b[1] == 0x8b {
		limit := 0
		unpacked, err := gzip.NewReader(bytes.NewReader(b))
		if err == nil {
			limit = min(maxMetadata, maxRatio*len(b))
			b, err = io.ReadAll(io.LimitReader(unpacked, int64(limit)+1))
		}
		if err != nil {
			return nil, lake.Badf("found bytes that gzip does not unpack, expected JSON in gzip; copy the file again: %w", err)
		}
		if len(b) > limit {
			return nil, lake.Badf("found more than %d bytes of JSON, expected fewer; expire old snapshots of the table", limit)
		}
	}
	var m metadata
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, lake.Badf("found what is no metadata of Iceberg, expected JSON with a table; copy the file again: %w", err)
	}
	return &m, m.check()
}

// check refuses tables that are not read here.
func (m *metadata) check() error {
	switch {
	case m.FormatVersion < 1 || m.FormatVersion > 3:
		return lake.Badf("found format-version %d, expected 1, 2 or 3; update Graphmill, or write the rows of the table as Parquet", m.FormatVersion)
	case len(m.EncryptionKeys) > 0:
		return encryptionError()
	}
	if m.FormatVersion == 1 && len(m.Schemas) == 0 {
		if m.Schema == nil {
			return lake.Badf("found no schema, expected one; the file is damaged")
		}
		m.Schemas, m.CurrentSchema = []tableSchema{*m.Schema}, m.Schema.ID
	}
	if m.FormatVersion == 1 && len(m.PartitionSpecs) == 0 {
		m.PartitionSpecs = []partitionSpec{{Fields: m.PartitionSpec}}
	}
	if _, err := m.schema(m.CurrentSchema); err != nil {
		return err
	}
	return nil
}

// schema returns a schema by its id.
func (m *metadata) schema(id int) (*tableSchema, error) {
	for i := range m.Schemas {
		if m.Schemas[i].ID == id {
			return &m.Schemas[i], nil
		}
	}
	return nil, lake.Badf("found no schema %d, expected the one that the table or a snapshot names; the metadata is damaged", id)
}

// spec returns a partition spec by its id.
func (m *metadata) spec(id int) (*partitionSpec, error) {
	for i := range m.PartitionSpecs {
		if m.PartitionSpecs[i].ID == id {
			return &m.PartitionSpecs[i], nil
		}
	}
	return nil, lake.Badf("found no partition spec %d, expected the one that a manifest names; the metadata is damaged", id)
}

func encryptionError() error {
	return lake.Badf("found an encrypted table, expected a plain one; write its rows as Parquet without encryption")
}

var errNoSnapshot = errors.New("no snapshot")

// choose returns the snapshot that a ref names, and the schema of its rows. Without a snapshot, the error is errNoSnapshot.
func (m *metadata) choose(ref lake.Ref) (*snapshot, *tableSchema, error) {
	id, own := int64(-1), true // own: the rows have the schema that the table had then
	switch {
	case ref.HasVersion:
		id = ref.Version
	case !ref.Time.IsZero():
		found := false
		for _, e := range m.SnapshotLog {
			if e.Time <= ref.Time.UnixMilli() {
				id, found = e.Snapshot, true
			}
		}
		if !found && len(m.SnapshotLog) > 0 {
			return nil, nil, lake.Badf("found no snapshot at that time, expected a time from %s on, when the first snapshot was made; ask for a later time", isoTime(m.SnapshotLog[0].Time))
		}
		if !found {
			return nil, nil, lake.Badf("found no log of snapshots, expected one for a version by time; ask for one of the snapshots %s", m.snapshotIDs())
		}
	case ref.Name != "":
		r, ok := m.Refs[ref.Name]
		switch {
		case ok:
			id, own = r.Snapshot, r.Type == "tag"
		case ref.Name != "main":
			return nil, nil, lake.Badf("found no branch or tag %q, expected one of the table; correct the name", ref.Name)
		case m.CurrentSnapshot != nil:
			id, own = *m.CurrentSnapshot, false
		}
	case m.CurrentSnapshot != nil:
		id, own = *m.CurrentSnapshot, false
	}
	current, err := m.schema(m.CurrentSchema)
	if err != nil {
		return nil, nil, err
	}
	if id == -1 && !ref.HasVersion {
		return nil, current, errNoSnapshot
	}
	s := m.snapshot(id)
	switch {
	case s == nil:
	case s.KeyID != "":
		return nil, nil, encryptionError()
	case !own || s.SchemaID == nil:
		return s, current, nil
	default:
		schema, err := m.schema(*s.SchemaID)
		return s, schema, err
	}
	return nil, nil, lake.Badf("found no snapshot %d, expected one of %s; ask for one that there is, as others have been expired", id, m.snapshotIDs())
}

// snapshotIDs names the newest snapshots.
func (m *metadata) snapshotIDs() string {
	if len(m.Snapshots) == 0 {
		return "none"
	}
	text := ""
	for i := len(m.Snapshots) - 1; i >= 0 && i >= len(m.Snapshots)-5; i-- {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%d (%s)", m.Snapshots[i].ID, isoTime(m.Snapshots[i].Time))
	}
	if len(m.Snapshots) > 5 {
		text += " and older ones"
	}
	return text
}
