package stages

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/vfs"
)

// smallDisk is a file system with a number of free bytes.
type smallDisk struct {
	vfs.FS
	free int64
}

func (d smallDisk) Free(string) (int64, error) { return d.free, nil }

func TestForesee(t *testing.T) {
	const gib = 1 << 30
	ask, answer := Stage{Name: "ask", Tasks: 100}, Stage{Name: "answer", Tasks: 50, Inputs: []Input{{0, 1}}}
	list := []Stage{ask, answer}
	tasks := func(asks, answers int64) []Stage {
		a, b := ask, answer
		a.Tasks, b.Tasks = asks, answers
		return []Stage{a, b}
	}
	for name, c := range map[string]struct {
		list    []Stage
		need    Need
		free    int64
		memory  int64
		warning string
		err     error
		text    string
	}{
		"room":            {list: list, need: Need{Records: gib, Pieces: gib, Output: gib, Memory: gib}, free: 4 * gib},
		"indexes":         {list: list, free: 100, err: vfs.ErrSpace, text: "for the records of stages (60.4 KiB)"},
		"small disk":      {list: list, need: Need{Records: 2 * gib, Pieces: gib, Output: gib}, free: gib, err: vfs.ErrSpace, text: "make room, choose another `Out`"},
		"divided":         {list: list, need: Need{Records: 4 * gib, Divide: "take less by `Rank`"}, free: gib, err: vfs.ErrSpace, text: "`Out`, or take less by `Rank`"},
		"perhaps":         {list: list, need: Need{Records: 3 * gib}, free: 2 * gib, warning: "found 2.00 GiB free, expected about 3.00 GiB"},
		"small workers":   {list: list, need: Need{Memory: 2 * gib}, free: gib, memory: gib, err: limits.ErrMemory, text: "found a memory bound of 1.00 GiB, expected at least 2.00 GiB"},
		"enough memory":   {list: list, need: Need{Memory: gib}, free: gib, memory: gib},
		"memory unknown":  {list: list, need: Need{Memory: gib}, free: gib},
		"many files":      {list: tasks(mostFiles+1, 1), free: gib, err: ErrTooMany, text: "stage ask: found 4.19M tasks"},
		"many reads":      {list: tasks(1<<20, 1<<13), free: 1 << 50, err: ErrTooMany, text: "stage answer: found 8.59G reads of files"},
		"just not many":   {list: tasks(1<<20, 1<<12), free: 1 << 50},
		"without a stage": {free: gib},
	} {
		t.Run(name, func(t *testing.T) {
			warning, err := Foresee(smallDisk{vfs.OS, c.free}, []string{t.TempDir()}, c.list, c.need, c.memory)
			if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("found %v, expected %v with %q", err, c.err, c.text)
			}
			if c.warning == "" && warning != "" || !strings.Contains(warning, c.warning) {
				t.Errorf("found the warning %q, expected %q", warning, c.warning)
			}
		})
	}
}

// What a run has made already counts.
func TestForeseeResumed(t *testing.T) {
	dir := t.TempDir()
	if err := vfs.OS.MkdirAll(filepath.Join(dir, "records", "00")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"records/00/00000000", "piece"} {
		if err := vfs.WriteFile(vfs.OS, filepath.Join(dir, name), make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	for free, fits := range map[int64]bool{1000: true, 999: false} {
		warning, err := Foresee(smallDisk{vfs.OS, free}, []string{dir, filepath.Join(dir, "none")}, nil, Need{Records: 3000}, 0)
		if err != nil || (warning == "") != fits {
			t.Errorf("%d free: found %q and %v, expected a warning: %v", free, warning, err, !fits)
		}
	}
	fault := errors.New("fault")
	if _, err := Foresee(unknownDisk{vfs.OS, fault}, []string{dir}, nil, Need{}, 0); !errors.Is(err, fault) {
		t.Errorf("found %v, expected the error of the disk", err)
	}
}

type unknownDisk struct {
	vfs.FS
	err error
}

func (d unknownDisk) Free(string) (int64, error) { return 0, d.err }

func TestHeld(t *testing.T) {
	for _, c := range []struct{ bytes, tasks, want int64 }{{0, 0, 0}, {100, 10, 20}, {1 << 40, 10, 2 * defaultMemory}} {
		if got := Held(c.bytes, c.tasks); got != c.want {
			t.Errorf("%d bytes, %d tasks: found %d, expected %d", c.bytes, c.tasks, got, c.want)
		}
	}
}
