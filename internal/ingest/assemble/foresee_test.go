package assemble

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/progress"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The stages of random typed graphs come in the order that was foreseen, and the reading and sorting of edges is foreseen.
func TestForeseen(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		in, opt := genInput(t), genOptions(t)
		opt.Threads = rapid.SampledFrom([]int{1, 2, 8}).Draw(t, "threads")
		opt.work = rapid.SampledFrom([]int64{0, 4 << 10}).Draw(t, "work")
		if slices.ContainsFunc(in.Nodes, func(n Nodes) bool { return n.ID.Name != "" && n.ID.DType == graph.Uint64 }) {
			return // whether these ids are keys is not known before they are read
		}
		var foreseen, told []string
		opt.Foreseen = func(stages []progress.Stage) {
			for _, s := range stages {
				if s.Work < 0 || slices.Contains(foreseen, s.Name) {
					t.Fatalf("found %+v in %+v, expected each stage once with work of at least 0", s, stages)
				}
				foreseen = append(foreseen, s.Name)
			}
		}
		var mu sync.Mutex
		opt.Progress = func(stage string, _, _ int64, _ string) {
			mu.Lock()
			defer mu.Unlock()
			if !slices.Contains(told, stage) {
				told = append(told, stage)
			}
		}
		if _, _, err := build(t, vfs.OS, dir, in, opt); err != nil {
			return // TestBuild judges errors
		}
		last := -1
		for _, stage := range told {
			at := slices.Index(foreseen, stage)
			kind, _, _ := strings.Cut(stage, " ")
			if at < 0 && kind != "ends" && kind != "join" && kind != "count" || at >= 0 && at < last {
				t.Fatalf("found the stages %q, expected those of %q in their order", told, foreseen)
			}
			last = max(last, at)
		}
	})
}
