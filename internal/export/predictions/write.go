package predictions

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// sink is the format of an output.
type sink interface {
	// encode prepares a block, for several at a time.
	encode(w *worker, b *block) error
	// add takes the blocks in order.
	add(b *block) error
	// close completes the output after the last block.
	close() error
}

// worker has the buffers of a thread.
type worker struct {
	ends    ends
	pages   *parquet.PageEncoder
	rows    parquet.Rows
	lengths []uint32
	values  []byte
	wide    [][]byte // by column of 16-bit floats
}

// Write writes the arrays as a table, completely or not at all.
func Write(ctx context.Context, fsys vfs.FS, s *store.Store, to Target, o Options) (_ *Result, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if to.Format != Database {
		if err := vacant(fsys, to.Path, o.Overwrite); err != nil {
			return nil, o.discard(err)
		}
	}
	t, err := openTable(fsys, s, &o)
	if err != nil {
		return nil, err
	}
	defer func() {
		whole := err == nil
		if err = errors.Join(err, t.close()); whole {
			err = store.Whole(database.Shown(to.Path), err)
		}
	}()
	x := &writing{table: t, o: &o, r: &Result{Type: t.name(), Edges: t.edges != nil, Columns: len(t.columns), Unlabelled: map[string]int64{}}}
	left, err := o.left(ordered.Slots(o.Threads), max(t.rowBytes(), blockBytes))
	if err != nil {
		return nil, err
	}
	if err := t.pages.bound(fsys, o.Memory > 0, mappedBytes+left); err != nil {
		return nil, err
	}
	rows := t.reader(ctx)
	if x.r.Rows, err = rows.count(); err != nil {
		return nil, err
	}
	x.r.Read = int64(t.numbers.rows())
	if err := s.Release(); err != nil {
		return nil, err
	}
	if to.Format == Database {
		err = x.database(ctx, to)
	} else {
		err = x.file(ctx, fsys, to)
	}
	for name, n := range t.unlabelled {
		x.r.Unlabelled[name] = n.Load()
	}
	return x.r, err
}

// writing is a run of Write.
type writing struct {
	*table
	o *Options
	r *Result
}

// rows passes all rows to a sink, and completes it.
func (x *writing) rows(ctx context.Context, to sink) error {
	if x.o.Begin != nil {
		x.o.Begin(int(x.r.Read))
	}
	from := x.reader(ctx)
	err := ordered.Run(ctx, x.o.Threads, func() *worker { return &worker{ends: ends{edges: x.edges}} }, func() *block { return &block{} }, ordered.Stages[*worker, *block]{
		Fill: from.fill,
		Work: func(_ context.Context, w *worker, b *block) error {
			if len(b.rows) == 0 {
				return nil
			}
			if err := x.cellsOf(b, &w.ends); err != nil {
				return err
			}
			return to.encode(w, b)
		},
		Sink: func(b *block) error {
			if len(b.rows) > 0 {
				if err := to.add(b); err != nil {
					return err
				}
			}
			if x.o.Progress != nil {
				x.o.Progress(b.read)
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	return to.close()
}

// room refuses a disk on which the values that are not compressed have no room.
func (x *writing) room(fsys vfs.FS, dir string) error {
	width := 0
	for _, c := range x.columns {
		if c.raw {
			width += c.bytes
		}
	}
	return vfs.Room(fsys, dir, uint64(x.r.Rows), uint64(width), "the values of the arrays")
}

// file writes a file beside its name, syncs it and renames it.
func (x *writing) file(ctx context.Context, fsys vfs.FS, to Target) error {
	out := filepath.Clean(to.Path)
	dir := filepath.Dir(out)
	if err := x.room(fsys, dir); err != nil {
		return err
	}
	tmp := vfs.Beside(out)
	if err := fsys.RemoveAll(tmp); err != nil {
		return err
	}
	f, err := fsys.Create(tmp)
	if err != nil {
		return err
	}
	s, err := x.sink(f, to.Format)
	if err == nil {
		err = x.rows(ctx, s)
	}
	if err == nil {
		err = x.measure(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = fsys.Rename(tmp, out)
	}
	if err != nil {
		return errors.Join(err, fsys.RemoveAll(tmp))
	}
	return store.Whole(out, fsys.SyncDir(dir))
}

// sink is the format of a file.
func (x *writing) sink(f vfs.File, format Format) (sink, error) {
	switch format {
	case Parquet:
		return newParquetSink(f, x.table, x.o.Origin)
	case Arrow:
		return newArrowSink(f, x.table, x.o.Origin)
	}
	return newCSVSink(f, x.columns)
}

// measure sets Bytes to the size of a file.
func (x *writing) measure(f vfs.File) error {
	info, err := f.Stat()
	if err == nil {
		x.r.Bytes = info.Size()
	}
	return err
}

// database writes a table of a database in one transaction.
func (x *writing) database(ctx context.Context, to Target) error {
	if !strings.HasPrefix(to.Path, "sqlite:") {
		s, err := openPostgres(ctx, to, x.columns, x.o.Overwrite)
		if err != nil {
			return err
		}
		if err := x.rows(ctx, s); err != nil {
			return errors.Join(err, s.out.Rollback())
		}
		return nil
	}
	columns, err := tableColumns(x.columns)
	if err != nil {
		return err
	}
	out, err := database.CreateTable(ctx, to.Path, to.Table, columns, x.o.Overwrite)
	if err != nil {
		return err
	}
	if err := x.rows(ctx, &databaseSink{ctx: ctx, columns: x.columns, out: out}); err != nil {
		return errors.Join(err, out.Rollback())
	}
	return nil
}
