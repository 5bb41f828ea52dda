package stages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

// aheadFiles is the number of files of an object store that a task reads at a time, since each request waits for tens of milliseconds.
const aheadFiles = 16

// read reads the records of a task from all files of its inputs, in their order.
func (j *Job) read(ctx context.Context, in *sorter, stage int, task int64) error {
	ahead := 1
	if vfs.SenderOf(j.FS, j.Dir) != nil {
		ahead = aheadFiles
	}
	room := func(key int64, n int) ([]byte, error) { return in.room(0, key, n) }
	for _, input := range j.Stages[stage].Inputs {
		segments := j.segments(input.From)
		first, _ := segments.of(input.For)
		files := &inputFiles{j: j, stage: stage, from: input.From, segment: first + task, segments: segments.count, most: int64(in.memory / aheadFiles)}
		if err := files.readAll(ctx, ahead, room); err != nil {
			return err
		}
	}
	return nil
}

// inputFiles are the files of a stage, as a task reads them.
type inputFiles struct {
	j                 *Job
	stage, from       int   // the stage that reads, and the one of the files
	segment, segments int64 // the number of the segment, and how many there are
	most              int64 // the most bytes of a range
}

// inputFile is an open file, and the first bytes of its segment.
type inputFile struct {
	vfs.File
	place
	head []byte
	err  error
}

// readAll reads the segments of all files in order, and opens as many as ahead at the same time.
func (x *inputFiles) readAll(ctx context.Context, ahead int, room func(key int64, n int) ([]byte, error)) (err error) {
	tasks := x.j.Stages[x.from].Tasks
	if ahead == 1 {
		for t := range tasks {
			if err := x.readFile(ctx, x.open(ctx, t), room); err != nil {
				return err
			}
		}
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	opening := make(chan chan *inputFile, ahead-1)
	var g guard.Group
	g.Go(func() error {
		defer close(opening)
		for t := range tasks {
			opened := make(chan *inputFile, 1)
			select {
			case opening <- opened:
			case <-ctx.Done():
				return nil
			}
			g.Go(func() error {
				opened <- x.open(ctx, t)
				return nil
			})
		}
		return nil
	})
	n := int64(0)
	for opened := range opening {
		f := <-opened
		if err == nil {
			err = x.readFile(ctx, f, room)
		} else if f.File != nil {
			err = errors.Join(err, f.Close())
		}
		if n++; err != nil {
			cancel()
		}
	}
	cancel()
	err = errors.Join(err, g.Wait())
	if err == nil && n < tasks {
		err = context.Cause(ctx)
	}
	return err
}

// open opens the file of a task, and reads the first range of the segment where it is in an object store.
func (x *inputFiles) open(ctx context.Context, t int64) *inputFile {
	if err := ctx.Err(); err != nil {
		return &inputFile{err: context.Cause(ctx)}
	}
	f, err := x.j.FS.Open(x.j.taskFile(x.from, t))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("stage %s: found no records of task %d of stage %s: %w; run all tasks of that stage first", x.j.Stages[x.stage].Name, t, x.j.Stages[x.from].Name, ErrNotWhole)
	}
	if err != nil {
		return &inputFile{err: err}
	}
	r := &inputFile{File: f}
	if r.place, r.err = findSegment(ctx, f, x.segment, x.segments); r.err != nil {
		return r
	}
	if remote, ok := f.(vfs.Remote); ok {
		r.head = make([]byte, min(r.to-r.from, x.most))
		r.err = remote.ReadRange(ctx, r.head, r.from)
	}
	return r
}

// readFile reads the segment of an open file, and closes it.
func (x *inputFiles) readFile(ctx context.Context, f *inputFile, room func(key int64, n int) ([]byte, error)) (err error) {
	if f.File == nil {
		return f.err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if f.err != nil {
		return f.err
	}
	remote, ok := f.File.(vfs.Remote)
	if !ok {
		return parseSegment(f, io.NewSectionReader(f, f.from, f.to-f.from), f.place, room)
	}
	rest := newRanges(ctx, remote, f.from+int64(len(f.head)), f.to, x.most)
	err = parseSegment(f, io.MultiReader(bytes.NewReader(f.head), rest), f.place, room)
	return errors.Join(err, rest.close())
}

// aheadRanges is the number of ranges of one segment that are read at a time.
const aheadRanges = 4

// ranges reads the bytes between two offsets of a file of an object store in ranges, several at a time.
type ranges struct {
	f        vfs.Remote
	at, end  int64 // of the ranges that were not asked for yet
	each     int64
	ctx      context.Context
	cancel   context.CancelFunc
	g        guard.Group
	asked    []chan rangeRead
	now      []byte
	finished error
}

type rangeRead struct {
	b   []byte
	err error
}

func newRanges(ctx context.Context, f vfs.Remote, from, to, each int64) *ranges {
	r := &ranges{f: f, at: from, end: to, each: each}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// Read implements io.Reader.
func (r *ranges) Read(b []byte) (int, error) {
	for len(r.now) == 0 {
		if r.finished != nil {
			return 0, r.finished
		}
		for len(r.asked) < aheadRanges && r.at < r.end {
			part, from := make([]byte, min(r.each, r.end-r.at)), r.at
			done := make(chan rangeRead, 1)
			r.g.Go(func() error {
				done <- rangeRead{part, r.f.ReadRange(r.ctx, part, from)}
				return nil
			})
			r.asked, r.at = append(r.asked, done), r.at+int64(len(part))
		}
		if len(r.asked) == 0 {
			r.finished = io.EOF
			continue
		}
		got := <-r.asked[0]
		r.asked = r.asked[1:]
		if got.err != nil {
			r.finished = got.err
			continue
		}
		r.now = got.b
	}
	n := copy(b, r.now)
	r.now = r.now[n:]
	return n, nil
}

// close ends the requests.
func (r *ranges) close() error {
	r.cancel()
	return r.g.Wait()
}
