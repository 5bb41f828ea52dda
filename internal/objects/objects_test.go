package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) {
	// Connections that wait for the next request end by themselves.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// opened is a file system over the bucket bkt of a new server.
func opened(t *testing.T, cacheSize string) (*FS, *objectstest.Server) {
	s := objectstest.New(t, "bkt")
	f := New("s3", Options{Cache: filepath.Join(t.TempDir(), "cache"), CacheSize: cacheSize, Last: []string{"manifest.json", "manifest.json.xxh3"}})
	return f, s
}

func random(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = r.Read(b)
	return b
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, want, err string }{
		{"s3://b/k", "s3://b/k", ""},
		{"s3:/b/k", "s3://b/k", ""},
		{"s3://b/a//c/", "s3://b/a/c", ""},
		{"s3://b", "s3://b", ""},
		{"s3://b/../c", "", "path out of the bucket"},
		{"s3://b/a/../../c", "", "path out of the bucket"},
		{"s3://", "", "without a bucket"},
		{"s3://key:word@b/k", "", "expected its plain name"},
		{"https://h/x?sig=1", "", "found ? or #"},
		{"s3://b/x?y", "s3://b/x?y", ""},
	} {
		a, err := parse(c.name)
		if c.err == "" && (err != nil || a.String() != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "word")) {
			t.Errorf("%s: found %v, %v", c.name, a, err)
		}
	}
}

// TestRead reads random ranges of objects, in a cache that holds them and in one that does not, from several goroutines.
func TestRead(t *testing.T) {
	for _, bound := range []string{"", "1"} { // "1" means the least cache
		f, s := opened(t, bound)
		data := random(leastCache + 9*blockBytes + 1234)
		s.Put("bkt/dir/x", data)
		s.Put("bkt/empty", nil)
		file, err := f.Open("s3://bkt/dir/x")
		if err != nil {
			t.Fatal(err)
		}
		var g guard.Group
		for seed := range uint64(4) {
			g.Go(func() error {
				r := rand.New(rand.NewPCG(seed, 1))
				for range 40 {
					off := r.Int64N(int64(len(data)) + 10)
					p := make([]byte, r.IntN(2*blockBytes))
					n, err := file.ReadAt(p, off)
					want := data[min(off, int64(len(data))):]
					want = want[:min(len(want), len(p))]
					if !bytes.Equal(p[:n], want) || n < len(p) != errors.Is(err, io.EOF) {
						t.Errorf("at %d: found %d of %d bytes, %v, expected %d", off, n, len(p), err, len(want))
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, data) {
			t.Errorf("found %d bytes, %v, expected %d", len(got), err, len(data))
		}
		if used := f.cache.used; used > f.cache.bound {
			t.Errorf("found %d bytes in the cache, expected at most %d", used, f.cache.bound)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
		b, err := vfs.ReadFile(f, "s3://bkt/empty", 10)
		if len(b) != 0 || err != nil {
			t.Errorf("found %q, %v, expected nothing", b, err)
		}
		if entries, _ := os.ReadDir(f.o.Cache); len(entries) > 0 {
			t.Errorf("found %v in the cache, expected files without names", entries)
		}
	}
}

// TestCacheHolds reads an object of four times the cache again and again: the blocks outside of the transit are fetched once.
func TestCacheHolds(t *testing.T) {
	f, s := opened(t, "1")
	s.Put("bkt/x", random(2*leastCache))
	s.Put("bkt/y", random(10))
	file, err := f.Open("s3://bkt/x")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var got [3]int
	for i := range got {
		before := s.Requests()
		if _, err := io.Copy(io.Discard, io.NewSectionReader(file, 0, 2*leastCache)); err != nil {
			t.Fatal(err)
		}
		got[i] = s.Requests() - before
	}
	blocks, kept := 2*leastCache/blockBytes, (leastCache-transitBytes)/blockBytes
	if got[1] > blocks-kept+ahead+2 {
		t.Errorf("found %v requests per sweep over %d blocks, expected at least %d that stay", got, blocks, kept)
	}
}

// TestFailures reads one object by several files at the same time, some of which are closed early, while every third request fails
// in the small cache: all bytes that are returned are right.
func TestFailures(t *testing.T) {
	f, s := opened(t, "1")
	data := random(leastCache + 3*blockBytes)
	s.Put("bkt/x", data)
	var n atomic.Int64
	s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && n.Add(1)%3 == 0 {
			objectstest.Refuse(w, http.StatusForbidden, "AccessDenied")
			return true
		}
		return false
	}
	var g guard.Group
	var right atomic.Int64
	for seed := range uint64(6) {
		g.Go(func() error {
			r := rand.New(rand.NewPCG(seed, 2))
			for range 8 {
				file, err := f.Open("s3://bkt/x")
				if err != nil {
					return err
				}
				for range 6 {
					off := r.Int64N(int64(len(data)))
					p := make([]byte, min(r.Int64N(blockBytes), int64(len(data))-off))
					switch n, err := file.ReadAt(p, off); {
					case err == nil && n == len(p) && bytes.Equal(p, data[off:off+int64(n)]):
						right.Add(1)
					case !errors.Is(err, fs.ErrPermission):
						t.Errorf("at %d: found %d of %d bytes and %v, expected the bytes or a refusal", off, n, len(p), err)
					}
				}
				if err := file.Close(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if right.Load() == 0 || f.cache.used < 0 || f.cache.used > f.cache.bound {
		t.Errorf("found %d right reads and %d bytes in the cache of %d", right.Load(), f.cache.used, f.cache.bound)
	}
}

// TestLost cuts connections after random numbers of bytes.
func TestLost(t *testing.T) {
	f, s := opened(t, "")
	data := random(5*blockBytes + 77)
	s.Put("bkt/x", data)
	var cuts atomic.Int64
	s.Cut = func(*http.Request) int {
		if n := cuts.Add(1); n < 20 {
			return int(n * 99_991 % blockBytes)
		}
		return 0
	}
	s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && cuts.Load()%5 == 3 {
			cuts.Add(1)
			objectstest.Refuse(w, http.StatusServiceUnavailable, "SlowDown")
			return true
		}
		return false
	}
	b, err := vfs.ReadFile(f, "s3://bkt/x", 1<<30)
	if err != nil || !bytes.Equal(b, data) {
		t.Errorf("found %d bytes, %v, expected %d", len(b), err, len(data))
	}
	if cuts.Load() < 20 {
		t.Errorf("found %d cuts, expected 20", cuts.Load())
	}
}

func TestChanged(t *testing.T) {
	f, s := opened(t, "")
	s.Put("bkt/x", random(3*blockBytes))
	file, err := f.Open("s3://bkt/x")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s.Put("bkt/x", random(3*blockBytes+1))
	if _, err := file.ReadAt(make([]byte, 10), 2*blockBytes); !errors.Is(err, errChanged) || !strings.Contains(err.Error(), "s3://bkt/x: ") {
		t.Errorf("found %v, expected %v", err, errChanged)
	}
	again, err := f.Open("s3://bkt/x")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := again.ReadAt(make([]byte, 10), 2*blockBytes); err != nil {
		t.Errorf("found %v for the new version", err)
	}
}

// TestRefused looks at the errors of the server: they say what to do and no secret.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		status     int
		code, want string
		kind       error
	}{
		{403, "AccessDenied", "denies access; give credentials", fs.ErrPermission},
		{403, "InvalidAccessKeyId", "does not take the credentials (InvalidAccessKeyId)", fs.ErrPermission},
		{403, "SignatureDoesNotMatch", "does not take the credentials", fs.ErrPermission},
		{403, "RequestTimeTooSkewed", "set the clock", fs.ErrPermission},
		{404, "NoSuchKey", "", fs.ErrNotExist},
		{404, "NoSuchBucket", "no such bucket", errAnswer},
		{301, "PermanentRedirect", "set AWS_REGION", errRedirect},
		{400, "InvalidRequest", "the server says 400 InvalidRequest", errAnswer},
	} {
		f, s := opened(t, "")
		s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Location", "http://elsewhere.invalid/")
			objectstest.Refuse(w, c.status, c.code)
			return true
		}
		_, err := f.ReadDir("s3://bkt/x")
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "s3://bkt/x") || strings.Contains(err.Error(), "secret-word") || strings.Contains(err.Error(), "AKIDTEST") {
			t.Errorf("%s: found %v, expected %q", c.code, err, c.want)
		}
		if n := s.Requests(); n > 2 {
			t.Errorf("%s: found %d requests, expected one: another try would not help", c.code, n)
		}
	}
}

// TestMap maps an object, at once and later.
func TestMap(t *testing.T) {
	f, s := opened(t, "")
	data := random(2*blockBytes + 100)
	s.Put("bkt/x", data)
	file, err := f.Open("s3://bkt/x")
	if err != nil {
		t.Fatal(err)
	}
	b, fetch, unmap, err := file.(vfs.Later).MapLater()
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b[:vfs.HeadBytes], data[:vfs.HeadBytes]) {
		t.Error("found another head")
	}
	err = guard.Do(func() error {
		_ = bytes.Clone(b[blockBytes:])
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "s3://bkt/x: byte ") {
		t.Errorf("found %v, expected an error about bytes that are not there", err)
	}
	if err := fetch(context.Background(), 0, int64(len(data))); err != nil || !bytes.Equal(b, data) {
		t.Errorf("found other bytes, or %v", err)
	}
	if err := unmap(); err != nil {
		t.Error(err)
	}
	large := leastCache + 1
	f, s = opened(t, "1")
	s.Put("bkt/x", random(large))
	file, err = f.Open("s3://bkt/x")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, _, err := file.Map(); err == nil || !strings.Contains(err.Error(), "GRAPHMILL_CACHE_SIZE") {
		t.Errorf("found %v, expected that the cache is too small", err)
	}
	if _, err := file.ReadAt(make([]byte, 10), int64(large-10)); err != nil {
		t.Errorf("found %v after a map that did not fit", err)
	}
}

// write makes a folder of files through the staging folder, as package store does.
func write(t *testing.T, f *FS, dir string, files map[string]string) {
	t.Helper()
	if err := f.Mkdir(dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := f.MkdirAll(dir + "/" + filepath.Dir(name)); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteFile(f, dir+"/"+name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPublish(t *testing.T) {
	f, s := opened(t, "")
	files := map[string]string{"manifest.json": "m", "manifest.json.xxh3": "x", "a": "1", "sub/manifest.json": "no", "sub/b": strings.Repeat("long", 9<<20)}
	write(t, f, "s3:/bkt/p/.out.partial", files)
	var mu sync.Mutex
	var sent []string
	lost := map[string]bool{}
	s.Lose = func(r *http.Request) bool { // the first answer for each object
		mu.Lock()
		defer mu.Unlock()
		was := lost[r.URL.Path]
		lost[r.URL.Path] = true
		return !was
	}
	s.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && !r.URL.Query().Has("uploadId") {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, strings.TrimPrefix(r.URL.Path, "/bkt/p/out/"))
		}
		return false
	}
	if err := f.Rename("s3:/bkt/p/.out.partial", "s3:/bkt/p/out"); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if got, _ := s.Get("bkt/p/out/" + name); string(got) != text {
			t.Errorf("%s: found %d bytes, expected %d", name, len(got), len(text))
		}
	}
	sent = slices.Compact(sent) // tries
	if len(sent) < 2 || !slices.Equal(sent[len(sent)-2:], []string{"manifest.json", "manifest.json.xxh3"}) {
		t.Errorf("found %v sent, expected the manifest last", sent)
	}
	if entries, err := f.ReadDir("s3://bkt/p/out"); err != nil || len(entries) != 4 {
		t.Errorf("found %v, %v, expected four names", entries, err)
	}
	if _, err := os.Stat(filepath.Join(f.o.Cache, "staging/s3/bkt/p/.out.partial")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found the staging folder, %v", err)
	}
	// Another run with the same output comes second.
	write(t, f, "s3:/bkt/p/.out.partial", map[string]string{"manifest.json": "other", "c": "3"})
	if err := f.Rename("s3:/bkt/p/.out.partial", "s3:/bkt/p/out"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("found %v, expected that the output exists", err)
	}
	if got, _ := s.Get("bkt/p/out/manifest.json"); string(got) != "m" {
		t.Errorf("found the manifest %q, expected that of the first run", got)
	}
	// A replacement leaves no file of the old output.
	if err := f.Exchange("s3:/bkt/p/.out.partial", "s3:/bkt/p/out"); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Names(), []string{"bkt/p/out/c", "bkt/p/out/manifest.json"}; !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
}

// TestPublishFails fails each request of a publication in turn: nothing that looks whole is left.
func TestPublishFails(t *testing.T) {
	for at := int64(1); at < 50; at++ {
		f, s := opened(t, "")
		write(t, f, "s3:/bkt/.out.partial", map[string]string{"manifest.json": "m", "a": "1", "b": "2"})
		var n atomic.Int64
		s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodDelete || n.Add(1) != at {
				return false
			}
			objectstest.Refuse(w, http.StatusForbidden, "AccessDenied")
			return true
		}
		err := f.Rename("s3:/bkt/.out.partial", "s3:/bkt/out")
		if err == nil {
			if at < 3 {
				t.Fatalf("found no error where request %d fails", at)
			}
			return
		}
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("request %d: found %v", at, err)
		}
		if got := s.Names(); len(got) > 0 {
			t.Errorf("request %d: found %v, expected nothing", at, got)
		}
	}
}

// TestFolders compares lists and descriptions with a folder of the disk.
func TestFolders(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, s := opened(t, "")
		dir := t.TempDir()
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c]{1,2}(/[a-c]{1,2}){0,2}`), 1, 20, rapid.ID[string]).Draw(rt, "names") {
			path := filepath.Join(dir, name)
			if os.MkdirAll(filepath.Dir(path), 0o755) == nil && os.WriteFile(path, []byte(name), 0o644) == nil {
				s.Put("bkt/g/"+name, []byte(name))
			}
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path == dir {
				return err
			}
			name := "s3:/bkt/g/" + filepath.ToSlash(strings.TrimPrefix(path, dir+"/"))
			info, err := f.Stat(name)
			if err != nil || info.IsDir() != d.IsDir() || info.Name() != d.Name() {
				rt.Errorf("%s: found %v, %v", name, info, err)
			}
			if !d.IsDir() {
				return nil
			}
			want, err := os.ReadDir(path)
			if err != nil {
				return err
			}
			got, err := f.ReadDir(name)
			if err != nil {
				return err
			}
			if !slices.EqualFunc(got, want, func(a, b fs.DirEntry) bool { return a.Name() == b.Name() && a.IsDir() == b.IsDir() }) {
				rt.Errorf("%s: found %v, expected %v", name, got, want)
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// TestWeb reads from a web server with ranges and from one without.
func TestWeb(t *testing.T) {
	data := random(blockBytes + 5)
	for _, ranges := range []bool{true, false} {
		s := objectstest.New(t, "bkt")
		s.Put("bkt/x.csv", data)
		s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case r.URL.Path == "/bkt/away":
				http.Redirect(w, r, "http://elsewhere.invalid/x", http.StatusFound)
				return true
			case r.URL.Path == "/bkt/empty":
				w.Header().Set("Content-Range", "bytes */0")
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return true
			case !ranges:
				r.Header.Del("Range")
			}
			return false
		}
		f := New("http", Options{Cache: t.TempDir()})
		host := strings.TrimPrefix(s.URL, "http://")
		b, err := vfs.ReadFile(f, "http:/"+host+"/bkt/x.csv", 1<<30)
		if err != nil || !bytes.Equal(b, data) {
			t.Errorf("ranges %v: found %d bytes, %v, expected %d", ranges, len(b), err, len(data))
		}
		if b, err := vfs.ReadFile(f, "http://"+host+"/bkt/empty", 1); err != nil || len(b) != 0 {
			t.Errorf("found %d bytes, %v, expected none of an empty file", len(b), err)
		}
		if _, err := f.Open("http://" + host + "/bkt/away"); !errors.Is(err, errRedirect) || !strings.Contains(err.Error(), "elsewhere.invalid") {
			t.Errorf("found %v, expected a redirect that is not followed", err)
		}
		if err := f.Mkdir("http://" + host + "/bkt/.out.partial"); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("found %v, expected that nothing is written", err)
		}
		if _, err := f.Stat("http://" + host + "/bkt/none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("found %v, expected that it is not there", err)
		}
	}
}

// An address where no server answers is an error that says what to do.
func TestNoServer(t *testing.T) {
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	err := failed("stat", address{scheme: "http", bucket: "h", key: "x.csv"}, dial)
	if want := "stat http://h/x.csv: the server does not answer: dial tcp: connection refused; correct the address, or try again later"; err.Error() != want || !errors.Is(err, dial) {
		t.Errorf("found %v, expected %s", err, want)
	}
}

// A list whose answer is cut is asked for again: where its length was told, and where it was not.
func TestCutList(t *testing.T) {
	for _, told := range []bool{true, false} {
		f, s := opened(t, "")
		answers := 0
		s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("list-type") == "" {
				return false
			}
			const answer = `<ListBucketResult><Contents><Key>g/x</Key><LastModified>2026-01-01T00:00:00Z</LastModified></Contents></ListBucketResult>`
			if told {
				w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
			}
			if answers++; answers > 2 {
				fmt.Fprint(w, answer)
				return true
			}
			fmt.Fprint(w, answer[:40])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		entries, err := f.ReadDir("s3://bkt/g")
		if err != nil || len(entries) != 1 || entries[0].Name() != "x" || answers != 3 {
			t.Errorf("length told %v: found %v, %v after %d answers, expected one file after 3", told, entries, err, answers)
		}
	}
}

// A list that never ends is an error: a server that gives the same token again would be asked for ever.
func TestEndlessList(t *testing.T) {
	for _, tokens := range []int{1, 2} {
		f, s := opened(t, "")
		pages := 0
		s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("list-type") == "" {
				return false
			}
			pages++
			fmt.Fprintf(w, `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken><Contents><Key>g/x</Key><LastModified>2026-01-01T00:00:00Z</LastModified></Contents></ListBucketResult>`, pages%tokens)
			return true
		}
		if _, err := f.ReadDir("s3://bkt/g"); !errors.Is(err, errAnswer) || !strings.Contains(err.Error(), "goes on at a place where it has been") {
			t.Errorf("%d tokens: found %v after %d pages, expected an error", tokens, err, pages)
		}
	}
}
