//go:build cluster

package staging

import (
	"context"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/graphmill/graphmill/beam/internal/engine"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/vfs"
)

type largeSite struct{ job *stages.Job }

func (s largeSite) Job() *stages.Job { return s.job }
func (s largeSite) Close() error     { return nil }

// A task gives the next stage 2 GB, of which half is for one key, on a Flink with the heap that scripts/flink gives it. Beam's own grouping ends at a tenth of this.
func TestFlinkLargeTask(t *testing.T) {
	proof.OnlyLong(t, "2 GB of one task")
	script, err := filepath.Abs("../../../scripts/flink")
	if err != nil {
		t.Fatal(err)
	}
	flink, dir := t.TempDir(), t.TempDir()
	t.Cleanup(func() {
		if out, err := exec.Command(script, "down", "--dir", flink).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	if out, err := exec.CommandContext(t.Context(), script, "up", "--dir", flink, "--embedded", "--job-port", "18499", "--rest-port", "18481").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const records, size = 1 << 16, 32 << 10
	list := []stages.Stage{{Name: "give", Tasks: 1}, {Name: "take", Tasks: 8, Inputs: []stages.Input{{From: 0, For: 1}}}}
	var taken atomic.Int64
	const large Operation = "large"
	openers[large] = func(_ context.Context, dir string) (stages.Site, error) {
		j := &stages.Job{FS: vfs.OS, Dir: filepath.Join(dir, "records"), Work: dir, Stages: list, Do: func(_ context.Context, stage int, _ int64, next func() ([]byte, bool), emit stages.Emit) error {
			if stage == 0 {
				record := make([]byte, size)
				for i := range int64(records) {
					record[i%size] = byte(i)
					emit(1, i%2*i%64, record)
				}
				return nil
			}
			for b, ok := next(); ok; b, ok = next() {
				taken.Add(int64(len(b)))
			}
			return nil
		}}
		return largeSite{j}, j.Prepare()
	}
	build, err := engine.Build()
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{Operation: large, Options: engine.Options{Runner: engine.Flink, Endpoint: "localhost:18499", Parallelism: 2, Build: build}}
	if err := e.Run(t.Context(), dir, list); err != nil {
		t.Fatal(err)
	}
	if got := taken.Load(); got != records*size {
		t.Errorf("found %d bytes of records, expected %d", got, records*size)
	}
}
