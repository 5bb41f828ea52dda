package iceberg

import (
	"github.com/graphmill/graphmill/internal/lake"
)

// added returns the files with the rows that the snapshots after one, up to another, appended. A snapshot that moved rows to other files,
// as a compaction does, is a replacement. Others are an error: rows that were taken are gone.
func (r *reader) added(since int64, last *snapshot) (rows []*entry, err error) {
	seen := map[int64]bool{}
	for s := last; s.ID != since; {
		seen[s.ID] = true
		switch s.operation() {
		case "append":
			if rows, err = r.appended(rows, s); err != nil {
				return nil, err
			}
		case "replace":
		default:
			return nil, lake.Badf("found the snapshot %d, which deleted or changed rows (%q), expected snapshots that add rows alone after snapshot %d, up to which the rows were taken; import the whole table anew, or give what changed as tables to `Drop` and `Change`", s.ID, s.operation(), since)
		}
		var next *snapshot
		if s.Parent != nil {
			next = r.metadata.snapshot(*s.Parent)
		}
		if next == nil || seen[next.ID] {
			return nil, lake.Badf("found no snapshot %d before snapshot %d, expected it, as its rows were taken; take the whole table anew", since, last.ID)
		}
		s = next
	}
	return rows, nil
}

// appended appends the files that a snapshot added.
func (r *reader) appended(rows []*entry, s *snapshot) ([]*entry, error) {
	list, err := r.manifests(s)
	if err != nil {
		return nil, err
	}
	before := len(rows)
	for i := range list {
		m := &list[i]
		if m.Content != manifestOfRows || m.Snapshot != nil && *m.Snapshot != s.ID {
			continue
		}
		err := r.entries(m, func(e *entry) error {
			if e.Status != statusAdded || e.Snapshot != nil && *e.Snapshot != s.ID {
				return nil
			}
			if e.path, err = r.resolve(e.File.Path); err != nil {
				return err
			}
			rows = append(rows, e)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if err := s.checkCount(len(rows)-before, "added-data-files"); err != nil {
		return nil, err
	}
	return rows, nil
}
