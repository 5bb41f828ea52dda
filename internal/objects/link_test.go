package objects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/graphmill/graphmill/internal/objects/objectstest"
)

// TestLink publishes folders with files that stand for objects: the server copies these, whatever requests fail, and where it cannot, this machine does.
func TestLink(t *testing.T) {
	data := random(100_000)
	for name, c := range map[string]struct {
		set    func(s *objectstest.Server)
		copied bool
	}{
		"a server":                    {func(*objectstest.Server) {}, true},
		"a careless server":           {func(s *objectstest.Server) { s.Careless = true }, true},
		"a server without copies":     {func(s *objectstest.Server) { s.NoCopies = true }, false},
		"a server that loses answers": {func(s *objectstest.Server) { s.Lose = func(*http.Request) bool { return s.Copied() == 1 } }, true},
		"a server with faults": {func(s *objectstest.Server) {
			var n atomic.Int64
			s.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
				if n.Add(1)%3 != 0 {
					return false
				}
				objectstest.Refuse(w, http.StatusInternalServerError, "InternalError")
				return true
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f, s := opened(t, "")
			s.Put("bkt/work/x ä+", data)
			c.set(s)
			write(t, f, "s3:/bkt/.out.partial", map[string]string{"manifest.json": "m"})
			if err := f.Link("s3:/bkt/work/x ä+", "s3:/bkt/.out.partial/a/x"); err != nil {
				t.Fatal(err)
			}
			if info, err := f.Stat("s3:/bkt/.out.partial/a/x"); err != nil || info.Size() != int64(len(data)) {
				t.Errorf("found %v, %v, expected %d bytes", info, err, len(data))
			}
			if b := readAll(t, f, "s3:/bkt/.out.partial/a/x"); !bytes.Equal(b, data) {
				t.Errorf("found %d other bytes before it is sent", len(b))
			}
			if err := f.Link("s3:/bkt/work/x ä+", "s3:/bkt/.out.partial/a/x"); !errors.Is(err, fs.ErrExist) {
				t.Errorf("found %v, expected that the name is taken", err)
			}
			if err := f.Rename("s3:/bkt/.out.partial", "s3:/bkt/.out.other"); err != nil {
				t.Fatal(err)
			}
			if err := f.Rename("s3:/bkt/.out.other", "s3:/bkt/out"); err != nil {
				t.Fatal(err)
			}
			if got, _ := s.Get("bkt/out/a/x"); !bytes.Equal(got, data) {
				t.Errorf("found %d other bytes", len(got))
			}
			if (s.Copied() > 0) != c.copied && !s.NoCopies {
				t.Errorf("found %d copies", s.Copied())
			}
			if len(f.links) > 0 {
				t.Errorf("found %v, expected no links of files that are gone", f.links)
			}
		})
	}
}

// TestLinkFails checks that nothing is published where the object is another one by then, is gone, or the server does not know copies and does not say so.
func TestLinkFails(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *FS, s *objectstest.Server) error
		want   error
	}{
		"changed": {func(_ *FS, s *objectstest.Server) error { s.Put("bkt/x", []byte("another")); return nil }, errChanged},
		"gone":    {func(f *FS, _ *objectstest.Server) error { return f.Remove("s3:/bkt/x") }, fs.ErrNotExist},
		"deaf":    {func(_ *FS, s *objectstest.Server) error { s.Deaf = true; return nil }, errAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			f, s := opened(t, "")
			s.Put("bkt/x", []byte("the bytes"))
			if err := f.Link("s3:/bkt/x", "s3:/bkt/.out.partial/x"); err != nil {
				t.Fatal(err)
			}
			if err := c.change(f, s); err != nil {
				t.Fatal(err)
			}
			if err := f.Rename("s3:/bkt/.out.partial", "s3:/bkt/out"); !errors.Is(err, c.want) {
				t.Errorf("found %v, expected %v", err, c.want)
			}
			if left := s.Names(); slices.Contains(left, "bkt/out/x") {
				t.Errorf("found %v", left)
			}
		})
	}
	f, s := opened(t, "")
	s.Put("bkt/x", []byte("the bytes"))
	for _, to := range []string{"s3:/bkt/out/x", "s3:/other/.out.partial/x"} {
		if err := f.Link("s3:/bkt/x", to); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: found %v, expected that it is not supported", to, err)
		}
	}
	if err := f.Link("s3:/bkt/none", "s3:/bkt/.out.partial/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, expected that there is no such object", err)
	}
}

// TestLinkIsReplaced checks that a file in the place of a link is its own, and that a link follows a staged folder that changes places with another.
func TestLinkIsReplaced(t *testing.T) {
	f, s := opened(t, "")
	s.Put("bkt/a", []byte("old a"))
	s.Put("bkt/b", []byte("old b"))
	for _, name := range []string{"a", "b"} {
		if err := f.Link("s3:/bkt/"+name, "s3:/bkt/.one/"+name); err != nil {
			t.Fatal(err)
		}
	}
	if file, err := f.Reopen("s3:/bkt/.one/b", 3); err == nil {
		t.Errorf("found that %s is written, expected an error: an object is whole", file.Name())
	}
	if err := f.Remove("s3:/bkt/.one/b"); err != nil {
		t.Fatal(err)
	}
	file, err := f.Create("s3:/bkt/.one/b")
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write([]byte("new b"))
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	write(t, f, "s3:/bkt/.two", map[string]string{"a": "mine"})
	if err := f.Exchange("s3:/bkt/.one", "s3:/bkt/.two"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{".one/a": "mine", ".two/a": "old a", ".two/b": "new b"} {
		if b := readAll(t, f, "s3:/bkt/"+name); string(b) != want {
			t.Errorf("%s: found %q, expected %q", name, b, want)
		}
	}
	if err := f.RemoveAll("s3:/bkt/.two"); err != nil || len(f.links) > 0 {
		t.Errorf("found %v, %v, expected no links", f.links, err)
	}
}

// readAll reads a file.
func readAll(t *testing.T, f *FS, name string) []byte {
	t.Helper()
	file, err := f.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestLinksTogether checks that a server gets several requests for copies at a time: outputs of clusters have thousands of files.
func TestLinksTogether(t *testing.T) {
	const files, together = 40, 8
	f, s := opened(t, "")
	all := make(chan struct{}) // closed when as many requests as together wait for answers
	var waiting atomic.Int64
	var once sync.Once
	s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("X-Amz-Copy-Source") == "" {
			return false
		}
		if waiting.Add(1) == together {
			once.Do(func() { close(all) })
		}
		select {
		case <-all:
			return false
		case <-r.Context().Done(): // the client gave up, and fewer wait
			waiting.Add(-1)
			objectstest.Refuse(w, http.StatusForbidden, "AccessDenied")
			return true
		}
	}
	write(t, f, "s3:/bkt/.out.partial", map[string]string{"manifest.json": "m"})
	for i := range files {
		name := fmt.Sprint(i)
		s.Put("bkt/work/"+name, []byte(name))
		if err := f.Link("s3:/bkt/work/"+name, "s3:/bkt/.out.partial/"+name); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Rename("s3:/bkt/.out.partial", "s3:/bkt/out"); err != nil {
		t.Fatal(err)
	}
	if s.Copied() != files {
		t.Errorf("found %d copies, expected %d", s.Copied(), files)
	}
}
