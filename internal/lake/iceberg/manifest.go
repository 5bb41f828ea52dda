package iceberg

import (
	"strconv"
	"strings"

	"github.com/twmb/avro"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// manifest is a file that names files of a snapshot.
type manifest struct {
	Path     string  `avro:"manifest_path"`
	Spec     int     `avro:"partition_spec_id"`
	Content  int     `avro:"content"`
	Sequence int64   `avro:"sequence_number"`
	Snapshot *int64  `avro:"added_snapshot_id"`
	Key      *[]byte `avro:"key_metadata"`
	// Length is the bytes of the file, and the others are the numbers of its entries by their status. Writers of version 1 have other names for them.
	Length    int64  `avro:"manifest_length"`
	Added     *int64 `avro:"added_files_count"`
	Existing  *int64 `avro:"existing_files_count"`
	Deleted   *int64 `avro:"deleted_files_count"`
	Added1    *int64 `avro:"added_data_files_count"`
	Existing1 *int64 `avro:"existing_data_files_count"`
	Deleted1  *int64 `avro:"deleted_data_files_count"`

	unlisted bool // it says its spec itself
}

// The content of a manifest, and that of a file.
const (
	manifestOfRows      = 0
	manifestOfDeletions = 1

	contentRows      = 0
	contentPositions = 1
	contentKeys      = 2
)

// entry is a file of a manifest.
type entry struct {
	Status   int       `avro:"status"`
	Snapshot *int64    `avro:"snapshot_id"`
	Sequence *int64    `avro:"sequence_number"`
	File     entryFile `avro:"data_file"`

	spec      *partitionSpec
	partition partition
	sequence  int64
	path      string // where the file is
}

// The status of an entry.
const (
	statusExisting = 0
	statusAdded    = 1
	statusDeleted  = 2
)

// entryFile is what a manifest says of a file.
type entryFile struct {
	Content    int            `avro:"content"`
	Path       string         `avro:"file_path"`
	Format     string         `avro:"file_format"`
	Partition  map[string]any `avro:"partition"`
	Rows       int64          `avro:"record_count"`
	Keys       []int          `avro:"equality_ids"`
	Key        *[]byte        `avro:"key_metadata"`
	Referenced *string        `avro:"referenced_data_file"`
	Offset     *int64         `avro:"content_offset"`
	Size       *int64         `avro:"content_size_in_bytes"`
}

// key identifies the partition of a file.
func (e *entry) key() string { return e.partition.key(e.spec.ID) }

// manifests reads the list of a snapshot.
func (r *reader) manifests(s *snapshot) (list []manifest, err error) {
	if s.ManifestList == "" {
		for _, path := range s.Manifests {
			list = append(list, manifest{Path: path, unlisted: true})
		}
		return list, nil
	}
	path, err := r.resolve(s.ManifestList)
	if err != nil {
		return nil, err
	}
	r.log = append(r.log, path)
	err = eachRecord(r.fsys, path, nil, func(m *manifest) error {
		list = append(list, *m)
		return m.check()
	})
	return list, err
}

// check refuses a manifest that is not read here.
func (m *manifest) check() error {
	switch {
	case m.Path == "":
		return lake.Badf("found a manifest without a path, expected one; copy the file again")
	case m.Key != nil:
		return encryptionError()
	case m.Content != manifestOfRows && m.Content != manifestOfDeletions:
		return lake.Badf("found a manifest with content %d, expected 0 (rows) or 1 (deletions); update Graphmill", m.Content)
	}
	return nil
}

// entries calls fn for the files of a manifest that count.
func (r *reader) entries(m *manifest, fn func(*entry) error) error {
	path, err := r.resolve(m.Path)
	if err != nil {
		return err
	}
	r.log = append(r.log, path)
	return readEntries(r.fsys, path, r.metadata, m, fn)
}

func readEntries(fsys vfs.FS, path string, t *metadata, m *manifest, fn func(*entry) error) error {
	if m.Length > 0 {
		if info, err := vfs.Regular(fsys, path); err != nil {
			return err
		} else if info.Size() < m.Length {
			return lake.Badf("%s: found %d bytes, expected %d, as the list of manifests says; copy the file again", path, info.Size(), m.Length)
		}
	}
	d := entryDecoder{t: t, m: m}
	found := int64(0)
	err := eachRecord(fsys, path, d.head, func(e *entry) error {
		found++
		if e.Status == statusDeleted {
			return nil
		}
		if err := d.complete(e); err != nil {
			return err
		}
		return fn(e)
	})
	if err == nil && found < m.entryCount() {
		err = lake.Badf("%s: found %d entries, expected %d, as the list of manifests says; copy the file again", path, found, m.entryCount())
	}
	return err
}

// entryCount is the number of entries that a manifest has at least, as the list says.
func (m *manifest) entryCount() (n int64) {
	for _, count := range []*int64{m.Added, m.Existing, m.Deleted, m.Added1, m.Existing1, m.Deleted1} {
		if count != nil {
			n += max(*count, 0)
		}
	}
	return n
}

// entryDecoder completes the entries of one manifest by what they inherit from it.
type entryDecoder struct {
	t     *metadata
	m     *manifest
	spec  *partitionSpec
	shape []shapeField
	at    []int // the field of shape for each field of the spec; -1: none
}

func (d *entryDecoder) head(root *avro.SchemaNode, meta map[string][]byte) (err error) {
	id := d.m.Spec
	if text, ok := meta["partition-spec-id"]; ok && d.m.unlisted {
		if id, err = strconv.Atoi(string(text)); err != nil {
			return lake.Badf("found the partition spec %q, expected its number; the file is damaged", text)
		}
	}
	if d.spec, err = d.t.spec(id); err != nil {
		return err
	}
	if d.shape, err = partitionShape(root); err != nil {
		return err
	}
	// Fields are found by their ids, and by their places where the spec or the file is too old to have ids.
	for i, f := range d.spec.Fields {
		at := -1
		for j, s := range d.shape {
			if f.ID != 0 && s.id == f.ID {
				at = j
			}
		}
		if at < 0 && i < len(d.shape) && (f.ID == 0 || d.shape[i].id == 0) {
			at = i
		}
		d.at = append(d.at, at)
	}
	return nil
}

// complete sets what an entry inherits, and refuses files that are not read here.
func (d *entryDecoder) complete(e *entry) error {
	f := &e.File
	if e.Status != statusExisting && e.Status != statusAdded {
		return lake.Badf("found a file of status %d, expected 0 (existing), 1 (added) or 2 (deleted); update Graphmill", e.Status)
	}
	switch {
	case e.Sequence != nil:
		e.sequence = *e.Sequence
	case e.Status == statusAdded || d.m.Sequence == 0:
		e.sequence = d.m.Sequence
	default:
		return lake.Badf("found the existing file %s without a sequence number, expected one; the manifest is damaged", f.Path)
	}
	switch {
	case f.Path == "":
		return lake.Badf("found a file without a path, expected one; copy the manifest again")
	case f.Key != nil:
		return encryptionError()
	case (f.Content == contentRows) != (d.m.Content == manifestOfRows) || f.Content < contentRows || f.Content > contentKeys:
		return lake.Badf("found the file %s with content %d in a manifest with content %d, expected rows (0), or deletions by position (1) or key (2) in one of deletions (1); update Graphmill", f.Path, f.Content, d.m.Content)
	}
	f.Format = strings.ToUpper(f.Format)
	vector := f.Format == "PUFFIN" && f.Content == contentPositions
	if f.Format != "PARQUET" && !vector {
		return lake.Badf("found the file %s in the format %s, expected PARQUET; rewrite the table with write.format.default=parquet (in Spark: CALL system.rewrite_data_files), or write its rows as Parquet", f.Path, f.Format)
	}
	if vector && (f.Referenced == nil || f.Offset == nil || f.Size == nil) {
		return lake.Badf("found a deletion vector in %s without its data file, offset and size, expected them; the manifest is damaged", f.Path)
	}
	e.spec = d.spec
	e.partition = make(partition, len(d.spec.Fields))
	for i, at := range d.at {
		if at < 0 {
			continue
		}
		s := &d.shape[at]
		text, err := partitionText(f.Partition[s.name], s.logical)
		if err != nil {
			return lake.Badf("file %s: partition %q: %w; the manifest is damaged", f.Path, s.name, err)
		}
		e.partition[i] = text
	}
	f.Partition = nil
	return nil
}
