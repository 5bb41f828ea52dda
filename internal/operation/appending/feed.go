package appending

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/appending/lines"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// fromInput is the Follow that reads lines from Input.
const fromInput = "-"

// The defaults of a batch of lines.
const (
	usualEvery = 10 * time.Second
	usualRows  = 100_000
)

// markPrefix begins the names of marks that are places of lines, TOPIC/PARTITION. No type has such a name, as it has ':' and is no edge type.
const markPrefix = "lines::"

// linesPrefix begins the names of inputs that are rows of lines.
const linesPrefix = "lines of "

// feeding is a run of feedLines.
type feeding struct {
	dir, source string // the store, and the graph.yaml
	o           option.Append
	scratch     string // a folder of its own
	types       []ingest.LineType
	parser      lines.Parser
	marks       map[string]int64 // by the name of the mark: the last offset that was read
	last        *report.Report

	batch *lines.Batch
	// places are, as marks, those of the lines that no segment has: of the batch, and of batches before it that changed nothing. Lines of theirs that come again after those of
	// later batches could change something.
	places  map[string]int64
	number  uint64 // of lines that were read
	skipped int64  // lines that the store has
	taken   int64  // lines that were appended
	told    bool   // that nodes stay
}

// feedLines appends what lines of o.Input say, in batches, until its end. What a batch took, and the places of its lines, appear in one step.
func feedLines(ctx context.Context, dir, source string, o option.Append) (_ *report.Report, err error) {
	switch {
	case source == "":
		return nil, operation.Usagef("found `Follow` - without a source, expected the graph.yaml that says which types the rows of a table have; give it")
	case o.Drop != "" || len(o.More) > 0:
		return nil, operation.Usagef("found `Drop` or several sources with `Follow` -, expected a graph.yaml alone, as lines say themselves what is dropped; leave the others out")
	case o.Input == nil:
		return nil, operation.Usagef("found `Follow` - without `Input`, expected what it reads; give `Input` os.Stdin or another reader")
	case o.Rows < 0:
		return nil, operation.Usagef("found `Rows` %d, expected a number from 1", o.Rows)
	}
	if err := operation.CheckRun(&o.Run); err != nil {
		return nil, err
	}
	operation.SetDefault(&o.Every, usualEvery)
	operation.SetDefault(&o.Rows, usualRows)
	f := &feeding{dir: dir, source: source, o: o, places: map[string]int64{}}
	if err := f.open(); err != nil {
		return nil, err
	}
	f.scratch = filepath.Join(filepath.Dir(filepath.Clean(dir)), "."+operation.Titled(dir)+".lines")
	done, err := scratchFolder(f.scratch)
	if err != nil {
		return nil, err
	}
	defer operation.CloseAfter(&err, dir, done)
	if err := removeLeft(dir); err != nil { // also where no line is new; and a store that cannot be replaced is refused before lines are read
		return nil, err
	}
	f.begin()
	defer func() { err = errors.Join(err, f.batch.Close()) }()
	err = f.read(ctx)
	if ctx.Err() != nil && f.batch.Some() {
		operation.Note(&o.Run, "%s", counted(f.batch.Lines, "lines were read and not appended, as the run ended first"))
	}
	return f.last, err
}

// open reads the graph.yaml and the places that the store has.
func (f *feeding) open() (err error) {
	f.types, err = ingest.LineTypes(vfs.OS, f.source, ingest.Options{Format: f.o.Format, Outside: f.o.AllowOutside, NodesAlone: true})
	if errors.Is(err, ingest.ErrUsage) {
		return operation.Usagef("%w", err)
	}
	if err != nil {
		return err
	}
	for _, t := range f.types {
		if !slices.Contains(f.parser.Tables, t.Table) {
			f.parser.Tables = append(f.parser.Tables, t.Table)
		}
	}
	s, _, err := openStore(f.dir, store.OpenOutline)
	if err != nil {
		return err
	}
	f.last = operation.NewReport(&f.o.Run, "append", operation.Titled(f.dir))
	f.marks = map[string]int64{}
	for name, last := range s.Meta.History().LastMarks() {
		if !strings.HasPrefix(name, markPrefix) {
			continue
		}
		if f.marks[name], err = strconv.ParseInt(last, 10, 64); err != nil {
			return errors.Join(fmt.Errorf("%s: %w: found the place %q of %s, expected an offset; run graphmill verify on it", f.dir, store.ErrDamaged, last, strings.TrimPrefix(name, markPrefix)), s.Close())
		}
	}
	return s.Close()
}

// scratchFolder makes an empty folder that one run at a time has, and returns what removes it.
func scratchFolder(dir string) (done func() error, err error) {
	if err := vfs.OS.MkdirAll(dir); err != nil {
		return nil, err
	}
	unlock, err := vfs.OS.Lock(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: another run appends lines to the store: %w", dir, err)
	}
	done = func() error { return errors.Join(vfs.OS.RemoveAll(dir), unlock()) }
	left, err := vfs.OS.ReadDir(dir)
	for _, e := range left { // by a run that was killed
		err = errors.Join(err, vfs.OS.RemoveAll(filepath.Join(dir, e.Name())))
	}
	if err != nil {
		return nil, errors.Join(err, done())
	}
	return done, nil
}

// begin begins a batch.
func (f *feeding) begin() { f.batch = lines.NewBatch(vfs.OS, f.scratch, f.types) }

// block is bytes that were read, or why there are no more.
type block struct {
	bytes []byte
	err   error
}

// blockBytes is the number of bytes that are read at a time.
const blockBytes = 64 << 10

// readBlocks reads until the end, an error or stop. It may still wait for a Read after that.
func readBlocks(r io.Reader, blocks chan<- block, stop <-chan struct{}) {
	for {
		b := make([]byte, blockBytes)
		n, err := r.Read(b)
		select {
		case blocks <- block{b[:n], err}:
		case <-stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// read reads all lines, and appends batches of them.
func (f *feeding) read(ctx context.Context) error {
	blocks, stop := make(chan block, 4), make(chan struct{})
	defer close(stop)
	go readBlocks(f.o.Input, blocks, stop)
	var rest []byte          // the begin of a line
	var due <-chan time.Time // the end of the batch, which has a line
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-due:
			if err := f.append(ctx); err != nil {
				return err
			}
			due = nil
		case b := <-blocks:
			text := b.bytes
			for {
				line, more, whole := bytes.Cut(text, []byte("\n"))
				rest = append(rest, line...)
				if len(rest) > lines.MostBytes {
					return fmt.Errorf("%s:%d: found a line of more than %d bytes, expected fewer; leave large values out", lines.Input, f.number+1, lines.MostBytes)
				}
				if !whole {
					break
				}
				if err := f.take(ctx, rest); err != nil {
					return err
				}
				rest, text = rest[:0], more
			}
			if b.err != nil {
				return f.end(ctx, rest, b.err)
			}
			switch {
			case f.batch.Lines == 0:
				due = nil
			case due == nil:
				due = time.After(f.o.Every)
			}
		}
	}
}

// end ends the reading, with what follows the last line end.
func (f *feeding) end(ctx context.Context, rest []byte, err error) error {
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", lines.Input, err)
	}
	if err := f.take(ctx, rest); err != nil {
		return err
	}
	if err := f.append(ctx); err != nil {
		return err
	}
	if f.skipped > 0 {
		text := counted(int(f.skipped), "lines were left out, because the store has what is at their places")
		operation.Note(&f.o.Run, "%s", text)
		f.last.Note(text)
	}
	if f.taken == 0 {
		const text = "no line said anything new, so the store stays as it was"
		operation.Note(&f.o.Run, "%s", text)
		f.last.Note(text)
	}
	return nil
}

// take adds a line to the batch, and appends the batch if it is full.
func (f *feeding) take(ctx context.Context, text []byte) error {
	f.number++
	if text = bytes.TrimRight(text, " \t\r"); len(text) == 0 {
		return nil
	}
	l, err := f.parser.Parse(text)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", lines.Input, f.number, err)
	}
	if l.Placed {
		mark := fmt.Sprintf("%s%s/%d", markPrefix, l.Place.Topic, l.Place.Partition)
		if last, some := f.marks[mark]; some && l.Place.Offset <= last {
			f.skipped++
			return nil
		}
		f.marks[mark], f.places[mark] = l.Place.Offset, l.Place.Offset
	}
	if err := f.batch.Add(&l, f.number); err != nil {
		return fmt.Errorf("%s:%d: %w", lines.Input, f.number, err)
	}
	if f.batch.Lines >= f.o.Rows || f.batch.Full() {
		return f.append(ctx)
	}
	return nil
}

// append appends the batch, and begins another.
func (f *feeding) append(ctx context.Context) (err error) {
	b := f.batch
	if b.Some() {
		if err := b.In(f.appendBatch(ctx)); err != nil {
			return err
		}
	}
	if b.Kept && !f.told {
		f.told = true
		operation.Warn(&f.o.Run, "rows of nodes were deleted: their edges are dropped, and the nodes stay without edges, as a store keeps the numbers of its nodes")
	}
	f.begin()
	return b.Close()
}

// appendBatch appends the batch, which has rows.
func (f *feeding) appendBatch(ctx context.Context) error {
	groups, err := f.batch.Groups()
	if err != nil {
		return err
	}
	var r *report.Report
	var done appended
	if len(groups) == 1 {
		r, done, err = f.appendGroup(ctx, f.dir, groups[0], f.o, true)
	} else {
		r, done, err = f.appendGroups(ctx, groups)
	}
	if err != nil {
		return err
	}
	if !done.some {
		return nil
	}
	f.last, f.taken = r, f.taken+int64(f.batch.Lines)
	operation.Note(&f.o.Run, "appended %s%s", counted(f.batch.Lines, "lines"), f.upTo())
	clear(f.places)
	if done.due {
		return compactAfter(ctx, f.dir, &f.o, r)
	}
	return nil
}

// upTo says which places a batch ends at.
func (f *feeding) upTo() string {
	const most = 3
	var text []string
	for _, name := range slices.Sorted(maps.Keys(f.places)) {
		if len(text) < most {
			text = append(text, fmt.Sprintf("%s:%d", strings.TrimPrefix(name, markPrefix), f.places[name]))
		}
	}
	if len(text) == 0 {
		return ""
	}
	return ", up to " + strings.Join(text, ", ") + more(len(f.places)-len(text))
}

// counted is a number of things.
func counted(n int, things string) string {
	return human.Exact(int64(n)) + " " + human.Things(int64(n), things)
}
