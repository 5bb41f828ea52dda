package outofcore

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Files of Options.Keep: the extents, and a list of them. The list is written when a step is whole and on the disk, and
// removed before its extents are used again.
const (
	keptExtents = "spill"
	keptFile    = "spill.json"
	maxKept     = 1 << 30
)

// kept is the JSON of a spill after a step.
type kept struct {
	Format  int      `json:"format"`
	Of      keptOf   `json:"of"`
	First   uint64   `json:"first"` // batch of the rank, counted over all epochs from Of.Epoch
	Batches uint64   `json:"batches"`
	Extent  int      `json:"extent_bytes"`
	Group   uint64   `json:"batches_per_group"`
	Bytes   int64    `json:"bytes"` // of the file of extents
	Spans   [][]byte `json:"spans"` // by group: extents
	Steps   []keptAt `json:"steps"`
}

// keptAt is the JSON of a step.
type keptAt struct {
	Used    []uint32 `json:"used"`    // slots by group
	Results [][]byte `json:"results"` // by group: extents
	Apart   bool     `json:"edge_ids"`
}

// keptOf is what the results are a function of.
type keptOf struct {
	Law       int             `json:"law"`
	Store     string          `json:"store"`
	Plan      json.RawMessage `json:"plan"`
	Seeds     string          `json:"seeds"`
	Times     string          `json:"times"`
	Negatives []string        `json:"negatives"` // of the nodes and ends of lists
	Seed      uint64          `json:"seed"`
	Epoch     uint64          `json:"epoch"`
	BatchSize int             `json:"batch_size"`
	Shuffle   bool            `json:"shuffle"`
	Rank      int             `json:"rank"`
	Ranks     int             `json:"ranks"`
	EdgeIDs   bool            `json:"edge_ids"`
}

// keeper keeps the spills of a run. It is nil where nothing is kept.
type keeper struct {
	fsys vfs.FS
	dir  string
	of   keptOf
}

func (x *Executor) newKeeper(job *sample.Job) (*keeper, error) {
	sum, err := store.Sum(x.fsys, x.store.Dir)
	if err != nil {
		return nil, err
	}
	plan, err := json.Marshal(x.neighbours.sampler.Plan())
	if err != nil {
		return nil, err
	}
	times := xxh3.New()
	for _, t := range job.Times {
		_, _ = fmt.Fprintln(times, t) // a hash never fails
	}
	if err := x.fsys.MkdirAll(x.opt.Keep); err != nil {
		return nil, err
	}
	return &keeper{fsys: x.fsys, dir: x.opt.Keep, of: keptOf{
		Law: draw.Version, Store: sum, Plan: plan, Seeds: hex(xxh3.Hash(graph.Bytes(job.Seeds))), Times: hex(times.Sum64()), Negatives: []string{hex(xxh3.Hash(graph.Bytes(job.Negatives.Nodes))), hex(xxh3.Hash(graph.Bytes(job.Negatives.Ends)))},
		Seed: job.Seed, Epoch: job.Epoch, BatchSize: job.BatchSize, Shuffle: job.Shuffle, Rank: job.Rank, Ranks: max(job.Ranks, 1), EdgeIDs: x.neighbours.sampler.EdgeIDs(),
	}}, nil
}

func hex(sum uint64) string { return fmt.Sprintf("%016x", sum) }

func (k *keeper) path(name string) string { return filepath.Join(k.dir, name) }

// sealed is a JSON text and its checksum.
type sealed struct {
	XXH3  string          `json:"xxh3"`
	Spill json.RawMessage `json:"spill"`
}

// find is the steps that an earlier run of the same job kept, if they hold the batch that this run begins with. total
// is the batches of this run, steps the steps of its plan. It is nil where there are none, where they do not fit, and
// where they are damaged.
func (k *keeper) find(job *sample.Job, total uint64, sizes spillSizes, steps int) (*kept, error) {
	b, err := vfs.ReadFile(k.fsys, k.path(keptFile), maxKept)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var text sealed
	var found kept
	if json.Unmarshal(b, &text) != nil || hex(xxh3.Hash(text.Spill)) != text.XXH3 || json.Unmarshal(text.Spill, &found) != nil || found.Format != 1 {
		return nil, nil
	}
	// Both sides go through JSON, because Marshal may write a plan in another way than the file has it.
	there, err := json.Marshal(found.Of)
	if err != nil {
		return nil, err
	}
	here, err := json.Marshal(k.of)
	if err != nil {
		return nil, err
	}
	info, err := k.fsys.Stat(k.path(keptExtents))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	fits := bytes.Equal(there, here) && found.First <= job.From && job.From-found.First < found.Batches &&
		found.First+found.Batches <= job.From+total && found.Extent == sizes.extent && found.Group <= 2*sizes.group && len(found.Steps) <= steps && found.Bytes <= info.Size() && found.whole()
	if !fits {
		return nil, nil
	}
	return &found, nil
}

// whole says whether the lists of f agree with each other and with the file of extents: a list has an entry per group,
// each extent lies within the file, and the results of a group have a word or more per slot.
func (f *kept) whole() bool {
	if f.Group == 0 || f.Extent <= 0 || f.Batches == 0 {
		return false
	}
	groups := (f.Batches-1)/f.Group + 1
	good := func(lists [][]byte) bool {
		if uint64(len(lists)) != groups {
			return false
		}
		for _, l := range lists {
			for _, e := range readExtents(l) {
				if int64(e.number)*int64(f.Extent)+int64(e.words)*4 > f.Bytes || int(e.words) > f.Extent/4 {
					return false
				}
			}
		}
		return true
	}
	if !good(f.Spans) {
		return false
	}
	for _, s := range f.Steps {
		if uint64(len(s.Used)) != groups || !good(s.Results) {
			return false
		}
		for g, used := range s.Used {
			words := uint64(0)
			for _, e := range readExtents(s.Results[g]) {
				words += uint64(e.words)
			}
			if uint64(used) > words { // each result is a word or more
				return false
			}
		}
	}
	return true
}

const extentBytes = 16

func appendExtents(b []byte, list []extent) []byte {
	for _, e := range list {
		b = binary.LittleEndian.AppendUint32(b, e.number)
		b = binary.LittleEndian.AppendUint32(b, e.words)
		b = binary.LittleEndian.AppendUint64(b, e.sum)
	}
	return b
}

func readExtents(b []byte) []extent {
	var list []extent
	for ; len(b) >= extentBytes; b = b[extentBytes:] {
		list = append(list, extent{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint64(b[8:])})
	}
	return list
}

// open is the file of extents: the one that found describes, or an empty one.
func (k *keeper) open(found *kept) (*direct.Scratch, error) {
	if found != nil {
		return direct.ReopenScratch(k.fsys, k.path(keptExtents), found.Bytes)
	}
	if err := k.forget(); err != nil {
		return nil, err
	}
	if err := k.remove(keptExtents); err != nil {
		return nil, err
	}
	return direct.KeepScratch(k.fsys, k.path(keptExtents))
}

func (k *keeper) remove(name string) error {
	if err := k.fsys.Remove(k.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// forget removes the list, so that the extents may be overwritten.
func (k *keeper) forget() error { return k.remove(keptFile) }

// Kept says whether a folder has steps that another run, with the folder as Options.Keep, can resume after if it is of
// the same job.
func Kept(fsys vfs.FS, dir string) (bool, error) {
	return vfs.Exists(fsys, filepath.Join(dir, keptFile))
}

// end removes everything, unless the run failed and another one can resume it.
func (k *keeper) end(failed error) error {
	if failed != nil && !errors.Is(failed, errScratch) {
		if kept, err := Kept(k.fsys, k.dir); kept || err != nil {
			return err
		}
	}
	err := errors.Join(k.forget(), k.remove(keptExtents))
	if err == nil {
		// The folder stays if something else was put there.
		_ = k.fsys.Remove(k.dir)
	}
	return err
}

// keep writes the list after a step. from is Job.From.
func (k *keeper) keep(s *spill, from uint64) error {
	if err := s.file.Sync(); err != nil {
		return err
	}
	f := kept{Format: 1, Of: k.of, First: from + s.first, Batches: s.n, Extent: s.sizes.extent, Group: s.sizes.group, Bytes: s.file.Size()}
	for _, list := range s.spans {
		f.Spans = append(f.Spans, appendExtents(nil, list))
	}
	for _, st := range s.steps {
		at := keptAt{Used: st.used, Apart: st.idWords > 0}
		for _, list := range st.results {
			at.Results = append(at.Results, appendExtents(nil, list))
		}
		f.Steps = append(f.Steps, at)
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	b, err := json.Marshal(sealed{hex(xxh3.Hash(text)), text})
	if err != nil {
		return err
	}
	return vfs.WriteFile(k.fsys, k.path(keptFile), b)
}

// restore puts s into the state of f.
func (s *spill) restore(f *kept) {
	s.open(0, f.Batches)
	var all []extent
	for g, list := range f.Spans {
		s.spans[g] = readExtents(list)
		all = append(all, s.spans[g]...)
	}
	for wave, at := range f.Steps {
		st := spillStep{used: at.Used, idWords: s.p.idWords(wave)}
		for _, list := range at.Results {
			st.results = append(st.results, readExtents(list))
			all = append(all, st.results[len(st.results)-1]...)
		}
		s.steps = append(s.steps, st)
	}
	for _, e := range all {
		s.file.next = max(s.file.next, e.number+1)
	}
	used := make([]bool, s.file.next)
	for _, e := range all {
		used[e.number] = true
	}
	for i, is := range used {
		if !is {
			s.file.free = append(s.file.free, uint32(i))
		}
	}
}
