package cluster

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// smallDisk is a file system with a number of free bytes.
type smallDisk struct {
	vfs.FS
	free int64
}

func (d smallDisk) Free(string) (int64, error) { return d.free, nil }

// twoHops is a plan of two hops, and its job over all nodes.
func twoHops(g *graph.Graph) (*sample.Plan, sample.Job) {
	edges := g.Edges[0].Type
	p := &sample.Plan{SeedType: []string{edges.Dst}, Scope: sample.ScopeSeed, Ops: []sample.Op{
		{From: []int{0}, Edges: edges.String(), Dir: graph.In, Take: 5}, {From: []int{1}, Edges: edges.String(), Dir: graph.In, Take: 3}}}
	job := sample.Job{BatchSize: 512}
	for v := range uint32(g.Nodes[0].Count) {
		job.Seeds = append(job.Seeds, v)
	}
	return p, job
}

// The bytes that a forecast names are those that a job has in its folder, within a third.
func TestNeed(t *testing.T) {
	s := testStores(t)["plain"]
	p, job := twoHops(s.Graph)
	for name, c := range map[string]struct {
		method  Method
		records *output.RecordsOptions
	}{
		"local":                {Local, &output.RecordsOptions{Shards: 1, Components: 1, Examples: uint64(len(job.Seeds))}},
		"shuffle":              {Shuffle, &output.RecordsOptions{Shards: 1, Components: 1, Examples: uint64(len(job.Seeds))}},
		"shuffle, collections": {Shuffle, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(2)
			run := &Run{Engine: e, Options: Options{Method: c.method}}
			var need stages.Need
			e.Opened = func(x stages.Site) { need = run.need(x.(*Site), &job) }
			var records, pieces int64
			e.Fail = func(int) error {
				now := map[bool]int64{}
				_ = filepath.WalkDir(run.Dir, func(name string, d fs.DirEntry, err error) error {
					if err != nil || d.IsDir() {
						return nil // it is gone
					}
					if info, err := d.Info(); err == nil {
						now[strings.Contains(name, recordsDir(&run.Work))] += info.Size()
					}
					return nil
				})
				records, pieces = max(records, now[true]), max(pieces, now[false])
				return nil
			}
			outputs(t, s, p, job, c.records, sample.Options{}, run)
			for what, x := range map[string][2]int64{"records": {need.Records, records}, "pieces": {need.Pieces, pieces}} {
				if told, found := float64(x[0]), float64(x[1]); told == 0 && found < 1000 {
					continue
				} else if told < found*2/3 || told > found*4/3 {
					t.Errorf("%s: found %.0f bytes, expected about the %.0f of the forecast", what, found, told)
				}
			}
		})
	}
}

// A job that cannot run is refused before it starts, and leaves no records.
func TestRefused(t *testing.T) {
	s := testStores(t)["plain"]
	p, job := twoHops(s.Graph)
	for name, c := range map[string]struct {
		free, memory int64
		err          error
	}{
		"disk":   {1 << 10, 0, vfs.ErrSpace},
		"memory": {1 << 40, 1 << 10, limits.ErrMemory},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := sample.New(s.Graph, p, sample.Options{Given: true})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			text, err := p.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			e := newEngine(2)
			sum, err := store.Sum(vfs.OS, s.Dir)
			if err != nil {
				t.Fatal(err)
			}
			run := &Run{FS: smallDisk{unsynced, c.free}, Dir: t.TempDir(), Engine: e, Sampler: m, Options: Options{Method: Shuffle, Memory: c.memory}, Work: Work{Store: s.Dir, StoreSum: sum, Plan: text}}
			if err := run.Make(t.Context(), job, nil); !errors.Is(err, c.err) {
				t.Errorf("found %v, expected %v", err, c.err)
			}
			if e.Jobs > 0 {
				t.Errorf("found %d jobs, expected none", e.Jobs)
			}
		})
	}
}
