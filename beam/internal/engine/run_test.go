package engine_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/beam/internal/engine"
)

// clean fails a test that leaves goroutines behind, after the servers of the test have ended.
func clean(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

func TestPrism(t *testing.T) {
	counts(t, prism(t)) // starts Prism, which stays
	clean(t)
	counts(t, prism(t))
}

func TestPrismFailure(t *testing.T) {
	counts(t, prism(t))
	clean(t)
	fails(t, prism(t))
}

// Goroutines of a cancelled worker may stay: see the package comment.
func TestPrismCancelled(t *testing.T) { cancels(t, prism(t)) }

func TestTimeLimit(t *testing.T) {
	o := prism(t)
	o.TimeLimit = time.Second
	start := time.Now()
	res, err := engine.Run(t.Context(), sleeping(filepath.Join(t.TempDir(), "runs")), o)
	if !errors.Is(err, engine.ErrTimeLimit) || !strings.Contains(err.Error(), "`TimeLimit` 1s") || res.State != "CANCELLED" {
		t.Errorf("found %+v, %v, expected a job that was cancelled by its time limit", res, err)
	}
	if took := time.Since(start); took > time.Minute { // against a hang
		t.Errorf("found an end after %s, expected one soon after the limit of 1 s", took)
	}
}

// cancels starts a job that takes a minute, and cancels it when it runs.
func cancels(t *testing.T, o engine.Options) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "runs")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if _, err := os.Stat(file); err == nil {
				cancel(why)
			}
			time.Sleep(10 * time.Millisecond) // between two looks
		}
	}()
	res, err := engine.Run(ctx, sleeping(file), o)
	cancel(nil)
	<-done
	if !errors.Is(err, why) || res.State != "CANCELLED" {
		t.Errorf("found %+v, %v, expected a job that was cancelled", res, err)
	}
}

func TestUnreachable(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	silent, err := net.Listen("tcp", "localhost:0") // takes connections, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	clean(t)
	for _, c := range []struct {
		name, endpoint, want string
		tls                  *tls.Config
	}{
		{"nobody", "localhost:1", "connection refused; start one", nil},
		{"a web server", web.Listener.Addr().String(), "found no job server of Beam", nil},
		{"a server without TLS", newFake(t).endpoint, "authentication handshake failed", &tls.Config{MinVersion: tls.VersionTLS13}},
		{"a server that says nothing", silent.Addr().String(), "found no job server of Beam", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			_, err := engine.Run(t.Context(), counting(t.TempDir(), 1), engine.Options{Runner: engine.Flink, Endpoint: c.endpoint, Workers: "localhost:1", TLS: c.tls})
			if err == nil || !strings.HasPrefix(err.Error(), "`Endpoint` "+c.endpoint+": ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected %q", err, c.want)
			}
			if took := time.Since(start); took > time.Minute { // against a hang
				t.Errorf("found an error after %s, expected one within 15 s", took)
			}
		})
	}
}

// What a job server says decides the result.
func TestVerdict(t *testing.T) {
	const java = "java.lang.RuntimeException: disk full\n\tat a.B.c(D.java:1)"
	failure := text(jobpb.JobMessage_JOB_MESSAGE_ERROR, java)
	for _, c := range []struct {
		name string
		tell []*jobpb.JobMessagesResponse
		want string // end of the error
	}{
		{"done", []*jobpb.JobMessagesResponse{state(jobpb.JobState_RUNNING), state(jobpb.JobState_DONE)}, ""},
		{"done after an error of an attempt", []*jobpb.JobMessagesResponse{failure, state(jobpb.JobState_DONE)}, ""},
		{"reason, then state", []*jobpb.JobMessagesResponse{failure, state(jobpb.JobState_FAILED)}, " failed: disk full"},
		{"state, then reason", []*jobpb.JobMessagesResponse{state(jobpb.JobState_FAILED), failure}, " failed: disk full"},
		{"no reason", []*jobpb.JobMessagesResponse{state(jobpb.JobState_FAILED)}, "told no reason; see its log"},
		{"cancelled by another", []*jobpb.JobMessagesResponse{state(jobpb.JobState_CANCELLED)}, "found state CANCELLED, expected DONE; somebody else ended it"},
		{"no last state", []*jobpb.JobMessagesResponse{state(jobpb.JobState_RUNNING)}, "found state RUNNING, expected DONE; somebody else ended it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clean(t)
			f := newFake(t, c.tell...)
			res, err := engine.Run(t.Context(), counting(t.TempDir(), 1), engine.Options{Runner: engine.Flink, Endpoint: f.endpoint, Workers: "localhost:1"})
			if res.JobID != "graphmill-1_2" || (err == nil) != (c.want == "") || err != nil && !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("found %+v, %v, expected an error that ends in %q", res, err, c.want)
			}
		})
	}
}

// A job carries the options of the runner and the build of the submitter, and no files.
func TestJob(t *testing.T) {
	f := newFake(t, state(jobpb.JobState_DONE))
	o := engine.Options{Runner: engine.Flink, Endpoint: f.endpoint, Workers: "localhost:50000", Parallelism: 7, JobName: "sample", Build: "b1"}
	if _, err := engine.Run(t.Context(), counting(t.TempDir(), 1), o); err != nil {
		t.Fatal(err)
	}
	if f.prepared.GetJobName() != "sample" {
		t.Errorf("found name %q, expected sample", f.prepared.GetJobName())
	}
	all := f.prepared.GetPipelineOptions().AsMap()
	for name, want := range map[string]any{"object_reuse": true, "faster_copy": true, "parallelism": 7.0, "app_name": "sample"} {
		if found := all["beam:option:"+name+":v1"]; found != want {
			t.Errorf("%s: found %v, expected %v", name, found, want)
		}
	}
	own := all["beam:option:go_options:v1"].(map[string]any)["options"].(map[string]any)
	if own["graphmill_build"] != "b1" {
		t.Errorf("found %v, expected build b1", own)
	}
	for id, env := range f.prepared.GetPipeline().GetComponents().GetEnvironments() {
		if env.GetUrn() != "beam:env:external:v1" || !strings.Contains(string(env.GetPayload()), "localhost:50000") || len(env.GetDependencies()) > 0 {
			t.Errorf("%s: found %v, expected the workers at localhost:50000 and no files", id, env)
		}
	}
}

// Spark gets no options of Flink, and a job server that has a job says so.
func TestSparkJob(t *testing.T) {
	f := newFake(t, text(jobpb.JobMessage_JOB_MESSAGE_ERROR, "org.apache.spark.SparkException: Only one SparkContext should be running in this JVM (see SPARK-2243)."), state(jobpb.JobState_FAILED))
	o := engine.Options{Runner: engine.Spark, Endpoint: f.endpoint, Workers: "localhost:50000", Parallelism: 7}
	if _, err := engine.Run(t.Context(), counting(t.TempDir(), 1), o); err == nil || !strings.Contains(err.Error(), "failed: the job server at "+f.endpoint+" runs another job, and Spark takes one at a time") {
		t.Errorf("found %v, expected that Spark has a job", err)
	}
	all := f.prepared.GetPipelineOptions().AsMap()
	for _, name := range []string{"object_reuse", "faster_copy", "parallelism"} {
		if found, there := all["beam:option:"+name+":v1"]; there {
			t.Errorf("%s: found %v, expected none", name, found)
		}
	}
}

// A cancelled job at Spark ends there, and the error does not name Flink.
func TestCancelledAtSpark(t *testing.T) {
	clean(t)
	f := newFake(t, state(jobpb.JobState_RUNNING))
	f.stay = true
	o := engine.Options{Runner: engine.Spark, Endpoint: f.endpoint, Workers: "localhost:1", TimeLimit: 200 * time.Millisecond}
	res, err := engine.Run(t.Context(), counting(t.TempDir(), 1), o)
	if res.State != "CANCELLED" || !errors.Is(err, engine.ErrTimeLimit) || strings.Contains(err.Error(), "Flink") {
		t.Errorf("found %+v, %v, expected the end of the time limit", res, err)
	}
}

// A cancelled job is cancelled at Flink, and no other job.
func TestCancelledAtFlink(t *testing.T) {
	clean(t)
	f, rest := newFake(t, state(jobpb.JobState_RUNNING)), newRESTFake(t)
	f.stay = true
	o := engine.Options{Runner: engine.Flink, Endpoint: f.endpoint, Workers: "localhost:1", JobManager: rest.url, TimeLimit: 200 * time.Millisecond}
	res, err := engine.Run(t.Context(), counting(t.TempDir(), 1), o)
	if !errors.Is(err, engine.ErrTimeLimit) || res.State != "CANCELLED" || strings.Contains(err.Error(), "may still run") {
		t.Errorf("found %+v, %v, expected a job that was cancelled", res, err)
	}
	if want := []string{"GET /jobs/overview", "PATCH /jobs/b2?mode=cancel"}; !slices.Equal(rest.calls, want) {
		t.Errorf("found calls %q, expected %q", rest.calls, want)
	}
}

// Without the address of Flink, the error says that Flink may go on.
func TestCancelledAtServer(t *testing.T) {
	clean(t)
	f := newFake(t, state(jobpb.JobState_RUNNING))
	f.stay = true
	o := engine.Options{Runner: engine.Flink, Endpoint: f.endpoint, Workers: "localhost:1", TimeLimit: 200 * time.Millisecond}
	_, err := engine.Run(t.Context(), counting(t.TempDir(), 1), o)
	if !errors.Is(err, engine.ErrTimeLimit) || !strings.Contains(err.Error(), "give `JobManager`") {
		t.Errorf("found %v, expected the advice to give `JobManager`", err)
	}
	o.JobManager = "http://localhost:1"
	f = newFake(t, state(jobpb.JobState_RUNNING))
	f.stay, o.Endpoint = true, f.endpoint
	_, err = engine.Run(t.Context(), counting(t.TempDir(), 1), o)
	if !errors.Is(err, engine.ErrTimeLimit) || !strings.Contains(err.Error(), "could not be cancelled and may still run") || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("found %v, expected that Flink could not be reached", err)
	}
}

func TestOptions(t *testing.T) {
	flink := engine.Options{Runner: engine.Flink, Endpoint: "localhost:1", Workers: "localhost:2"}
	for _, c := range []struct {
		name   string
		change func(o *engine.Options)
		want   string
	}{
		{"no runner", func(o *engine.Options) { o.Runner = "" }, "found `Runner` \"\", expected prism, flink or spark"},
		{"Flink without an endpoint", func(o *engine.Options) { o.Endpoint = "" }, "found no `Endpoint`"},
		{"no port", func(o *engine.Options) { o.Endpoint = "localhost" }, "found `Endpoint` \"localhost\", expected HOST:PORT"},
		{"endpoint beyond loopback", func(o *engine.Options) { o.Endpoint = "192.0.2.1:1" }, "found `Endpoint` 192.0.2.1:1, which is beyond loopback"},
		{"workers beyond loopback", func(o *engine.Options) { o.Workers = "flink.example:1" }, "found `Workers` flink.example:1, which is beyond loopback"},
		{"TLS does not reach workers", func(o *engine.Options) { o.Workers, o.TLS = "192.0.2.1:1", &tls.Config{} }, "found `Workers` 192.0.2.1:1"},
		{"another machine without workers", func(o *engine.Options) { o.Endpoint, o.Workers, o.Insecure = "192.0.2.1:1", "", true }, "and no `Workers`, expected worker services"},
		{"JobManager beyond loopback", func(o *engine.Options) { o.JobManager = "http://192.0.2.1:8081" }, "found `JobManager` 192.0.2.1:8081, which is beyond loopback"},
		{"JobManager without a scheme", func(o *engine.Options) { o.JobManager = "localhost:8081" }, "expected a URL"},
		{"parallelism", func(o *engine.Options) { o.Parallelism = -1 }, "found `Parallelism` -1"},
		{"time limit", func(o *engine.Options) { o.TimeLimit = -1 }, "found `TimeLimit` -1ns"},
		{"Prism with workers", func(o *engine.Options) { o.Runner, o.Endpoint = engine.Prism, "" }, "found `Workers` with Prism in this process"},
		{"Prism with a JobManager", func(o *engine.Options) { o.Runner, o.JobManager = engine.Prism, "http://localhost:1" }, "found `JobManager` with `Runner` prism"},
		{"Spark with a JobManager", func(o *engine.Options) { o.Runner, o.JobManager = engine.Spark, "http://localhost:1" }, "found `JobManager` with `Runner` spark, expected none; leave it out or run with `Runner` flink"},
		{"Spark without an endpoint", func(o *engine.Options) { o.Runner, o.Endpoint = engine.Spark, "" }, "found no `Endpoint`"},
	} {
		o := flink
		c.change(&o)
		if _, err := engine.Run(t.Context(), counting(t.TempDir(), 1), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q", c.name, err, c.want)
		}
	}
	// A job server does not lead the submitter away from its machine.
	f := newFake(t)
	f.staging = "192.0.2.1:1"
	o := flink
	o.Endpoint = f.endpoint
	if _, err := engine.Run(t.Context(), counting(t.TempDir(), 1), o); err == nil || !strings.Contains(err.Error(), "an artifact endpoint 192.0.2.1:1, which is beyond loopback") {
		t.Errorf("found %v, expected a refusal of the artifact endpoint", err)
	}
}

// A job of a submitter that died keeps others from its folder while it runs, and no longer.
func TestFree(t *testing.T) {
	f := newFake(t)
	o := engine.Options{Runner: engine.Flink, Endpoint: f.endpoint, Workers: "localhost:1", Record: filepath.Join(t.TempDir(), "job.json")}
	if err := engine.Free(t.Context(), o); err != nil {
		t.Errorf("no job: %v", err)
	}
	note := func(text string) {
		if err := os.WriteFile(o.Record, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"{": "found no job in it",
		`{"endpoint": "elsewhere:1", "job": "graphmill-1_2"}`:        "given to the job server at elsewhere:1; give that `Endpoint`",
		`{"endpoint": "` + f.endpoint + `", "job": "graphmill-1_2"}`: "job graphmill-1_2 of an earlier run still runs",
	} {
		note(text)
		if err := engine.Free(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %q", text, err, want)
		}
	}
	note(`{"endpoint": "` + f.endpoint + `", "job": "graphmill-1_2"}`)
	close(f.cancelled)
	if err := engine.Free(t.Context(), o); err != nil {
		t.Errorf("after the end of the job: %v", err)
	}
	if _, err := os.Stat(o.Record); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("found the note of a job that has ended: %v", err)
	}
}

// The note of a job stays where the job may still run, and only there.
func TestRecord(t *testing.T) {
	for name, c := range map[string]struct {
		tell []*jobpb.JobMessagesResponse
		want string
		kept bool
	}{
		"done":               {[]*jobpb.JobMessagesResponse{state(jobpb.JobState_DONE)}, "", false},
		"failed":             {[]*jobpb.JobMessagesResponse{text(jobpb.JobMessage_JOB_MESSAGE_ERROR, "a bad row"), state(jobpb.JobState_FAILED)}, "failed: a bad row", false},
		"JobManager is gone": {[]*jobpb.JobMessagesResponse{text(jobpb.JobMessage_JOB_MESSAGE_ERROR, "java.net.ConnectException: Connection refused"), state(jobpb.JobState_FAILED)}, "cannot reach Flink's JobManager, which may have died (Connection refused)", false},
		"no end":             {nil, "found state RUNNING", true},
	} {
		f := newFake(t, c.tell...)
		o := engine.Options{Runner: engine.Flink, Endpoint: f.endpoint, Workers: "localhost:1", Record: filepath.Join(t.TempDir(), "job.json")}
		_, err := engine.Run(t.Context(), counting(t.TempDir(), 1), o)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: found %v, expected %q", name, err, c.want)
		}
		if _, err := os.Stat(o.Record); (err == nil) != c.kept {
			t.Errorf("%s: found the note: %v, expected it kept: %v", name, err, c.kept)
		}
	}
}
