package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Method is how workers read the graph.
type Method string

// The methods: each worker maps the whole store, or ranges of it meet requests.
const (
	Local   Method = "local"
	Shuffle Method = "shuffle"
)

// Work is a run of sampling for the workers. It is JSON in the work folder, with the arrays of the seeds next to it.
type Work struct {
	Format int    `json:"format"` // 4
	ID     string `json:"id"`     // of this Work alone; it reaches no output
	Law    int    `json:"law"`    // version of the draw law
	// Store is the absolute path of the store, and StoreSum its checksum (store.Sum).
	Store    string `json:"store"`
	StoreSum string `json:"store_sum"`

	Plan      json.RawMessage `json:"plan"`
	Ops       bool            `json:"ops,omitempty"`
	NoEdgeIDs bool            `json:"no_edge_ids,omitempty"`

	// The job, in the batches that pieces are made of.
	BatchSize int    `json:"batch_size"`
	Seed      uint64 `json:"seed"`
	Epoch     uint64 `json:"epoch"`
	Epochs    int    `json:"epochs"`
	Shuffled  bool   `json:"shuffled,omitempty"`
	Rank      int    `json:"rank"`
	Ranks     int    `json:"ranks"`

	// Records is the format of TFRecords, nil for a collection.
	Records *Records `json:"records,omitempty"`

	// Shards is how many tasks write the output, 1 where the submitter does, and ShardBytes the fewest bytes of a shard of an array (store.Share).
	Shards     int   `json:"shards"`
	ShardBytes int64 `json:"shard_bytes,omitempty"`

	Method Method `json:"method"`
	// Batches is the number of batches per epoch, and GroupBatches per group. No group extends over two epochs.
	Batches      uint64 `json:"batches"`
	GroupBatches uint64 `json:"group_batches"`
	// Share is the number of tasks of each stage by the method Shuffle, except for the first.
	Share int64 `json:"share,omitempty"`
	// WaveGroups is the number of groups in a wave.
	WaveGroups uint64 `json:"wave_groups,omitempty"`
	// RangeNodes is the number of nodes of a range, and MostRanges bounds the number of ranges of a node type: ranges of
	// a large type have more nodes.
	RangeNodes int `json:"range_nodes,omitempty"`
	MostRanges int `json:"most_ranges,omitempty"`

	Seeds array `json:"seeds"`
	Times array `json:"times,omitzero"`
	// Negatives are the lists of negatives of the job: their nodes and their ends.
	Negatives [2]array `json:"negatives,omitzero"`
	// Targets says that the nodes of the negatives are targets alone.
	Targets bool         `json:"targets,omitempty"`
	Columns []columnFile `json:"columns,omitempty"`
	// Messages are the array files of the plan's messages in the work folder, by edge type and array (messages.Write).
	Messages map[string]map[string]string `json:"messages,omitempty"`
}

// Records is the fields of output.RecordsOptions that are not arrays.
type Records struct {
	Name       string        `json:"name"`
	Shards     int           `json:"shards"`
	Gzip       bool          `json:"gzip,omitempty"`
	Examples   uint64        `json:"examples"`
	IDs        []string      `json:"ids,omitempty"`
	Components int           `json:"components"`
	SeedIDs    bool          `json:"seed_ids,omitempty"`
	Compat     output.Compat `json:"compat,omitempty"`
	Joined     bool          `json:"joined,omitempty"`
	SeedEdges  string        `json:"seed_edges,omitempty"`
	// Schema is the schema of the graph in wire format, nil where it is not known.
	Schema []byte `json:"schema,omitempty"`
}

// workFile is the file of the Work in its folder.
const workFile = "work.json"

// workFormat is the version of the Work, and of the pieces.
const workFormat = 4

// maxWork bounds the Work: its plan has at most 16 MiB.
const maxWork = 64 << 20

// Groups is the number of groups of the run.
func (w *Work) Groups() uint64 { return w.epochGroups() * uint64(max(w.Epochs, 1)) }

func (w *Work) epochGroups() uint64 { return (w.Batches + w.GroupBatches - 1) / w.GroupBatches }

// Group is the batches of a group: the first, counted over the run, and their number.
func (w *Work) Group(group uint64) (first, n uint64) {
	epoch, at := group/w.epochGroups(), group%w.epochGroups()*w.GroupBatches
	return epoch*w.Batches + at, min(w.GroupBatches, w.Batches-at)
}

// groupOf is the group of a batch.
func (w *Work) groupOf(batch uint64) uint64 {
	return batch/w.Batches*w.epochGroups() + batch%w.Batches/w.GroupBatches
}

// readWork reads the Work of a folder, and refuses one that is not whole or that another version has made.
func readWork(fsys vfs.FS, dir string) (*Work, error) {
	name := filepath.Join(dir, workFile)
	b, err := vfs.ReadFile(fsys, name, maxWork)
	if err != nil {
		return nil, fmt.Errorf("cannot read the work: %w; workers need the folder of the output at the same path as the submitter", err)
	}
	var w Work
	if err := json.Unmarshal(b, &w); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case w.Format != workFormat || w.Law != draw.Version:
		return nil, fmt.Errorf("%s: found format %d and draw law %d, expected %d and %d; install the same version on all machines", name, w.Format, w.Law, workFormat, draw.Version)
	case len(w.Plan) == 0 || w.ID == "" || w.ID != filepath.Base(w.ID) || w.GroupBatches == 0 || w.BatchSize < 1 || w.Shards < 1 || w.Method != Local && w.Method != Shuffle:
		return nil, fmt.Errorf("%s: found no whole work, expected a plan, groups and a method", name)
	case w.Method == Shuffle && (w.RangeNodes < 1 || w.Share < 1 || w.MostRanges < 1 || w.WaveGroups == 0):
		return nil, fmt.Errorf("%s: found %d ranges of %d nodes and waves of %d groups, expected at least 1", name, w.MostRanges, w.RangeNodes, w.WaveGroups)
	}
	return &w, nil
}

// save writes the arrays of a job, and then the Work.
func (w *Work) save(fsys vfs.FS, dir string, job *sample.Job, records *output.RecordsOptions) (err error) {
	if w.Seeds, err = writeArray(fsys, dir, "seeds.npy", "u4", graph.Bytes(job.Seeds)); err != nil {
		return err
	}
	if job.Times != nil {
		if w.Times, err = writeTimes(fsys, dir, job.Times); err != nil {
			return err
		}
	}
	if w.Targets = job.Negatives.Targets; job.Negatives.Nodes != nil {
		if w.Negatives[0], err = writeArray(fsys, dir, "negatives.npy", "u4", graph.Bytes(job.Negatives.Nodes)); err != nil {
			return err
		}
	}
	if job.Negatives.Ends != nil {
		if w.Negatives[1], err = writeArray(fsys, dir, "negative-ends.npy", "u8", graph.Bytes(job.Negatives.Ends)); err != nil {
			return err
		}
	}
	if records != nil {
		for i, c := range records.SeedColumns {
			f, err := writeColumn(fsys, dir, fmt.Sprintf("column-%d", i), c)
			if err != nil {
				return err
			}
			w.Columns = append(w.Columns, f)
		}
	}
	b, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return vfs.WriteFile(fsys, filepath.Join(dir, workFile), b)
}

// job is the job, with its arrays mapped from the folder.
func (s *Site) openJob() error {
	w := s.Work
	s.job = sample.Job{BatchSize: w.BatchSize, Seed: w.Seed, Epoch: w.Epoch, Epochs: w.Epochs, Shuffle: w.Shuffled, Rank: w.Rank, Ranks: w.Ranks}
	seeds, err := s.array(w.Seeds, "u4")
	if err != nil {
		return err
	}
	s.job.Seeds = graph.View[uint32](seeds)
	if w.Times.File != "" {
		if s.job.Times, err = s.times(w.Times); err != nil {
			return err
		}
	}
	if w.Negatives[0].File != "" {
		nodes, err := s.array(w.Negatives[0], "u4")
		if err != nil {
			return err
		}
		s.job.Negatives.Nodes, s.job.Negatives.Targets = graph.View[uint32](nodes), w.Targets
	}
	if w.Negatives[1].File != "" {
		ends, err := s.array(w.Negatives[1], "u8")
		if err != nil {
			return err
		}
		s.job.Negatives.Ends = graph.View[uint64](ends)
	}
	return nil
}

// records is the options with which TFRecords are written.
func (s *Site) records() (output.RecordsOptions, error) {
	r := s.Work.Records
	o := output.RecordsOptions{Name: r.Name, Shards: r.Shards, Gzip: r.Gzip, Examples: r.Examples, IDs: r.IDs, Components: r.Components,
		SeedIDs: r.SeedIDs, Seeds: s.job.Seeds, Compat: r.Compat, Joined: r.Joined, SeedEdges: r.SeedEdges, Features: s.features}
	if r.Schema != nil {
		o.Schema = &tfgnnpb.GraphSchema{}
		if err := unmarshalSchema(r.Schema, o.Schema); err != nil {
			return o, err
		}
	}
	var errs []error
	for _, f := range s.Work.Columns {
		c, err := s.column(f)
		o.SeedColumns, errs = append(o.SeedColumns, c), append(errs, err)
	}
	return o, errors.Join(errs...)
}
