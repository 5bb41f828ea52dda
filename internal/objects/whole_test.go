package objects

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestWriteWhole makes files by several goroutines at the same time, while requests fail and answers are lost: one has each file, with its bytes, and no
// half of one is ever seen.
func TestWriteWhole(t *testing.T) {
	for _, careless := range []bool{false, true} {
		f, s := opened(t, "")
		s.Careless = careless
		var n atomic.Int64
		s.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
			if n.Add(1)%3 != 1 {
				return false
			}
			objectstest.Refuse(w, http.StatusInternalServerError, "InternalError")
			return true
		}
		s.Lose = func(*http.Request) bool { return n.Load()%2 == 0 }
		var g guard.Group
		files := map[string][]byte{"empty": nil, "small": random(1000), "parts": random(partBytes + 5)}
		for range 3 {
			for name, data := range files {
				g.Go(func() error {
					return vfs.WriteWhole(f, "s3://bkt/work/"+name, func(to vfs.File) error {
						_, err := to.Write(data)
						return err
					})
				})
			}
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		for name, data := range files {
			if got, ok := s.Get("bkt/work/" + name); !ok || !bytes.Equal(got, data) {
				t.Errorf("%s: found %d bytes, expected %d", name, len(got), len(data))
			}
		}
		if left, _ := os.ReadDir(f.o.Cache); len(left) > 0 {
			t.Errorf("found %v in the cache, expected files without names", left)
		}
	}
}

// A file whose writer fails is not made, one that is there stays, and WriteFile replaces it.
func TestWriteWholeOnce(t *testing.T) {
	f, s := opened(t, "")
	text := func(text string, err error) func(vfs.File) error {
		return func(to vfs.File) error {
			_, wrote := to.Write([]byte(text))
			return errors.Join(wrote, err)
		}
	}
	full := errors.New("the disk is full")
	if err := vfs.WriteWhole(f, "s3://bkt/x", text("half", full)); !errors.Is(err, full) || len(s.Names()) > 0 {
		t.Errorf("found %v and %v, expected no file", err, s.Names())
	}
	for range 2 {
		if err := vfs.WriteWhole(f, "s3://bkt/x", text("first", nil)); err != nil {
			t.Fatal(err)
		}
	}
	if err := vfs.WriteWhole(f, "s3://bkt/x", text("other", nil)); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.Get("bkt/x"); string(got) != "first" {
		t.Errorf("found %q, expected the first file", got)
	}
	if err := vfs.WriteFile(f, "s3://bkt/x", []byte("third")); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.Get("bkt/x"); string(got) != "third" {
		t.Errorf("found %q, expected the replacement", got)
	}
	if err := vfs.WriteWhole(f, "s3://bkt", text("x", nil)); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("found %v, expected that a bucket is no file", err)
	}
	web := New("https", Options{Cache: t.TempDir()})
	if err := vfs.WriteWhole(web, "https://host.invalid/x", text("x", nil)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("found %v, expected that nothing is written", err)
	}
}

// TestReadRange reads ranges while connections are cut: the bytes are right, and requests ask for nothing else.
func TestReadRange(t *testing.T) {
	f, s := opened(t, "")
	data := random(300_000)
	s.Put("bkt/x", data)
	var cuts atomic.Int64
	s.Cut = func(*http.Request) int { return int(cuts.Add(1) % 3 * 1000) }
	asked := make(chan string, 1<<16)
	s.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			asked <- r.Header.Get("Range")
		}
		return false
	}
	file, err := f.Open("s3://bkt/x")
	if err != nil {
		t.Fatal(err)
	}
	remote, ok := file.(vfs.Remote)
	if !ok {
		t.Fatal("found no Remote")
	}
	rapid.Check(t, func(rt *rapid.T) {
		off := rapid.IntRange(0, len(data)).Draw(rt, "from")
		b := make([]byte, rapid.IntRange(0, min(5000, len(data)-off)).Draw(rt, "bytes"))
		if err := remote.ReadRange(t.Context(), b, int64(off)); err != nil || !bytes.Equal(b, data[off:off+len(b)]) {
			rt.Errorf("found other bytes, or %v", err)
		}
	})
	if err := remote.ReadRange(t.Context(), make([]byte, 2), int64(len(data)-1)); err == nil {
		t.Error("found no error for bytes after the end")
	}
	for range len(asked) {
		if r := <-asked; r == "" {
			t.Error("found a request without a range")
		}
	}
	if len(f.objects) != 1 || f.objects["s3://bkt/x"].file != nil {
		t.Error("found a file of blocks, expected none")
	}
	if err := file.Close(); err != nil || len(f.objects) != 0 {
		t.Errorf("found %v and %d objects, expected none", err, len(f.objects))
	}
}

// Files that were read do not stay open for ever.
func TestIdle(t *testing.T) {
	f, s := opened(t, "")
	for i := range 2 * idleFiles {
		name := "x" + strings.Repeat("y", i)
		s.Put("bkt/"+name, []byte("text"))
		for range 2 {
			file, err := f.Open("s3://bkt/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.ReadAt(make([]byte, 4), 0); err != nil {
				t.Fatal(err)
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(f.objects) != idleFiles || f.cache.used != 4*idleFiles {
		t.Errorf("found %d objects and %d bytes, expected %d and %d", len(f.objects), f.cache.used, idleFiles, 4*idleFiles)
	}
}

// RemoveAll ends uploads that a killed process has begun, below the folder alone.
func TestRemoveUploads(t *testing.T) {
	f, s := opened(t, "")
	for _, key := range []string{"work/a", "workshop/b"} {
		client, err := newS3("bkt")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.core.NewMultipartUpload(t.Context(), "bkt", key, minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40 {
		s.Put("bkt/work/"+strings.Repeat("z", i+1), nil)
	}
	s.Put("bkt/workshop/x", nil)
	if err := f.RemoveAll("s3://bkt/work"); err != nil {
		t.Fatal(err)
	}
	if got := s.Names(); !slices.Equal(got, []string{"bkt/workshop/x"}) || len(s.Uploads()) != 1 {
		t.Errorf("found %v and the uploads %v, expected those of another folder", got, s.Uploads())
	}
}

// quickLocks makes holders write often. A lock that nobody writes stays all but for ever.
func quickLocks(t *testing.T) {
	beat, most := lockBeat, lockTime
	lockBeat, lockTime = 10*time.Millisecond, time.Hour
	t.Cleanup(func() { lockBeat, lockTime = beat, most })
}

// TestLock holds a lock by one of several holders, hands it on, and takes it over from a holder that is gone.
func TestLock(t *testing.T) {
	quickLocks(t)
	for _, careless := range []bool{false, true} {
		f, s := opened(t, "")
		s.Careless = careless
		const folder, object = "s3://bkt/work", "bkt/work.lock"
		unlock, err := f.Lock(folder)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Lock(folder); !errors.Is(err, vfs.ErrLocked) || !strings.Contains(err.Error(), "s3://bkt/work.lock") || !strings.Contains(err.Error(), "process ") {
			t.Errorf("found %v, expected that another process holds it", err)
		}
		if err := unlock(); err != nil || len(s.Names()) > 0 {
			t.Errorf("found %v and %v, expected no lock", err, s.Names())
		}
		for name, text := range map[string]string{
			"this machine":    ownLock(t, "ended"),
			"another machine": `{"process":"12 elsewhere boot 7 nonce","id":"x","beat":3}`,
			"no lock":         "text",
		} {
			s.Put(object, []byte(text))
			before, most := s.Requests(), lockTime
			if name != "this machine" { // whose process is known to have ended
				lockTime = 100 * time.Millisecond
			}
			unlock, err := f.Lock(folder)
			lockTime = most
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if looks := s.Requests() - before; name != "this machine" && looks < 10 {
				t.Errorf("%s: found %d requests before the lock was taken over, expected several looks at it", name, looks)
			}
			if err := unlock(); err != nil || len(s.Names()) > 0 {
				t.Errorf("%s: found %v and %v, expected no lock", name, err, s.Names())
			}
		}
		// One that is lost is told.
		if unlock, err = f.Lock(folder); err != nil {
			t.Fatal(err)
		}
		s.Put(object, []byte(`{"process":"12 elsewhere boot 7 nonce","id":"x","beat":3}`))
		for range 100 {
			time.Sleep(lockBeat) // until the holder has looked, which then asks for nothing more
		}
		if err := unlock(); !errors.Is(err, vfs.ErrLocked) || len(s.Names()) != 1 {
			t.Errorf("found %v and %v, expected a lock that was lost, and stays", err, s.Names())
		}
	}
}

// ownLock is a lock of a process of this machine that has ended: its time of start is no process's.
func ownLock(t *testing.T, start string) string {
	me, err := vfs.Process()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(me)
	if len(words) != 5 {
		t.Skip("this system does not tell when a process began")
	}
	words[3] = start
	return `{"process":"` + strings.Join(words, " ") + `","id":"x","beat":3}`
}

// A lock survives answers that are lost and a server that fails for a while.
func TestLockFaults(t *testing.T) {
	quickLocks(t)
	f, s := opened(t, "")
	var n atomic.Int64
	s.Lose = func(*http.Request) bool { return n.Add(1)%2 == 0 }
	for range 5 {
		unlock, err := f.Lock("s3://bkt/work")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * lockBeat) // so that it is written anew
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
	}
}

// Several processes take over the lock of one that is gone: one of them has it.
func TestLockRace(t *testing.T) {
	quickLocks(t)
	f, s := opened(t, "")
	s.Put("bkt/work.lock", []byte(ownLock(t, "ended")))
	var g guard.Group
	var held atomic.Int64
	for range 8 {
		g.Go(func() error {
			unlock, err := f.Lock("s3://bkt/work")
			if errors.Is(err, vfs.ErrLocked) {
				return nil
			}
			if err != nil {
				return err
			}
			if held.Add(1) > 1 {
				t.Error("found two holders")
			}
			time.Sleep(20 * lockBeat) // until all others have looked
			held.Add(-1)
			return unlock()
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

// Large files of one output by two runs: the second one is refused, also by a server that does not know conditions of uploads in parts.
func TestPublishOnce(t *testing.T) {
	quickLocks(t)
	f, s := opened(t, "")
	s.Careless = true
	first := strings.Repeat("1", partBytes+1)
	write(t, f, "s3:/bkt/.out.partial", map[string]string{"a": first, "manifest.json": "m"})
	if err := f.Rename("s3:/bkt/.out.partial", "s3:/bkt/out"); err != nil {
		t.Fatal(err)
	}
	write(t, f, "s3:/bkt/.out.partial", map[string]string{"a": strings.Repeat("2", partBytes+1), "manifest.json": "m"})
	if err := f.Rename("s3:/bkt/.out.partial", "s3:/bkt/out"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("found %v, expected that the output exists", err)
	}
	if got, _ := s.Get("bkt/out/a"); string(got) != first {
		t.Errorf("found %d bytes of the second run", len(got))
	}
	unlock, err := f.Lock("s3:/bkt/other")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Rename("s3:/bkt/.out.partial", "s3:/bkt/other"); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("found %v, expected that another run writes it", err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

// TestCredentials says which credentials are used, and no secret; so does the error where they are refused.
func TestCredentials(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(profile, []byte("[work]\naws_access_key_id = AKIDFILE\naws_secret_access_key = secret-word\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		scheme string
		env    map[string]string
		want   string
	}{
		{"s3", nil, "the credentials of the environment (AWS_ACCESS_KEY_ID)"},
		{"s3", map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_PROFILE": "work", "AWS_SHARED_CREDENTIALS_FILE": profile}, "the credentials of the profile work"},
		{"s3", map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SHARED_CREDENTIALS_FILE": os.DevNull}, unsigned},
		{"gs", nil, "the key of the environment (GS_ACCESS_KEY_ID)"},
		{"gs", map[string]string{"GS_ACCESS_KEY_ID": "", "GOOGLE_OAUTH_ACCESS_TOKEN": "secret-word"}, "the token of the environment (GOOGLE_OAUTH_ACCESS_TOKEN)"},
		{"gs", map[string]string{"GS_ACCESS_KEY_ID": ""}, unsigned},
		{"https", nil, ""},
	} {
		s := objectstest.New(t, "bkt")
		s.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
			objectstest.Refuse(w, http.StatusForbidden, "AccessDenied")
			return true
		}
		for name, value := range c.env {
			t.Setenv(name, value)
		}
		f := New(c.scheme, Options{Cache: t.TempDir()})
		bucket, got, err := f.Credentials(c.scheme + "://bkt/x")
		if err != nil || got != c.want || bucket != c.scheme+"://bkt" {
			t.Errorf("%s %v: found %q, %v, expected %q", c.scheme, c.env, got, err, c.want)
		}
		if _, err := f.ReadDir(c.scheme + "://bkt/x"); c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), "it got "+c.want) || strings.Contains(err.Error(), "secret-word")) {
			t.Errorf("found %v, expected that it got %s", err, c.want)
		}
		for name := range c.env {
			_ = os.Unsetenv(name)
		}
	}
	if _, _, err := New("s3", Options{}).Credentials("s3://"); err == nil {
		t.Error("found no error for an address without a bucket")
	}
}
