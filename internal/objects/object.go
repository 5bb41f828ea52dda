package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

// blockBytes is the part of an object that is fetched by one request.
const blockBytes = 4 << 20

// inFlight is the number of blocks of an object that are fetched at a time where many are wanted, and ahead the number that are
// fetched before a reader that goes on wants them.
const (
	inFlight = 8
	ahead    = 4
)

// object is a version of an object, with the blocks of it that are on the local disk. Open files share it.
type object struct {
	fs      *FS
	at      address
	service service
	version

	mu     sync.Mutex
	file   vfs.File         // the blocks, at their places
	blocks map[int64]*block // that are there or on their way
	users  int              // open files and maps
	last   int64            // block that was read last
}

// block is a part of an object. Its fields belong to the mutex of the object; done is closed after the fetch.
type block struct {
	done chan struct{}
	err  error
	pins int
	kept bool // counted by the cache
}

func (o *object) count() int64 { return (o.size + blockBytes - 1) / blockBytes }

// span is the bytes of block i.
func (o *object) span(i int64) (off, n int64) {
	off = i * blockBytes
	return off, min(blockBytes, o.size-off)
}

// pin fetches block i, if it is not there, and keeps it until unpin. It says whether the cache has room for it.
func (o *object) pin(ctx context.Context, i int64) (ok bool, err error) {
	o.mu.Lock()
	b := o.blocks[i]
	if b != nil {
		b.pins++
		o.mu.Unlock()
		select {
		case <-b.done:
		case <-ctx.Done():
			o.mu.Lock()
			b.pins-- // not the pin of block i, which may be another one by now
			o.mu.Unlock()
			return false, context.Cause(ctx)
		}
		if b.err != nil { // the object has forgotten b
			if errors.Is(b.err, context.Canceled) && ctx.Err() == nil { // the file that fetched it was closed
				return o.pin(ctx, i)
			}
			return false, b.err
		}
		return true, nil
	}
	b = &block{done: make(chan struct{}), pins: 1}
	o.blocks[i] = b
	o.mu.Unlock()
	off, n := o.span(i)
	ok, err = o.fs.cache.take(o, i, n)
	var f vfs.File
	if ok && err == nil {
		b.kept = true
		if f, err = o.local(); err == nil {
			err = fetch(ctx, o.service, o.at.key, o.version, off, n, f)
		}
	}
	if ok && err == nil {
		close(b.done)
		return true, nil
	}
	o.mu.Lock()
	delete(o.blocks, i)
	o.mu.Unlock()
	if b.kept {
		o.fs.cache.give(n)
	}
	if b.err = err; err == nil {
		b.err = errNoRoom
	}
	close(b.done)
	return false, err
}

// errNoRoom says that the cache has no room for a block now.
var errNoRoom = errors.New("the cache is full")

func (o *object) unpin(i int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b := o.blocks[i]; b != nil {
		b.pins--
	}
}

// local is the file of the blocks.
func (o *object) local() (vfs.File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		return o.file, nil
	}
	f, err := o.fs.temp()
	if err != nil {
		return nil, &writeError{err}
	}
	o.file = f
	return f, nil
}

// readAt reads from the blocks, or from the server where the cache is full.
func (o *object) readAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	for len(p) > 0 && off < o.size {
		i := off / blockBytes
		start, size := o.span(i)
		part := p[:min(int64(len(p)), start+size-off)]
		if err := o.readPart(ctx, part, off, i); err != nil {
			return n, err
		}
		n, p, off = n+len(part), p[len(part):], off+int64(len(part))
	}
	if len(p) > 0 {
		return n, io.EOF
	}
	return n, nil
}

// readPart reads bytes of block i.
func (o *object) readPart(ctx context.Context, p []byte, off, i int64) error {
	ok, err := o.pin(ctx, i)
	if err != nil && !errors.Is(err, errNoRoom) {
		return err
	}
	if !ok {
		return fetch(ctx, o.service, o.at.key, o.version, off, int64(len(p)), &atBytes{p, off})
	}
	defer o.unpin(i)
	f, err := o.local()
	if err != nil {
		return err
	}
	if n, err := f.ReadAt(p, off); n < len(p) {
		return errors.Join(io.ErrUnexpectedEOF, err)
	}
	return nil
}

// atBytes writes to the bytes that begin at an offset.
type atBytes struct {
	b   []byte
	off int64
}

// WriteAt implements io.WriterAt.
func (a *atBytes) WriteAt(p []byte, off int64) (int, error) { return copy(a.b[off-a.off:], p), nil }

// next is the blocks to fetch early after a read of block i: those that follow, where reads go forwards.
func (o *object) next(i int64) (from, to int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	forwards := i == o.last+1 || i == 0 && o.last < 0
	o.last = max(i, o.last)
	if i < o.last-inFlight { // another start
		o.last = i
	}
	if !forwards {
		return 0, 0
	}
	return i + 1, min(i+1+ahead, o.count())
}

// all fetches the whole object, which then stays on the disk until release.
func (o *object) all(ctx context.Context) (vfs.File, error) { return o.blocksOf(ctx, 0, o.count()) }

// blocksOf fetches the blocks from one to another, which then stay on the disk until they are unpinned.
func (o *object) blocksOf(ctx context.Context, from, to int64) (_ vfs.File, err error) {
	var mu sync.Mutex
	var pinned []int64
	defer func() {
		if err != nil {
			for _, i := range pinned {
				o.unpin(i)
			}
		}
	}()
	g, ctx := guard.WithContext(ctx)
	g.SetLimit(inFlight)
	for i := from; i < to; i++ {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			ok, err := o.pin(ctx, i)
			if err == nil && !ok || errors.Is(err, errNoRoom) {
				err = o.fs.cache.full(min((to-from)*blockBytes, o.size))
			}
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				pinned = append(pinned, i)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return o.local()
}

// release ends all.
func (o *object) release() {
	for i := range o.count() {
		o.unpin(i)
	}
}

// evict gives the disk space of block i back, if nobody reads it. freed says that it did; gone, that there is no such block.
func (o *object) evict(i int64) (freed, gone bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.blocks[i]
	if b == nil {
		return false, true
	}
	select {
	case <-b.done:
	default:
		return false, false
	}
	if b.pins > 0 || !b.kept || o.file == nil {
		return false, false
	}
	delete(o.blocks, i)
	off, n := o.span(i)
	o.file.Discard(off, n)
	return true, true
}

// empty says whether no block is on the local disk.
func (o *object) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.file == nil
}

// drop gives the disk space of an object without users back, and returns the bytes.
func (o *object) drop() (bytes int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, b := range o.blocks {
		if b.kept {
			_, n := o.span(i)
			bytes += n
		}
	}
	clear(o.blocks)
	if o.file != nil {
		_ = o.file.Close() // a file without a name, of bytes that nobody needs
		o.file = nil
	}
	return bytes
}

// once reads an object that is not read in parts, from its start to its end.
func (o *object) once(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		return nil
	}
	f, err := o.fs.temp()
	if err != nil {
		return err
	}
	n, err := copyAll(ctx, o.service, o.at.key, o.version, f, o.fs.cache.bound)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	o.size, o.file = n, f
	ready := make(chan struct{})
	close(ready)
	for i := range o.count() {
		o.blocks[i] = &block{done: ready}
	}
	return nil
}

// file is an open object.
type file struct {
	*object
	ctx    context.Context
	cancel context.CancelFunc
	early  guard.Group
	mu     sync.Mutex
	pos    int64
}

func (o *object) open() *file {
	ctx, cancel := context.WithCancel(context.Background())
	f := &file{object: o, ctx: ctx, cancel: cancel}
	f.early.SetLimit(ahead)
	return f
}

// named adds the address to an error.
func (o *object) named(err error) error {
	if err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return fmt.Errorf("%s: %w", o.at, err)
}

// Read implements vfs.File.
func (f *file) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.ReadAt(p, f.pos)
	f.pos += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// ReadAt implements vfs.File.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if off >= 0 && off < f.size {
		last := min(off+int64(len(p)), f.size) - 1
		from, to := f.next(last / blockBytes)
		for i := from; i < to; i++ {
			if !f.early.TryGo(func() error {
				if ok, _ := f.pin(f.ctx, i); ok { // who reads the block gets the error
					f.unpin(i)
				}
				return nil
			}) {
				break
			}
		}
	}
	n, err := f.readAt(f.ctx, p, off)
	return n, f.named(err)
}

// ReadRange implements vfs.Remote.
func (f *file) ReadRange(ctx context.Context, b []byte, off int64) error {
	if off < 0 || off > f.size-int64(len(b)) {
		return f.named(fmt.Errorf("bytes %d to %d of %d: %w", off, off+int64(len(b)), f.size, io.ErrUnexpectedEOF))
	}
	if f.whole {
		_, err := f.readAt(ctx, b, off)
		return f.named(err)
	}
	if len(b) == 0 {
		return nil
	}
	return f.named(fetch(ctx, f.service, f.at.key, f.version, off, int64(len(b)), &atBytes{b, off}))
}

// Close implements vfs.File.
func (f *file) Close() error {
	f.cancel()
	err := f.early.Wait()
	f.fs.leave(f.object)
	return err
}

// Map implements vfs.File: it fetches the whole object first.
func (f *file) Map() ([]byte, func() error, error) {
	b, fetch, unmap, err := f.MapLater()
	if err != nil {
		return nil, nil, err
	}
	if err := fetch(f.ctx, 0, f.size); err != nil {
		return nil, nil, errors.Join(err, unmap())
	}
	return b, unmap, nil
}

// MapLater implements vfs.Later.
func (f *file) MapLater() (b []byte, fetch vfs.FetchBytes, unmap func() error, err error) {
	if f.size == 0 {
		return nil, func(context.Context, int64, int64) error { return nil }, func() error { return nil }, nil
	}
	head := make([]byte, min(f.size, vfs.HeadBytes))
	if _, err := f.readAt(f.ctx, head, 0); err != nil {
		return nil, nil, nil, f.named(err)
	}
	b, unreserve, err := vfs.Reserve(f.size, head, f.at.String(), &info{name: f.at.String(), version: f.version})
	if err != nil {
		return nil, nil, nil, err
	}
	o := f.object
	o.fs.enter(o)
	var first, end int64 // blocks that were fetched
	fetch = func(ctx context.Context, from, to int64) error {
		from, to = max(from, 0)/blockBytes, (min(to, o.size)+blockBytes-1)/blockBytes
		if from >= to {
			return nil
		}
		local, err := o.blocksOf(ctx, from, to)
		if err != nil {
			return o.named(err)
		}
		first, end = from, to
		return o.named(vfs.MapOver(b[from*blockBytes:min(to*blockBytes, o.size)], local, from*blockBytes))
	}
	return b, fetch, func() error {
		err := unreserve()
		for i := first; i < end; i++ {
			o.unpin(i)
		}
		o.fs.leave(o)
		return err
	}, nil
}

// MapAt implements vfs.File: it fetches the whole object first.
func (f *file) MapAt(ctx context.Context, b []byte, off int64) (func() error, error) {
	o := f.object
	o.fs.enter(o)
	local, err := o.all(ctx)
	if err != nil {
		o.fs.leave(o)
		return nil, o.named(err)
	}
	unmap := func() error {
		o.release()
		o.fs.leave(o)
		return nil
	}
	if err := vfs.MapOver(b, local, off); err != nil {
		return nil, o.named(errors.Join(err, unmap()))
	}
	return unmap, nil
}

// Name implements vfs.File.
func (f *file) Name() string { return f.at.String() }

// Stat implements vfs.File.
func (f *file) Stat() (fs.FileInfo, error) {
	return &info{name: f.at.String(), version: f.version}, nil
}

var errWhole = fmt.Errorf("%w: objects are written whole", errors.ErrUnsupported)

// Write implements vfs.File: it is an error, as the other methods that write are.
func (f *file) Write([]byte) (int, error) { return 0, f.named(errWhole) }

// WriteAt implements vfs.File.
func (f *file) WriteAt([]byte, int64) (int, error) { return 0, f.named(errWhole) }

// Truncate implements vfs.File.
func (f *file) Truncate(int64) error { return f.named(errWhole) }

// Sync implements vfs.File.
func (f *file) Sync() error { return nil }

// SetDirect implements vfs.File.
func (f *file) SetDirect(on bool) error {
	if on {
		return errors.ErrUnsupported
	}
	return nil
}

// Evict implements vfs.File.
func (f *file) Evict(off, n int64) {
	f.object.mu.Lock()
	local := f.object.file
	f.object.mu.Unlock()
	if local != nil {
		local.Evict(off, n)
	}
}

// Reserve implements vfs.File.
func (f *file) Reserve(int64, int64) {}

// Discard implements vfs.File.
func (f *file) Discard(int64, int64) {}

var (
	_ vfs.Later  = (*file)(nil)
	_ vfs.Remote = (*file)(nil)
)

// info describes an object or a folder.
type info struct {
	name string
	version
	folder bool
}

// Name implements fs.FileInfo.
func (i *info) Name() string { return baseOf(i.name) }

// Size implements fs.FileInfo.
func (i *info) Size() int64 { return max(i.size, 0) }

// Mode implements fs.FileInfo.
func (i *info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// ModTime implements fs.FileInfo.
func (i *info) ModTime() time.Time { return i.mod }

// IsDir implements fs.FileInfo.
func (i *info) IsDir() bool { return i.folder }

// Sys implements fs.FileInfo: it is the tag of the version, a string.
func (i *info) Sys() any { return i.tag }
