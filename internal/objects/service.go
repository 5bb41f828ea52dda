package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"time"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/vfs"
)

// service is a server that holds objects. Its errors are fs.ErrNotExist where there is no object, and name no credentials.
type service interface {
	// head describes an object.
	head(ctx context.Context, key string) (version, error)
	// read begins to read n bytes of a version from an offset. The caller closes the result.
	read(ctx context.Context, key string, v version, off, n int64) (io.ReadCloser, error)
	// list calls f with the keys that begin with prefix, in order. Without deep, a folder is one entry whose key ends in a slash.
	list(ctx context.Context, prefix string, deep bool, f func(entry) error) error
	// write makes an object of a file. With only, it is an error that wraps fs.ErrExist if there is one.
	// It is checked before for a large file, because servers need not know that condition of an upload in parts; so only a lock keeps others out.
	write(ctx context.Context, key string, f vfs.File, size int64, only bool) error
	// copyObject makes an object of a version of another one of the bucket, without its bytes on the way; only is as for write. Where the server knows no copies, the error is
	// errors.ErrUnsupported.
	copyObject(ctx context.Context, from string, v version, key string, only bool) error
	// swap makes a small object in the place of the state with a tag, or with an empty one where there is none. Else the error wraps fs.ErrExist, as far as the server knows
	// the condition of a state.
	swap(ctx context.Context, key string, data []byte, tag string) error
	// abandon ends the uploads below a prefix that were begun and not ended, as far as the server and the credentials allow.
	abandon(ctx context.Context, prefix string)
	// remove removes an object, if it is there.
	remove(ctx context.Context, key string) error
}

// version is a state of an object.
type version struct {
	size int64 // -1: not known
	tag  string
	mod  time.Time
	// whole objects are read from their start to their end: the server gives no parts, or nothing tells whether two parts belong to one version.
	whole bool
}

// entry is an object or a folder of a list.
type entry struct {
	key string
	version
}

var (
	errChanged  = vfs.ErrChanged
	errReadOnly = fmt.Errorf("%w: a web server is only read; write to s3:// or gs://, or to a local folder", errors.ErrUnsupported)
	errRedirect = errors.New("found a redirect to another host, expected the file itself; give its own address")
)

// The patience with servers.
const (
	connectTime = 10 * time.Second
	answerTime  = 60 * time.Second
	// stallTime is the longest time without a byte in an answer.
	stallTime = 30 * time.Second
	// tries is the number of requests that fail one after the other before an error is given up on.
	tries = 8
)

// transport makes connections. HTTPS_PROXY and the like mean what they mean for other programs.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: connectTime}).DialContext,
		TLSHandshakeTimeout:   connectTime,
		ResponseHeaderTimeout: answerTime,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       stallTime,
		DisableCompression:    true,
		ForceAttemptHTTP2:     false, // one connection would share its window among all ranges
	}
}

// Pause waits before try number n of a request, counted from 1. It returns the cause of a context that is done.
func Pause(ctx context.Context, n int) error {
	return sleep(ctx, min(100*time.Millisecond<<n, 2*time.Second))
}

// fetch reads n bytes of an object from an offset to w. A connection that is lost goes on at its byte.
func fetch(ctx context.Context, s service, key string, v version, off, n int64, w io.WriterAt) error {
	buf := make([]byte, 256<<10)
	for failed := 0; ; {
		got, err := part(ctx, s, key, v, off, n, w, buf)
		off, n = off+got, n-got
		switch {
		case n == 0:
			return nil
		case err == nil:
			err = io.ErrUnexpectedEOF
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case final(err):
			return err
		}
		if got > 0 {
			failed = 0
		}
		if failed++; failed == tries {
			return fmt.Errorf("byte %d: %w", off, err)
		}
		if err := Pause(ctx, failed); err != nil {
			return err
		}
	}
}

// final says whether another try would have the same error.
func final(err error) bool {
	var w *writeError
	return errors.Is(err, errChanged) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errRedirect) || errors.Is(err, errAnswer) || errors.As(err, &w)
}

// writeError is an error of the local disk.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// part is one request of fetch, and returns how many bytes it got.
func part(ctx context.Context, s service, key string, v version, off, n int64, w io.WriterAt, buf []byte) (got int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(answerTime, func() { cancel(fmt.Errorf("found no byte for %s", stallTime)) })
	defer stalled.Stop()
	r, err := s.read(ctx, key, v, off, n)
	if err != nil {
		return 0, because(ctx, err)
	}
	defer func() { _ = r.Close() }() // what was read is checked by its length
	for got < n {
		stalled.Reset(stallTime)
		k, err := r.Read(buf[:min(int64(len(buf)), n-got)])
		if k > 0 {
			if _, err := w.WriteAt(buf[:k], off+got); err != nil {
				return got, &writeError{err}
			}
			got += int64(k)
		}
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, because(ctx, err)
		}
	}
	return got, nil
}

// because prefers the cause of a context to the error that followed from it.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// copyAll reads a whole object to w, at most limit bytes, and returns their number.
func copyAll(ctx context.Context, s service, key string, v version, w io.WriterAt, limit int64) (n int64, err error) {
	for failed := 1; ; failed++ {
		r, err := s.read(ctx, key, v, 0, 0)
		if err == nil {
			n, err = io.Copy(io.NewOffsetWriter(w, 0), io.LimitReader(r, limit+1))
			_ = r.Close() // what was read is checked by its length
			switch {
			case err == nil && n > limit:
				return n, fmt.Errorf("found more than %s of a server without ranges or without a strong ETag, expected room in the cache; set GRAPHMILL_CACHE_SIZE to more", human.Bytes(limit))
			case err == nil && v.size >= 0 && n != v.size:
				err = io.ErrUnexpectedEOF
			case err == nil:
				return n, nil
			}
		}
		if ctx.Err() != nil || final(err) || failed == tries {
			return n, because(ctx, err)
		}
		if err := Pause(ctx, failed); err != nil {
			return n, err
		}
	}
}
