package main

import (
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/option"
)

// bucketManifest is the manifest of an output in a bucket.
func bucketManifest(t testing.TB, server *objectstest.Server, name string) string {
	t.Helper()
	b, ok := server.Get(name + "/manifest.json")
	if !ok {
		t.Fatalf("found no manifest of %s, and %q", name, server.Names())
	}
	return string(b)
}

// bucketCase is a job whose input, work and output lie in a bucket.
type bucketCase struct {
	command []string         // with the input in the bucket
	alone   func(out string) // makes the same output on the disk by one process
}

// bucketCases are the jobs on a bucket with the shop.
func bucketCases(t *testing.T, server *objectstest.Server, bucket string) map[string]bucketCase {
	store := shopStore(t)
	bySource := filepath.Join(filepath.Dir(store), "source.store") // whose in-edges dispatch sorts first
	st, err := graphmill.Import(t.Context(), filepath.Join(filepath.Dir(store), "graph.yaml"), bySource, option.Import{Primary: option.DirectionOut})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	server.PutFolder(t, filepath.Dir(store), bucket+"/in")
	fanout := []string{"--fanout", "4,3,2", "--seeds", "user", "--direction", "out", "--batch-size", "100"}
	records := slices.Concat(fanout, []string{"--scope", "seed", "--format", "tfrecord", "--shards", "3"})
	parts := []string{"--parts", "4", "--num-hops", "2", "--seed", "3"}
	division := []string{"--parts", "3", "--seed", "3"}
	in := "s3://" + bucket + "/in"
	sample := func(flags []string) func(string) {
		return func(out string) { alone(t, out, slices.Concat([]string{store}, flags)...) }
	}
	return map[string]bucketCase{
		"local":     {slices.Concat([]string{"sample", in + "/shop.store", "--method", "local"}, fanout), sample(fanout)},
		"shuffle":   {slices.Concat([]string{"sample", in + "/shop.store", "--method", "shuffle"}, fanout), sample(fanout)},
		"records":   {slices.Concat([]string{"sample", in + "/shop.store", "--method", "shuffle"}, records), sample(records)},
		"writers":   {slices.Concat([]string{"sample", in + "/shop.store", "--method", "local", "--array-shards", "2"}, records), sample(records)},
		"dispatch":  {slices.Concat([]string{"dispatch", in + "/shop.store"}, parts), func(out string) { dispatchAlone(t, slices.Concat([]string{store, "--out", out}, parts)...) }},
		"partition": {slices.Concat([]string{"partition", in + "/shop.store"}, division), func(out string) { partitionAlone(t, slices.Concat([]string{store, "--out", out}, division)...) }},
		"shipped":   {slices.Concat([]string{"sample", in + "/shop.store", "--ship-graph"}, fanout), sample(fanout)},
		"by source": {slices.Concat([]string{"dispatch", in + "/source.store", "--ship-graph"}, parts), func(out string) { dispatchAlone(t, slices.Concat([]string{bySource, "--out", out}, parts)...) }},
		"import":    {[]string{"import", in + "/graph.yaml", "--both"}, func(out string) { importAlone(t, out, filepath.Dir(store)) }},
	}
}

// onlyInBucket fails where a bucket has anything beside the input and an output, also an upload that was not ended.
func onlyInBucket(t testing.TB, server *objectstest.Server, bucket, out string) {
	t.Helper()
	for _, name := range server.Names() {
		if !strings.HasPrefix(name, bucket+"/in/") && !strings.HasPrefix(name, bucket+"/"+out+"/") {
			t.Errorf("found %s, expected nothing beside the input and the output", name)
		}
	}
	if left := server.Uploads(); len(left) > 0 {
		t.Errorf("found the uploads %v, expected none", left)
	}
}

// Jobs whose input, work and output lie in a bucket have the manifest of one process on files, from Prism.
func TestBucketPrism(t *testing.T) {
	t.Setenv("GRAPHMILL_CACHE", t.TempDir())
	server := objectstest.New(t, "prism")
	for name, c := range bucketCases(t, server, "prism") {
		t.Run(name, func(t *testing.T) {
			one := filepath.Join(t.TempDir(), "one")
			c.alone(one)
			_, text, status := runHere(t, slices.Concat(c.command, []string{"--out", "s3://prism/" + name, "--runner", "prism"})...)
			if status != 0 {
				t.Fatalf("found status %d, expected 0\n%s", status, text)
			}
			if !strings.Contains(text, "s3://prism: the credentials of the environment (AWS_ACCESS_KEY_ID)") || strings.Contains(text, "secret-word") {
				t.Errorf("found no credentials, or a secret\n%s", text)
			}
			if name == "writers" && server.Copied() == 0 {
				t.Error("found no copies, expected that the server copies what workers wrote")
			}
			if got, want := bucketManifest(t, server, "prism/"+name), manifest(t, one); got != want {
				t.Errorf("found\n%s\nexpected\n%s", got, want)
			}
			for _, left := range server.Names() {
				if strings.Contains(left, ".work") || strings.Contains(left, ".lock") {
					t.Errorf("found %s, expected nothing beside the output", left)
				}
			}
		})
	}
}

// So do indexed processes, of a server that fails now and then, is slow, cuts connections and loses answers, while processes are killed at random moments and two do the same tasks.
func TestBucketSteps(t *testing.T) {
	for i := range proof.Count(t, 2, 12) {
		bucket := "steps" + string(rune('a'+i))
		t.Run(bucket, func(t *testing.T) {
			server := objectstest.New(t, bucket)
			t.Setenv("GRAPHMILL_CACHE", t.TempDir())
			all := bucketCases(t, server, bucket)
			if i > 0 {
				var n atomic.Int64
				server.Careless = i%2 == 0
				server.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
					switch x := n.Add(1); {
					case x%23 == 0:
						objectstest.Refuse(w, http.StatusServiceUnavailable, "SlowDown")
						return true
					case x%11 == 0:
						time.Sleep(30 * time.Millisecond) // a slow answer
					}
					return false
				}
				server.Cut = func(*http.Request) int {
					if n.Load()%19 == 0 {
						return 500
					}
					return 0
				}
				server.Lose = func(*http.Request) bool { return n.Load()%17 == 0 }
			}
			for name, c := range all {
				if i > 0 && !proof.Long(t) && name != "shuffle" && name != "dispatch" {
					continue
				}
				if name == "partition" && !proof.Long(t) {
					continue // some hundred barriers; Prism has it in the short form
				}
				one := filepath.Join(t.TempDir(), "one")
				c.alone(one)
				out := "s3://" + bucket + "/" + name
				if i == 0 {
					runSteps(t, out, c.command)
				} else {
					killSteps(t, rand.New(rand.NewPCG(uint64(i), uint64(len(name)))), out, c.command)
				}
				if got, want := bucketManifest(t, server, bucket+"/"+name), manifest(t, one); got != want {
					t.Errorf("%s: found\n%s\nexpected\n%s", name, got, want)
				}
				if i == 0 {
					onlyInBucket(t, server, bucket, name)
					if left := files(t, os.Getenv("GRAPHMILL_CACHE")); len(left) > 0 {
						t.Errorf("%s: found %v in the cache, expected nothing", name, left)
					}
				}
				for _, file := range server.Names() {
					if !strings.HasPrefix(file, bucket+"/in/") && i == 0 {
						server.Delete(file)
					}
				}
			}
		})
	}
}

// A submitter is killed while it sends a large file in parts. The next command ends that upload, and the output is the one of an undisturbed run.
func TestKilledUpload(t *testing.T) {
	server := objectstest.New(t, "upload")
	dir := t.TempDir()
	store := filepath.Join(dir, "g.store")
	s, err := graphmill.GenerateRMAT(t.Context(), store, option.RMAT{Scale: 15, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	server.PutFolder(t, store, "upload/in/g.store")
	flags := []string{"--fanout", "15,10", "--scope", "seed", "--epochs", "4"}
	one := filepath.Join(dir, "one")
	alone(t, one, slices.Concat([]string{store}, flags)...)
	parts, first, once := make(chan struct{}), make(chan struct{}), sync.Once{}
	server.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && r.URL.Query().Has("partNumber") {
			once.Do(func() { close(first) })
			<-parts // until the process is dead
		}
		return false
	}
	args := slices.Concat([]string{"sample", "s3://upload/in/g.store", "--method", "local", "--parallelism", "2", "--out", "s3://upload/out"}, flags)
	t.Setenv("GRAPHMILL_CACHE", t.TempDir())
	killed := start(t, args...)
	select {
	case <-first:
	case <-killed.gone:
		text, status := killed.end()
		t.Fatalf("found status %d before a file was sent in parts\n%s", status, text)
	}
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed.end()
	if len(server.Uploads()) == 0 {
		t.Error("found no upload after the kill, expected one that did not end")
	}
	close(parts)
	if text, status := start(t, args...).end(); status != 0 {
		t.Fatalf("found status %d after the kill\n%s", status, text)
	}
	if got, want := bucketManifest(t, server, "upload/out"), manifest(t, one); got != want {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
	onlyInBucket(t, server, "upload", "out")
}

// files are the files below a folder.
func files(t testing.TB, dir string) (list []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// A second submitter is refused while the first one works. An output that cannot be written is an error.
func TestBucketRefused(t *testing.T) {
	server := objectstest.New(t, "refused")
	t.Setenv("GRAPHMILL_CACHE", t.TempDir())
	c := bucketCases(t, server, "refused")["shuffle"]
	submit, _ := stepsOf("s3://refused/out", c.command)
	first := start(t, submit...)
	for lock := false; !lock; time.Sleep(10 * time.Millisecond) { // until the first one works
		_, lock = server.Get("refused/_out.work.lock")
	}
	t.Setenv("GRAPHMILL_CACHE", t.TempDir()) // as on another machine
	if text, status := start(t, submit...).end(); status != exitFailed || !strings.Contains(text, "another run works for this output") || !strings.Contains(text, "process ") {
		t.Errorf("found status %d, expected 1\n%s", status, text)
	}
	_ = first.cmd.Process.Kill()
	first.end()
	for out, want := range map[string]string{
		"s3://refused":               "found `Out` s3://refused, which is a bucket, expected a folder in it",
		"https://host.invalid/a/out": "expected a folder that every machine can write",
	} {
		if work, err := operation.SharedWork(out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %q, %v, expected %q", out, work, err, want)
		}
	}
	if work, err := operation.SharedWork("s3://b/a/out"); err != nil || work != "s3:/b/a/_out.work" {
		t.Errorf("found %q, %v", work, err)
	}
}

// importAlone imports the tables of a folder by one process.
func importAlone(t testing.TB, out, dir string) {
	t.Helper()
	st, err := graphmill.Import(t.Context(), filepath.Join(dir, "graph.yaml"), out, option.Import{Build: option.Build{Both: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}
