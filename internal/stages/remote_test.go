package stages_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/objects"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/internal/stages"
)

// TestRemote runs random jobs in a bucket of a server that fails and is slow: the sums are those of a job in memory, also where two machines run all tasks at the same time
// and segments are larger than what is read at a time.
func TestRemote(t *testing.T) {
	server := objectstest.New(t, "bkt")
	var n atomic.Int64
	server.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
		switch x := n.Add(1); {
		case x%97 == 0:
			objectstest.Refuse(w, http.StatusServiceUnavailable, "SlowDown")
			return true
		case x%31 == 0:
			time.Sleep(time.Millisecond) // a slow answer
		}
		return false
	}
	cache := t.TempDir()
	jobs := 0
	rapid.Check(t, func(r *rapid.T) {
		w, list := drawJob(r)
		want := inMemory(t, w, list)
		jobs++
		job := func() *stages.Job {
			return &stages.Job{FS: objects.New("s3", objects.Options{Cache: cache}), Dir: "s3://bkt/work", Work: "s3://bkt/work", Stages: list, Do: w.do, Memory: 1 << 10}
		}
		w.sums = map[int64]uint64{}
		var both sync.WaitGroup
		var errs [2]error
		for i := range errs {
			both.Go(func() { errs[i] = job().Run(t.Context(), 2) })
		}
		both.Wait()
		if err := errors.Join(errs[:]...); err != nil {
			r.Fatal(err)
		}
		if !maps.Equal(w.sums, want) {
			r.Errorf("found %v, expected %v", w.sums, want)
		}
		for _, name := range server.Names() {
			if !strings.HasSuffix(name, ".whole") && !strings.Contains(name, "/"+last(list)+"/") {
				r.Errorf("found %s after the job, expected the records of the last stage alone", name)
			}
		}
		if err := job().FS.RemoveAll("s3://bkt/work"); err != nil || len(server.Names()) > 0 {
			r.Errorf("found %v and %v, expected nothing", server.Names(), err)
		}
	})
}

// last is the folder of the last stage.
func last(list []stages.Stage) string { return "0" + string(rune('0'+len(list)-1)) }

// A task whose inputs are not whole, and one that is cancelled, end without a request that goes on.
func TestRemoteNotWhole(t *testing.T) {
	server := objectstest.New(t, "bkt")
	list := []stages.Stage{{Name: "give", Tasks: 40}, {Name: "take", Tasks: 2, Inputs: []stages.Input{{From: 0, For: 1}}}}
	give := func(_ context.Context, stage int, key int64, records func() ([]byte, bool), emit stages.Emit) error {
		if stage == 0 {
			emit(1, key%2, make([]byte, 5000))
		}
		return nil
	}
	job := &stages.Job{FS: objects.New("s3", objects.Options{Cache: t.TempDir()}), Dir: "s3://bkt/work", Stages: list, Do: give, Memory: 1 << 12}
	for task := range int64(39) {
		if err := job.Task(t.Context(), 0, task); err != nil {
			t.Fatal(err)
		}
	}
	if err := job.Task(t.Context(), 1, 0); !errors.Is(err, stages.ErrNotWhole) || !strings.Contains(err.Error(), "task 39") {
		t.Errorf("found %v, expected that task 39 is not there", err)
	}
	if err := job.Finish(0); !errors.Is(err, stages.ErrNotWhole) || !strings.Contains(err.Error(), "task 39") {
		t.Errorf("found %v, expected that task 39 is not there", err)
	}
	if err := job.Task(t.Context(), 0, 39); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	server.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			cancel()
		}
		return false
	}
	if err := job.Task(ctx, 1, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the end of the context", err)
	}
	server.Fault = nil
	if b, _ := server.Get("bkt/work/00/00000000"); len(b) > 0 {
		b[len(b)/2]++
		server.Put("bkt/work/00/00000000", b)
	}
	if err := job.Task(t.Context(), 1, 0); err == nil || !strings.Contains(err.Error(), "s3://bkt/work/00/00000000: found a damaged file") {
		t.Errorf("found %v, expected a damaged file", err)
	}
}
