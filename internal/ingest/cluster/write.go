package cluster

import (
	"context"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// outputFolder is the folder of the files that workers write for the output.
func outputFolder(dir string) string { return filepath.Join(dir, "output") }

// sumsFile is the file with the checksums of the shards of a share.
func sumsFile(dir string, share int64) string { return numbered(dir, "sums", share) }

// writeShare writes the shards of a share of the store.
func (s *Site) writeShare(ctx context.Context, key int64) error {
	if err := s.place(ctx); err != nil {
		return err
	}
	p, err := s.allPieces()
	if err != nil {
		return err
	}
	share, err := s.placedShare(ctx) // of this task alone
	if err != nil {
		return err
	}
	w := store.OpenShare(s.fs, outputFolder(s.Dir), store.Share{Index: int(key), Of: s.Work.Shards, Least: s.Work.ShardBytes})
	if _, err := share.Join(ctx, w, p); err != nil {
		return err
	}
	return workfolder.WriteJSON(s.fs, sumsFile(s.Dir, key), w.Sums())
}

// allPieces are the files of all tasks. Nodes must have their places.
func (s *Site) allPieces() (*assemble.Pieces, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pieces != nil {
		return s.pieces, nil
	}
	p := &assemble.Pieces{Edges: make([]assemble.EdgesResult, s.share.Parts())}
	tasks := func(take func(task int64, t *Task) bool, name func(task int64) string) (list []string) {
		for i := range s.Work.Tasks {
			if take(int64(i), &s.Work.Tasks[i]) {
				list = append(list, name(int64(i)))
			}
		}
		return list
	}
	p.Nodes = func(t int) []string {
		return tasks(func(_ int64, x *Task) bool { return x.Nodes && x.Index == t }, func(i int64) string { return chunkFile(s.Dir, i) })
	}
	p.Texts = func(t int) []string {
		return tasks(func(i int64, _ *Task) bool { return s.firsts[t] != nil && s.firsts[t][i].count() > 0 }, func(i int64) string { return textsFile(s.Dir, t, i) })
	}
	p.Index = func(t int) (list []string) {
		for b := s.keys.buckets[t]; b < s.keys.buckets[t+1]; b++ {
			list = append(list, indexFile(s.Dir, b))
		}
		return list
	}
	p.Ranges = func(g int, second bool) (list []string) {
		d := 0
		if second {
			d = 1
		}
		for k := s.keys.ranges[d][g]; k < s.keys.ranges[d][g+1]; k++ {
			list = append(list, rangeFile(s.Dir, d, k))
		}
		return list
	}
	for i := range p.Edges {
		p.Edges[i].Type = s.share.Part(i).Type
	}
	for i, t := range s.Work.Tasks {
		if t.Nodes {
			continue
		}
		var x assemble.EdgesResult
		if err := workfolder.ReadJSON(s.fs, statsFile(s.Dir, int64(i)), &x); err != nil {
			return nil, err
		}
		p.Edges[t.Index].Add(&x)
	}
	s.pieces = p
	return p, nil
}
