package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/vfs"
)

// web is a web server.
type web struct {
	scheme, host string
	client       *http.Client
}

func newWeb(scheme, host string) *web {
	return &web{scheme, host, &http.Client{Transport: transport(), CheckRedirect: func(to *http.Request, via []*http.Request) error {
		if to.URL.Host != host || to.URL.Scheme != scheme || len(via) > 10 {
			return fmt.Errorf("%s: %w", to.URL.Host, errRedirect)
		}
		return nil
	}}}
}

// noBytes is the Content-Range of a file that is empty, so that it has not even a first byte.
const noBytes = "bytes */0"

// errAnswer is the kind of an answer that another try would not change.
var errAnswer = errors.New("found an answer that cannot be used")

func (s *web) do(ctx context.Context, method, key string, v version, from, n int64) (*http.Response, error) {
	u := url.URL{Scheme: s.scheme, Host: s.host, Path: "/" + key}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+n-1))
	}
	if strong(v.tag) {
		req.Header.Set("If-Match", v.tag)
	}
	req.Header.Set("Accept-Encoding", "identity")
	r, err := s.client.Do(req)
	if err != nil {
		if e := (*url.Error)(nil); errors.As(err, &e) {
			err = e.Err // its text has the address, which callers add
		}
		return nil, err
	}
	encoding := r.Header.Get("Content-Encoding")
	switch code := r.StatusCode; {
	case code < 300 && !plain(encoding, key):
		err = fmt.Errorf("%w: Content-Encoding %s, expected the bytes of the file; serve it without, or under a name that ends in .gz or .zst", errAnswer, encoding)
	case code == http.StatusOK || code == http.StatusPartialContent, code == http.StatusRequestedRangeNotSatisfiable && r.Header.Get("Content-Range") == noBytes:
		return r, nil
	case code == http.StatusNotFound || code == http.StatusGone:
		err = fs.ErrNotExist
	case code == http.StatusPreconditionFailed:
		err = errChanged
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		err = fmt.Errorf("%w: the server says %s", fs.ErrPermission, r.Status)
	case code >= 500 || code == http.StatusTooManyRequests:
		err = fmt.Errorf("the server says %s", r.Status)
	default:
		err = fmt.Errorf("%w: the server says %s", errAnswer, r.Status)
	}
	return nil, errors.Join(err, r.Body.Close())
}

// plain says whether an answer has the bytes of the file. Some servers call a file that is compressed itself an encoded one.
func plain(encoding, key string) bool {
	switch strings.ToLower(encoding) {
	case "", "identity":
		return true
	case "gzip", "x-gzip":
		return strings.HasSuffix(key, ".gz")
	case "zstd":
		return strings.HasSuffix(key, ".zst")
	}
	return false
}

// strong says whether equal tags mean equal bytes. Several versions may share a weak tag, or have none.
func strong(tag string) bool { return len(tag) > 1 && tag[0] == '"' }

// settled says whether a time of change tells versions apart: it counts seconds, so it does once its second is over.
func settled(mod time.Time, answer http.Header) bool {
	date, err := http.ParseTime(answer.Get("Date"))
	return err == nil && !mod.IsZero() && date.Sub(mod) >= 2*time.Second
}

// head implements service. It reads the first byte, since not all servers answer HEAD, and what HEAD says of ranges may be wrong.
func (s *web) head(ctx context.Context, key string) (v version, err error) {
	var r *http.Response
	for n := 1; ; n++ {
		r, err = s.do(ctx, http.MethodGet, key, version{}, 0, 1)
		if err == nil {
			break
		}
		if n == tries || final(err) || ctx.Err() != nil {
			return v, because(ctx, err)
		}
		if err := Pause(ctx, n); err != nil {
			return v, err
		}
	}
	v.mod, _ = http.ParseTime(r.Header.Get("Last-Modified")) // the zero time where it is not known
	v.tag = r.Header.Get("Etag")
	switch r.StatusCode {
	case http.StatusRequestedRangeNotSatisfiable:
		v.size = 0
	case http.StatusPartialContent:
		if _, err := fmt.Sscanf(r.Header.Get("Content-Range"), "bytes 0-0/%d", &v.size); err != nil {
			err = fmt.Errorf("%w: Content-Range %q, expected the size of the file", errAnswer, r.Header.Get("Content-Range"))
			return v, errors.Join(err, r.Body.Close())
		}
	default:
		v.size, v.whole = r.ContentLength, true
	}
	v.whole = v.whole || v.size > 0 && !strong(v.tag) && !settled(v.mod, r.Header) // parts could come from two versions
	return v, r.Body.Close()
}

// read implements service.
func (s *web) read(ctx context.Context, key string, v version, off, n int64) (io.ReadCloser, error) {
	if v.whole {
		r, err := s.do(ctx, http.MethodGet, key, v, 0, 0)
		if err != nil {
			return nil, err
		}
		if r.StatusCode != http.StatusOK || v.size >= 0 && r.ContentLength >= 0 && r.ContentLength != v.size {
			return nil, errors.Join(errChanged, r.Body.Close())
		}
		if _, err := io.CopyN(io.Discard, r.Body, off); err != nil {
			return nil, errors.Join(err, r.Body.Close())
		}
		return r.Body, nil
	}
	r, err := s.do(ctx, http.MethodGet, key, v, off, n)
	if err != nil {
		return nil, err
	}
	want := fmt.Sprintf("bytes %d-%d/%d", off, off+n-1, v.size)
	if got := r.Header.Get("Content-Range"); got != want || r.StatusCode != http.StatusPartialContent {
		err := fmt.Errorf("%w (%s %q for %q)", errChanged, r.Status, got, want)
		return nil, errors.Join(err, r.Body.Close())
	}
	mod, err := http.ParseTime(r.Header.Get("Last-Modified"))
	if tag := r.Header.Get("Etag"); err == nil && !mod.Equal(v.mod) || strong(v.tag) && tag != v.tag && tag != "" || !strong(v.tag) && (err != nil || tag != v.tag) {
		return nil, errors.Join(errChanged, r.Body.Close())
	}
	return r.Body, nil
}

// list implements service: a web server has no lists.
func (s *web) list(context.Context, string, bool, func(entry) error) error { return nil }

// write implements service.
func (s *web) write(context.Context, string, vfs.File, int64, bool) error { return errReadOnly }

// remove implements service.
func (s *web) remove(context.Context, string) error { return errReadOnly }

var _ service = (*web)(nil)

// swap implements service.
func (s *web) swap(context.Context, string, []byte, string) error { return errReadOnly }

// abandon implements service.
func (s *web) abandon(context.Context, string) {}
