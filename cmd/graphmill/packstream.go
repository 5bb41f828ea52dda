package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/pack/collection"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// streamFlags are the flags of pack --stream.
type streamFlags struct {
	stream bool
	buffer int
}

func (f *streamFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.stream, "stream", false, "pack graphs as they come: SIZES.csv (a graph a line), - (stdin) or a COLLECTION, in order")
	cmd.Flags().IntVar(&f.buffer, "buffer", 512, "graphs that --stream holds")
}

// checkStream says which flags go together.
func (f *packFlags) checkStream(cmd *cobra.Command) error {
	if !f.stream.stream {
		if cmd.Flags().Changed("buffer") {
			return usagef("found --buffer without --stream, which it belongs to")
		}
		return nil
	}
	for _, name := range []string{"method", "heuristic", "effort", "time-budget", "ranks"} {
		if cmd.Flags().Changed(name) {
			return usagef("found --%s with --stream, which packs in one way; give one of them", name)
		}
	}
	if f.stream.buffer < 1 || f.stream.buffer > pack.MaxBuffer {
		return usagef("found --buffer %d, expected 1 to %d", f.stream.buffer, pack.MaxBuffer)
	}
	return nil
}

// streamJSON is the JSON of a stream that was packed.
type streamJSON struct {
	Packs      int64              `json:"packs"`
	Graphs     int64              `json:"graphs"`
	Skipped    int64              `json:"skipped"` // left out, or alone
	Efficiency map[string]float64 `json:"efficiency"`
	Limits     map[string]int     `json:"limits"`
	MaxGraphs  int                `json:"max_graphs"`
	Buffer     int                `json:"buffer"`
	// Lost is the share of the room that the buffer lost, by what is fullest, and
	// BufferWanted, where that is much, is what would lose less.
	Lost         float64 `json:"lost"`
	BufferWanted int     `json:"buffer_wanted,omitempty"`
	Seconds      float64 `json:"seconds"`
}

// packStream packs what comes.
func (t *terminal) packStream(cmd *cobra.Command, path string, f *packFlags) (err error) {
	start := time.Now()
	components, limits, err := parseLimits(f.limits)
	if err != nil {
		return err
	}
	p := &pack.Problem{Histogram: &pack.Histogram{Components: components}, Limits: limits, MaxGraphs: f.maxGraphs}
	if f.reserve {
		if err := layout.Reserve(p); err != nil {
			return err
		}
	}
	in, err := t.openStream(path, components)
	if err != nil {
		return err
	}
	defer closeWith(&err, in.close)
	s := &pack.Stream{Limits: p.Limits, MaxGraphs: p.MaxGraphs, Buffer: f.stream.buffer, Skip: f.oversize != layout.Error}
	line := t.progress("pack", 0, "graphs")
	defer line.Done()
	run := func(take func([]int64) error, alone func(int64) error) error {
		var failed error
		sizes := in.sizes
		if f.oversize == layout.Alone {
			sizes = apart(in.sizes, p.Limits, func(id int64) bool {
				failed = alone(id)
				return failed == nil
			})
		}
		for ids, err := range s.Pack(sizes) {
			if errors.Is(err, pack.ErrOversize) {
				return fmt.Errorf("%s: %w%s (--oversize skip leaves them out and counts them, alone lists them apart)", in.where(), err, f.less())
			}
			if err != nil {
				return fmt.Errorf("%s: %w", in.where(), err)
			}
			if failed != nil {
				break
			}
			err = take(ids)
			if err == nil {
				err = cmd.Context().Err()
			}
			if err != nil {
				return err
			}
			line.Add(int64(len(ids)))
		}
		return errors.Join(failed, in.err())
	}
	if f.out == "" {
		err = t.streamLines(run)
	} else {
		err = t.streamFolder(cmd.Context(), path, f, in, s, components, limits, start, run)
	}
	if err != nil {
		return err
	}
	line.Done()
	j := streamJSON{Packs: s.Packs, Graphs: s.Graphs, Skipped: s.Skipped, Efficiency: map[string]float64{}, Limits: map[string]int{},
		MaxGraphs: f.maxGraphs, Buffer: s.Buffer, Lost: s.Lost(), BufferWanted: s.Short(), Seconds: time.Since(start).Seconds()}
	for i, name := range components {
		j.Limits[name] = limits[i]
		j.Efficiency[name] = streamShare(s, i, limits[i])
	}
	if s.Skipped > 0 {
		t.warn("%s %s", human.Exact(s.Skipped), larger(s.Skipped, f.oversize))
	}
	if j.BufferWanted > 0 {
		t.warn("%s", smallBuffer(s))
	}
	if f.json {
		return json.NewEncoder(t.stdout).Encode(j)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, with a buffer of %s", counted(s.Packs, "pack"), counted(s.Graphs, "graph"), human.Exact(int64(s.Buffer)))
	for i, name := range components {
		fmt.Fprintf(&b, "; %s full %.2f %%", name, 100*streamShare(s, i, limits[i]))
	}
	b.WriteByte('\n')
	w := t.stdout
	if f.out == "" {
		w = t.stderr // stdout has the packs
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// smallBuffer says what is wrong with a buffer.
func smallBuffer(s *pack.Stream) string {
	return fmt.Sprintf("a buffer of %s is small for packs of %.3g: %.1f %% of their room stayed empty; give --buffer %d or more",
		counted(int64(s.Buffer), "graph"), float64(s.Graphs)/float64(s.Packs), 100*s.Lost(), s.Short())
}

// apart passes sizes on and tells of the graphs that are larger than a pack, by
// their numbers. It ends where tell reports false.
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

// streamShare is how full a component is, against the limit that was given.
func streamShare(s *pack.Stream, component, limit int) float64 {
	if limit == 0 || s.Packs == 0 {
		return 1
	}
	return s.Efficiency(component) * float64(s.Limits[component]) / float64(limit)
}

// sizeStream is the sizes of graphs that come.
type sizeStream struct {
	sizes iter.Seq[[]int]
	where func() string // of the sizes that came last
	err   func() error
	close func() error
	sum   string // the fingerprint, where it is known
	bytes int64  // of the input, 0 for stdin
}

// openStream opens a collection, a file of sizes, or stdin.
func (t *terminal) openStream(path string, components []string) (*sizeStream, error) {
	x := &sizeStream{close: func() error { return nil }, err: func() error { return nil }}
	from, name := t.stdin, "stdin"
	if path != "-" {
		info, err := vfs.OS.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			return x, x.collection(path, components)
		}
		file, err := vfs.OS.Open(path)
		if err != nil {
			return nil, err
		}
		from, name, x.close, x.bytes = file, path, file.Close, info.Size()
	}
	rows, err := collection.NewRows(name, from, components)
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
	if s.Collection == nil {
		return fmt.Errorf("%s: found a store of one graph, expected a collection of many", dir)
	}
	sizes, err := collection.NewSizes(s.Collection, components)
	if err != nil {
		return err
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

// streamRun packs what comes: take gets the packs, alone the graphs that are apart.
type streamRun func(take func([]int64) error, alone func(int64) error) error

// streamLines prints a JSON line a pack, and one a graph that is apart.
func (t *terminal) streamLines(run streamRun) error {
	w := bufio.NewWriter(t.stdout)
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
		return w.Flush() // whoever reads takes packs as they come
	}, func(id int64) error {
		_, err := fmt.Fprintf(w, "{\"alone\":%d}\n", id)
		return err
	})
	return errors.Join(err, w.Flush())
}

// streamFolder writes the arrays of a fill.
func (t *terminal) streamFolder(ctx context.Context, path string, f *packFlags, in *sizeStream, s *pack.Stream, components []string, limits []int, start time.Time, run streamRun) (err error) {
	name := filepath.Base(filepath.Clean(path))
	made := store.Made{Command: "pack --stream", Version: version(), Inputs: map[string]string{}, Options: map[string]string{"limit": strings.Join(f.limits, ","),
		"max_graphs": strconv.Itoa(f.maxGraphs), "buffer": strconv.Itoa(s.Buffer), "oversize": f.oversize, "reserve": strconv.FormatBool(f.reserve)}}
	if path != "-" {
		if err := f.keeps(path); err != nil {
			return err
		}
		if in.sum == "" {
			if in.sum, err = store.Fingerprint(ctx, vfs.OS, path); err != nil {
				return err
			}
		}
		made.Inputs[name] = in.sum
	}
	w, err := store.Create(vfs.OS, f.out, f.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	out, err := collection.NewStreamWriter(w)
	if err != nil {
		return err
	}
	defer closeWith(&err, out.Close)
	if err := run(out.Write, out.Alone); err != nil {
		return err
	}
	if err := errors.Join(out.Finish(s), w.WriteMade(made)); err != nil {
		return err
	}
	if err := w.Seal(ctx, nil, f.threads); err != nil {
		return err
	}
	rep := t.begin("pack", "Packs of "+name, f.common)
	if in.sum != "" {
		rep.Input(name, in.bytes, in.sum)
	}
	rep.Head("packs", report.Count(s.Packs, "packs"))
	rep.In("graphs", report.Count(s.Graphs+s.Skipped, "graphs"))
	rep.Out("packs", report.Count(s.Packs, "packs"))
	rep.Warn(s.Skipped, larger(s.Skipped, f.oversize))
	if s.Short() > 0 {
		rep.Note(smallBuffer(s))
	}
	table := report.Table{Title: "Components", Columns: []string{"component", "limit", "full"}}
	for i, c := range components {
		full := report.Share(streamShare(s, i, limits[i]))
		rep.Head(c+" full", full)
		table.Rows = append(table.Rows, []report.Value{report.Text(c), report.Text(human.Exact(int64(limits[i]))), full})
	}
	rep.Table(table)
	rep.Stage("pack", time.Since(start), s.Graphs, "graphs")
	rep.Finish(time.Since(start))
	html, text, err := render(rep)
	if err != nil {
		return err
	}
	return errors.Join(w.Report(html, text), w.Publish())
}
