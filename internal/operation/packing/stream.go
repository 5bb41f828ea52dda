package packing

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/pack/collection"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// checkStream refuses options that contradict each other, and fills in defaults.
func checkStream(o *option.PackStream) error {
	if name := options.First(o, "Method", "Heuristic", "Effort", "TimeBudget", "Ranks"); name != "" {
		return operation.Usagef("found `%s` with `Stream`, expected one of them: a stream is packed by one method", name)
	}
	operation.SetDefault(&o.Buffer, 512)
	if o.Buffer < 1 || o.Buffer > pack.MaxBuffer {
		return operation.Usagef("found `Buffer` %d, expected 1 to %d", o.Buffer, pack.MaxBuffer)
	}
	return checkPack(&o.Pack)
}

// checkStreamMemory refuses a memory bound below the need of the buffer.
func checkStreamMemory(o *option.PackStream) error {
	const held = 512 // bytes per graph
	if need := limits.ProcessBytes + held*int64(o.Buffer); need > o.Memory {
		return tagged.Errorf(operation.ErrMemory, "found `Memory` %s, expected at least %s for a `Buffer` of %s; give more `Memory` or a smaller `Buffer`",
			human.Bytes(o.Memory), human.Bytes(need), human.Counted(int64(o.Buffer), "graph"))
	}
	return nil
}

// PackStream packs a stream of graphs in their order, without knowing their number, and holds at most Buffer of them. The
// input is a CSV file with one graph per line, o.In with the same text (in is "-" then), or a collection. PackStream
// writes pack_ptr.npy and graph_id.npy to the folder out or, if out is "", one line of JSON per pack to o.Lines. With
// OversizeAlone, graphs that are larger than a pack go to alone_id.npy or to lines of their own.
func PackStream(ctx context.Context, in, out string, o option.PackStream) (_ *report.PackedStream, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if err := checkStream(&o); err != nil {
		return nil, err
	}
	components, limits := limitsOf(&o.Pack)
	p := &pack.Problem{Histogram: &pack.Histogram{Components: components}, Limits: limits, MaxGraphs: o.MaxGraphs}
	if o.Reserve {
		if err := layout.Reserve(p); err != nil {
			return nil, err
		}
	}
	sizes, err := openStream(in, o.In, components)
	if err != nil {
		return nil, err
	}
	if out == "" {
		defer operation.CloseWith(&err, sizes.close)
	} else {
		defer operation.CloseAfter(&err, out, sizes.close)
	}
	if o.Memory > 0 {
		if err := checkStreamMemory(&o); err != nil {
			return nil, err
		}
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(o.Memory - unmanaged))
	}
	s := &pack.Stream{Limits: p.Limits, MaxGraphs: p.MaxGraphs, Buffer: o.Buffer, Skip: o.Oversize != option.OversizeError}
	line := operation.NewMeter(&o.Pack.Run, "pack", 0, "graphs")
	defer line.End()
	run := streamPacks(&o, ctx, sizes, s, line)
	if out == "" {
		err = streamLines(o.Lines, run)
	} else {
		err = streamFolder(&o, ctx, in, out, sizes, s, start, run)
	}
	if err != nil {
		return nil, err
	}
	line.End()
	j := &report.PackedStream{Output: out, Packs: s.Packs, Graphs: s.Graphs, Skipped: s.Skipped, Efficiency: map[string]float64{}, Limits: map[string]int{},
		MaxGraphs: o.MaxGraphs, Buffer: s.Buffer, Lost: s.Lost(), BufferWanted: s.Short(), Seconds: time.Since(start).Seconds(), Components: components}
	for i, name := range components {
		j.Limits[name] = limits[i]
		j.Efficiency[name] = streamShare(s, i, limits[i])
	}
	if s.Skipped > 0 {
		operation.Warn(&o.Pack.Run, "%s %s", human.Exact(s.Skipped), layout.Larger(s.Skipped, string(o.Oversize)))
	}
	if j.BufferWanted > 0 {
		operation.Warn(&o.Pack.Run, "%s", smallBuffer(s))
	}
	return j, nil
}

// streamPacks packs the sizes that come.
func streamPacks(o *option.PackStream, ctx context.Context, in *sizeStream, s *pack.Stream, line *operation.Meter) streamRun {
	return func(take func([]int64) error, alone func(int64) error) error {
		var failed error
		sizes := in.sizes
		if o.Oversize == option.OversizeAlone {
			sizes = apart(in.sizes, s.Limits, func(id int64) bool {
				failed = alone(id)
				return failed == nil
			})
		}
		for ids, err := range s.Pack(sizes) {
			if errors.Is(err, pack.ErrOversize) {
				return fmt.Errorf("%s: %w%s; `Oversize` skip leaves them out and counts them, alone lists them separately", in.where(), err, lessText(&o.Pack))
			}
			if err != nil {
				return operation.Described(in.where(), err)
			}
			if failed != nil {
				break
			}
			err = take(ids)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			line.Add(int64(len(ids)))
		}
		return errors.Join(failed, in.err())
	}
}

// smallBuffer says that a buffer is too small, and which size is enough.
func smallBuffer(s *pack.Stream) string {
	return fmt.Sprintf("a buffer of %s is small for packs of %.3g: %.1f %% of their room stayed empty; give `Buffer` %d or more",
		human.Counted(int64(s.Buffer), "graph"), float64(s.Graphs)/float64(s.Packs), 100*s.Lost(), s.Short())
}

// apart passes on the sizes of graphs that fit a pack, and calls tell with the numbers of those that are larger. It ends
// when tell returns false.
func apart(sizes iter.Seq[[]int], limits []int, tell func(int64) bool) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		number := int64(0)
		for size := range sizes {
			larger := false
			for j, n := range size {
				larger = larger || n > limits[j]
			}
			if larger && !tell(number) || !yield(size) {
				return
			}
			number++
		}
	}
}

// streamShare returns the filled share of a component, relative to the limit that was given.
func streamShare(s *pack.Stream, component, limit int) float64 {
	if limit == 0 || s.Packs == 0 {
		return 1
	}
	return s.Efficiency(component) * float64(s.Limits[component]) / float64(limit)
}

// sizeStream is a stream of the sizes of graphs.
type sizeStream struct {
	sizes iter.Seq[[]int]
	where func() string // returns the place of the last sizes
	err   func() error
	close func() error
	sum   string // fingerprint of the input; "" if unknown
	bytes int64  // size of the input; 0 for stdin
}

// openStream opens a collection, a file of sizes, or stdin.
func openStream(path string, stdin io.Reader, components []string) (*sizeStream, error) {
	x := &sizeStream{close: func() error { return nil }, err: func() error { return nil }}
	from, name := stdin, "stdin"
	if path != "-" {
		info, err := vfs.OS.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			return x, x.collection(path, components)
		}
		file, err := vfs.OS.OpenStream(path)
		if err != nil {
			return nil, err
		}
		from, name, x.close, x.bytes = file, path, file.Close, info.Size()
	}
	rows, err := collection.NewRows(name, from, components)
	if errors.Is(err, collection.ErrComponent) {
		err = operation.Usagef("%w", err)
	}
	if err != nil {
		return nil, errors.Join(err, x.close())
	}
	x.sizes, x.where, x.err = rows.All(), rows.Where, func() error { return rows.Err }
	return x, nil
}

func (x *sizeStream) collection(dir string, components []string) (err error) {
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		return err
	}
	x.close = s.Close
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	defer guard.Catch(&err)()
	if s.Collection == nil {
		return fmt.Errorf("%s: found a store of one graph, expected a collection of many; graphmill sample or graphmill import makes one", dir)
	}
	sizes, err := collection.NewSizes(s.Collection, components)
	if err != nil {
		return ofComponents(dir, err)
	}
	x.sizes, x.where = sizes.All(), func() string { return dir }
	x.err = func() error {
		if sizes.Err != nil {
			return fmt.Errorf("%s: %w", dir, sizes.Err)
		}
		return nil
	}
	if x.sum, err = store.Sum(vfs.OS, dir); err != nil {
		return err
	}
	x.bytes, err = store.Size(vfs.OS, dir)
	return err
}

// streamRun packs a stream. It passes the packs to take, and the graphs that are larger than a pack to alone.
type streamRun func(take func([]int64) error, alone func(int64) error) error

// streamLines writes one line of JSON per pack, and one per graph that is larger than a pack.
func streamLines(out io.Writer, run streamRun) error {
	w := bufio.NewWriter(out)
	var line []byte
	number := int64(0)
	err := run(func(ids []int64) error {
		line = strconv.AppendInt(append(line[:0], `{"pack":`...), number, 10)
		line = append(line, `,"graphs":[`...)
		for i, id := range ids {
			if i > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendInt(line, id, 10)
		}
		number++
		if _, err := w.Write(append(line, "]}\n"...)); err != nil {
			return err
		}
		return w.Flush() // the reader gets each pack at once
	}, func(id int64) error {
		_, err := fmt.Fprintf(w, "{\"alone\":%d}\n", id)
		return err
	})
	return errors.Join(err, w.Flush())
}

// streamFolder writes the arrays of a fill.
func streamFolder(o *option.PackStream, ctx context.Context, path, out string, in *sizeStream, s *pack.Stream, start time.Time, run streamRun) (err error) {
	components, limits := limitsOf(&o.Pack)
	name := filepath.Base(filepath.Clean(path))
	made := store.Made{Command: "pack stream", Version: operation.Version(), Inputs: map[string]string{}, Options: map[string]string{"limit": human.Assigned(limitsOf(&o.Pack)),
		"max_graphs": strconv.Itoa(o.MaxGraphs), "buffer": strconv.Itoa(s.Buffer), "oversize": string(o.Oversize), "reserve": strconv.FormatBool(o.Reserve)}}
	if path != "-" {
		if err := operation.Keeps(out, path); err != nil {
			return err
		}
		if in.sum == "" {
			if in.sum, err = store.Fingerprint(ctx, vfs.OS, path); err != nil {
				return err
			}
		}
		made.Inputs[name] = in.sum
	}
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return err
	}
	defer operation.EndWith(&err, w)
	arrays, err := collection.NewStreamWriter(w)
	if err != nil {
		return err
	}
	defer operation.CloseWith(&err, arrays.Close)
	if err := run(arrays.Write, arrays.Alone); err != nil {
		return err
	}
	if err := errors.Join(arrays.Finish(s), w.WriteMade(made)); err != nil {
		return err
	}
	if err := w.Seal(ctx, nil, o.Threads); err != nil {
		return err
	}
	rep := operation.NewReport(&o.Pack.Run, "pack", "Packs of "+name)
	if in.sum != "" {
		rep.Input(name, in.bytes, in.sum)
	}
	rep.Head("packs", report.Count(s.Packs, "packs"))
	rep.In("graphs", report.Count(s.Graphs+s.Skipped, "graphs"))
	rep.Out("packs", report.Count(s.Packs, "packs"))
	rep.Warn(s.Skipped, layout.Larger(s.Skipped, string(o.Oversize)))
	if s.Short() > 0 {
		rep.Note(smallBuffer(s))
	}
	table := report.Table{Title: "Components", Columns: []string{"component", "limit", "full"}}
	for i, c := range components {
		full := report.Share(streamShare(s, i, limits[i]))
		rep.Head(c+" full", full)
		table.Rows = append(table.Rows, []report.Value{report.Text(c), report.Exact(int64(limits[i])), full})
	}
	rep.Table(table)
	rep.Stage("pack and write", time.Since(start), s.Graphs, "graphs")
	return operation.Publish(&o.Pack.Run, w, rep, start)
}
