package stagestest_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/stages/stagestest"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type site struct{ job *stages.Job }

func (s site) Job() *stages.Job { return s.job }
func (s site) Close() error     { return nil }

// The engine runs every task, in stages, and its errors are those of Fail.
func TestEngine(t *testing.T) {
	var mu sync.Mutex
	var ran []int
	list := []stages.Stage{{Name: "a", Tasks: 3}, {Name: "b", Tasks: 2, Inputs: []stages.Input{{From: 0, For: 1}}}}
	dir := t.TempDir()
	e := &stagestest.Engine{Slots: 2, Twice: true, Open: func(context.Context, string) (stages.Site, error) {
		j := &stages.Job{FS: vfs.OS, Dir: dir, Stages: list, Do: func(_ context.Context, stage int, key int64, _ func() ([]byte, bool), emit stages.Emit) error {
			mu.Lock()
			defer mu.Unlock()
			if ran = append(ran, stage); stage == 0 {
				emit(1, key, nil)
			}
			return nil
		}}
		return site{j}, j.Prepare()
	}}
	broken := errors.New("broken")
	e.Fail = func(stage int) error {
		if stage == 1 {
			return broken
		}
		return nil
	}
	if err := e.Run(t.Context(), dir, list); !errors.Is(err, broken) {
		t.Errorf("found %v, expected the error of Fail", err)
	}
	e.Fail = nil
	if err := e.Run(t.Context(), dir, list); err != nil || e.Jobs != 2 {
		t.Errorf("found %v after %d jobs", err, e.Jobs)
	}
	if first := slices.Index(ran, 1); first < 3 || slices.Contains(ran[first:], 0) {
		t.Errorf("found the stages %v, expected all tasks of the first one first", ran)
	}
}
