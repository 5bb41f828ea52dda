package cluster

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Job is a step of an import that an engine runs.
type Job string

// The jobs: count the rows of parts of tables; look at integer ids; build the pieces of the store.
const (
	Measure Job = "measure"
	Look    Job = "look"
	Build   Job = "build"
)

// Work is everything that a worker needs for a Job. The submitter saves it in the work folder.
type Work struct {
	Format  int    `json:"format"`
	Version string `json:"version"`
	Job     Job    `json:"job"`

	Source  string         `json:"source"`
	Options ingest.Options `json:"options"`
	Files   []File         `json:"files"`
	// Inputs are the fingerprints of the files, so that a run resumes with the same files alone.
	Inputs map[string]string `json:"inputs,omitempty"`
	Rules  Rules             `json:"rules"`
	// Categories are those that the submitter found: ingest.Source.Collected.
	Categories [][][]byte `json:"categories,omitempty"`

	Tasks   []Task            `json:"tasks"`
	Numbers *assemble.Numbers `json:"numbers,omitempty"` // for Build
	// Top is, by node type with keys, the bits of the hash that choose the bucket of a key; -1 for other types.
	Top []int `json:"top,omitempty"`
	// Ranges are the numbers of ranges of each edge type of the store, in both directions.
	Ranges [][2]int `json:"ranges,omitempty"`
	// Share is the number of tasks of each stage of Build but the first and the last.
	Share int64 `json:"share,omitempty"`
	// Shards is the number of tasks that write the store, and ShardBytes the fewest bytes of a shard (store.Share).
	Shards     int   `json:"shards,omitempty"`
	ShardBytes int64 `json:"shard_bytes,omitempty"`
}

// File is a file of the source, which must be the same for all workers.
type File struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

// Rules are the options of assemble that determine the store.
type Rules struct {
	Primary                                                  graph.Direction
	Both, Homogeneous, NoPositions                           bool
	DanglingEdges, DuplicateNodes, DuplicateEdges, SelfLoops assemble.Policy
}

func (r *Rules) options() assemble.Options {
	return assemble.Options{Primary: r.Primary, Both: r.Both, Homogeneous: r.Homogeneous, NoPositions: r.NoPositions, DanglingEdges: r.DanglingEdges,
		DuplicateNodes: r.DuplicateNodes, DuplicateEdges: r.DuplicateEdges, SelfLoops: r.SelfLoops, Threads: 1}
}

// Task is a part of a table: of node type Index, or of edge type Index in the order of the input.
type Task struct {
	Nodes bool       `json:"nodes,omitempty"`
	Index int        `json:"index"`
	Part  table.Part `json:"part"`
}

const (
	format     = 3
	workFile   = "work.json"
	recordsDir = "records"
)

func (w *Work) save(fsys vfs.FS, dir string) error {
	w.Format = format
	b, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return vfs.WriteFile(fsys, filepath.Join(dir, workFile), b)
}

func readWork(fsys vfs.FS, dir string) (*Work, error) {
	name := filepath.Join(dir, workFile)
	b, err := vfs.ReadFile(fsys, name, 1<<30)
	if err != nil {
		return nil, fmt.Errorf("a worker cannot read the work: %w; put the output on storage that all workers reach at this path", err)
	}
	w := &Work{}
	if err := json.Unmarshal(b, w); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if w.Format != format {
		return nil, fmt.Errorf("%s: found format %d, expected %d; install the same version on all machines", name, w.Format, format)
	}
	return w, nil
}

// stages of the job Build. Others have one.
type stage uint8

const (
	scanStage stage = iota
	matchStage
	numberStage
	edgesStage
	sortStage
	otherStage
	writeStage
)

// adds says whether edges can add nodes to a keyed type.
func adds(s *assemble.Share, r *Rules, t int) bool {
	return s.Type(t).Table == nil || r.DanglingEdges == assemble.Zeros
}

// stages are the stages of the job.
func (w *Work) stages(s *assemble.Share) []stage {
	if w.Job != Build {
		return []stage{scanStage}
	}
	list := []stage{scanStage, matchStage}
	for t, top := range w.Top {
		if top >= 0 && adds(s, &w.Rules, t) {
			list = append(list, numberStage)
			break
		}
	}
	list = append(list, edgesStage, sortStage)
	if w.Rules.Both {
		list = append(list, otherStage)
	}
	return append(list, writeStage)
}

// name is the name of a stage for people.
func (x stage) name(job Job) string {
	if job != Build {
		return string(job)
	}
	return [...]string{"scan", "match", "number", "edges", "sort", "other", "write"}[x]
}

// reads are the stages whose records a stage reads.
func (x stage) reads() []stage {
	return [...][]stage{nil, {scanStage}, {scanStage, matchStage}, {scanStage, matchStage}, {edgesStage}, {sortStage}, {edgesStage}}[x]
}

// firstTasks is the number of tasks of the first stage.
func (w *Work) firstTasks() int64 {
	n := int64(len(w.Tasks))
	if w.Job == Build {
		n++ // the one that calls all keys of later stages into being
	}
	return n
}

// keys numbers the keys by which an engine groups records.
type keys struct {
	tasks   int64
	buckets []int64 // first bucket of each type, and the number of buckets
	ranges  [2][]int64
}

func (w *Work) keys() keys {
	k := keys{tasks: int64(len(w.Tasks)), buckets: []int64{0}, ranges: [2][]int64{{0}, {0}}}
	for _, top := range w.Top {
		n := int64(0)
		if top >= 0 {
			n = 1 << top
		}
		k.buckets = append(k.buckets, k.buckets[len(k.buckets)-1]+n)
	}
	for _, r := range w.Ranges {
		for d := range r {
			k.ranges[d] = append(k.ranges[d], k.ranges[d][len(k.ranges[d])-1]+int64(r[d]))
		}
	}
	return k
}

// all is the key of the task that calls all keys of later stages into being.
func (k *keys) all() int64 { return k.tasks }

// total is the number of buckets.
func (k *keys) total() int64 { return k.buckets[len(k.buckets)-1] }

// index is the key of the index of a bucket, after the keys of tasks.
func (k *keys) index(bucket int64) int64 { return k.tasks + 1 + bucket }

// findList is the list of a key among cumulative first keys, and the number in it.
func findList(firsts []int64, key int64) (list, at int, err error) {
	for i := range len(firsts) - 1 {
		if key >= firsts[i] && key < firsts[i+1] {
			return i, int(key - firsts[i]), nil
		}
	}
	return 0, 0, fmt.Errorf("found key %d, expected less than %d; use the same version on all machines", key, firsts[len(firsts)-1])
}

// names of the files in the work folder.
func chunkFile(dir string, task int64) string { return numbered(dir, "nodes", task) }
func endsFile(dir string, task int64) string  { return numbered(dir, "ends", task) }
func statsFile(dir string, task int64) string { return numbered(dir, "stats", task) }
func indexFile(dir string, bucket int64) string {
	return numbered(dir, "index", bucket)
}
func rangeFile(dir string, direction int, key int64) string {
	return numbered(dir, []string{"ranges", "others"}[direction], key)
}
func firstsFile(dir string, t int, task int64) string {
	return numbered(dir, fmt.Sprintf("firsts/%d", t), task)
}
func textsFile(dir string, t int, task int64) string {
	return numbered(dir, fmt.Sprintf("texts/%d", t), task)
}

func numbered(dir, folder string, n int64) string {
	return filepath.Join(dir, filepath.FromSlash(folder), fmt.Sprintf("%08d", n))
}
