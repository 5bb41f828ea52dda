package tables

import (
	"errors"
	"fmt"
	"sort"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/internal/vfs"
)

// files are the shards of a table, one of which is open.
type files struct {
	x      *exporter
	stem   string
	t      *Table
	fields []parquet.Field
	made   int // shards that were begun
	file   vfs.File
	out    *parquet.Writer
}

// Write appends to the open file.
func (f *files) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	f.t.Bytes += int64(n)
	return n, err
}

// add writes a block.
func (f *files) add(b *block) error {
	for f.made <= b.shard {
		if err := f.begin(); err != nil {
			return err
		}
	}
	return f.out.Add(b.pages)
}

// begin completes the open file and begins the next one.
func (f *files) begin() error {
	if err := f.close(false); err != nil {
		return err
	}
	name := f.stem + ".parquet"
	if f.x.o.Shards > 1 {
		name = fmt.Sprintf("%s-%05d-of-%05d.parquet", f.stem, f.made, f.x.o.Shards)
	}
	f.made++
	var err error
	if f.file, err = f.x.w.Create(name); err != nil {
		return err
	}
	f.out, err = parquet.NewWriter(f, f.fields)
	return err
}

// close completes the open file, or leaves it as it is after a failure.
func (f *files) close(failed bool) (err error) {
	if f.file == nil {
		return nil
	}
	if f.out != nil && !failed {
		err = f.out.Close()
	}
	err = errors.Join(err, f.file.Close())
	f.file, f.out = nil, nil
	return err
}

// end completes the last file, and makes those of shards without rows.
func (f *files) end(failed bool) error {
	for !failed && f.made < f.x.o.Shards {
		if err := f.begin(); err != nil {
			return errors.Join(err, f.close(true))
		}
	}
	return f.close(failed)
}

// shardOf is the shard of a row. Shards are contiguous, and their numbers of rows differ by at most one.
func shardOf(rows uint64, shards int, row uint64) int {
	return sort.Search(shards, func(s int) bool { return shardEnd(rows, shards, s) > row })
}

// shardEnd is the row after a shard.
func shardEnd(rows uint64, shards, shard int) uint64 {
	k := uint64(shards)
	return rows/k*uint64(shard+1) + min(rows%k, uint64(shard+1))
}
