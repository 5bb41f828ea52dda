package objects

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/vfs"
)

// A file of a web server that changes while it is read is one version of it or an error, whatever the server says of versions.
func TestWebVersions(t *testing.T) {
	versions := [2][]byte{bytes.Repeat([]byte("a"), 2*blockBytes+7), bytes.Repeat([]byte("b"), 2*blockBytes+7)}
	now := time.Now().UTC().Truncate(time.Second)
	old := now.Add(-time.Hour)
	for _, c := range []struct {
		name  string
		says  func(h http.Header, version int)
		match bool // the server looks at If-Match
		parts bool // ranges are used
	}{
		{"strong tag", func(h http.Header, v int) { h.Set("Etag", fmt.Sprintf(`"%d"`, v)) }, true, true},
		{"strong tag without conditions", func(h http.Header, v int) { h.Set("Etag", fmt.Sprintf(`"%d"`, v)) }, false, true},
		{"weak tag", func(h http.Header, v int) { h.Set("Etag", fmt.Sprintf(`W/"%d"`, v)) }, false, false},
		{"the same weak tag", func(h http.Header, _ int) { h.Set("Etag", `W/"1"`) }, false, false},
		{"nothing", func(http.Header, int) {}, false, false},
		{"old time", func(h http.Header, v int) {
			h.Set("Last-Modified", old.Add(time.Duration(v)*time.Minute).Format(http.TimeFormat))
		}, false, true},
		{"time and weak tag", func(h http.Header, v int) {
			h.Set("Last-Modified", old.Format(http.TimeFormat))
			h.Set("Etag", fmt.Sprintf(`W/"%d"`, v))
		}, false, true},
		{"time of this second", func(h http.Header, _ int) { h.Set("Last-Modified", now.Format(http.TimeFormat)) }, false, false},
	} {
		for change := 2; change <= 4; change++ {
			var requests atomic.Int64
			var ranged atomic.Bool
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				v := 0
				if requests.Add(1) >= int64(change) {
					v = 1
				}
				ranged.Store(ranged.Load() || r.Header.Get("Range") != "bytes=0-0" && r.Header.Get("Range") != "")
				c.says(w.Header(), v)
				w.Header().Set("Date", now.Format(http.TimeFormat))
				if !c.match {
					r.Header.Del("If-Match")
				}
				http.ServeContent(w, r, "x.csv", time.Time{}, bytes.NewReader(versions[v]))
			}))
			f := New("http", Options{Cache: t.TempDir()})
			b, err := vfs.ReadFile(f, s.URL+"/x.csv", 1<<30)
			if err != nil && !errors.Is(err, vfs.ErrChanged) || err == nil && !bytes.Equal(b, versions[0]) && !bytes.Equal(b, versions[1]) {
				t.Errorf("%s, change at request %d: found %d bytes of several versions, %v, expected one version or %v", c.name, change, len(b), err, vfs.ErrChanged)
			}
			if ranged.Load() != c.parts {
				t.Errorf("%s: found ranges %v, expected %v", c.name, ranged.Load(), c.parts)
			}
			s.Close()
		}
	}
}

// What opens a file again gets the version that it opened first, or an error.
func TestWebVersionsOfOpens(t *testing.T) {
	var version atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", fmt.Sprintf(`"%d"`, version.Load()))
		http.ServeContent(w, r, "x.csv", time.Time{}, strings.NewReader(fmt.Sprint("text ", version.Load())))
	}))
	defer s.Close()
	f := vfs.Unchanged(New("http", Options{Cache: t.TempDir()}))
	for range 2 {
		if _, err := vfs.ReadFile(f, s.URL+"/x.csv", 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	version.Add(1)
	if b, err := vfs.ReadFile(f, s.URL+"/x.csv", 1<<20); !errors.Is(err, vfs.ErrChanged) {
		t.Errorf("found %q, %v, expected %v", b, err, vfs.ErrChanged)
	}
}

// An answer that is compressed for the way is refused; a file that is compressed itself is read under its name.
func TestWebEncoding(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("found Accept-Encoding %q, expected identity", got)
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Etag", `"1"`)
		http.ServeContent(w, r, "x", time.Time{}, strings.NewReader("\x1f\x8b..."))
	}))
	defer s.Close()
	f := New("http", Options{Cache: t.TempDir()})
	if b, err := vfs.ReadFile(f, s.URL+"/x.csv.gz", 1<<20); err != nil || string(b) != "\x1f\x8b..." {
		t.Errorf("found %q, %v, expected the bytes", b, err)
	}
	if b, err := vfs.ReadFile(f, s.URL+"/x.csv", 1<<20); !errors.Is(err, errAnswer) || !strings.Contains(err.Error(), "Content-Encoding gzip") {
		t.Errorf("found %q, %v, expected an error", b, err)
	}
}
