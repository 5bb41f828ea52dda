package partition

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/partition/multilevel"
	"github.com/graphmill/graphmill/internal/partition/ranges"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Names of the methods.
const (
	// Multilevel gives the smallest cut. It holds the graph in memory, or runs out of core if that does not fit.
	Multilevel = "multilevel"
	// Fennel streams the rows of the graph, which may lie on disk.
	Fennel = "fennel"
	// Ranges is multilevel in rounds of workers that each have a range of the nodes, as on a cluster.
	Ranges = "ranges"
	// Random draws parts that have the same number of nodes of each type, plus or minus one.
	Random = "random"
	// Hash computes the part of a node from the random seed, its type and its id alone, so that the part stays
	// when the graph grows.
	Hash = "hash"
	// Import reads the assignment of another program.
	Import = "import"
)

// Methods lists the methods.
var Methods = []string{Multilevel, Fennel, Ranges, Random, Hash, Import}

// Stages of Options.Progress of a division in memory.
const (
	StageGraph  = "graph"  // the neighbours of the nodes are listed
	StageDivide = "divide" // the nodes are divided
)

// Options define how a graph is divided.
type Options struct {
	Method string // empty: Multilevel
	Parts  int    // 1..undirected.MaxParts; 0 with Import: the number of parts of the assignment
	// Trainers, if above 1, divides each part between as many trainers: the graph is cut into Parts*Trainers
	// pieces, and each part takes Trainers of them.
	Trainers int
	// Imbalance is the largest allowed weight of a part relative to the mean, at least 1: one entry, or one
	// per constraint. Empty: 1.03.
	Imbalance []float64
	Balance   Balance
	Seed      uint64
	Threads   int
	// Memory bounds the peak, in bytes; 0: no bound. A bound below the least that is needed is an error,
	// ErrMemory.
	Memory int64
	// Temp is the folder for temporary files.
	Temp string
	// Preset and Objective are options of Multilevel; empty: its defaults.
	Preset    multilevel.Preset
	Objective multilevel.Objective
	// Passes is the number of times that Fennel streams the nodes; 0: 5.
	Passes int
	// Import is the file or folder of the assignment to read. ImportOrder lists the node types in the order in
	// which a file of the homogeneous graph has them; nil: byte order.
	Import      string
	ImportOrder []string
	// Elsewhere, if not nil, divides a store by Ranges. Memory is then a bound for each of its workers.
	Elsewhere Divider
	// Foretold, if not nil, receives the forecast before the run begins.
	Foretold func(Forecast)
	// Progress, if not nil, receives the progress of a stage; several goroutines call it.
	Progress func(stage string, done, total int64, unit string)
}

// Divider divides the nodes of a store by the method ranges on other machines.
type Divider interface {
	// Divide returns the rows of the graph without the weights of the nodes, which the caller closes, and the parts that ranges.Partition finds.
	Divide(ctx context.Context, of Division) (*undirected.Spilled, []uint16, *ranges.Stats, error)
	// Measure measures a division of the graph that Divide divided, with the edges of the store. A run calls it at most MostMeasures times.
	Measure(ctx context.Context, p *Pieces) (*Measures, error)
}

// MostMeasures is the number of divisions that a run measures: the one that it finds, and what becomes of it where parts lack edges of a type.
const MostMeasures = 2

// Division is the options of a Divider.
type Division struct {
	undirected.Options
	Trainers int // of each part, as in Options
	Balance  Balance
	Preset   multilevel.Preset
	// Whole and Memory are as in ranges.Options.
	Whole, Memory int64
}

// Balance selects the constraints: the quantities that are spread evenly over the parts. The zero value
// spreads the nodes of each type; every part then has nodes of each type that has at least as many of them as
// there are parts (except with Hash and Import, which do not choose freely).
type Balance struct {
	// TypesTogether spreads the nodes of all types together, which gives a smaller cut. A part may then lack a
	// type; DGL's server does not start for a part that owns no node of a type with features.
	TypesTogether bool `json:"types_together,omitempty"`
	Edges         bool `json:"edges,omitempty"` // spread in-degrees too
	// Columns are integer columns of nodes, as "train_mask" or "paper/train_mask". The nodes of each value but
	// the most frequent one are spread.
	Columns []string `json:"columns,omitempty"`
}

// ErrUsage is the kind of errors about options that contradict each other or the graph, ErrMemory about a memory bound that is
// too small.
var (
	ErrUsage  = errors.New("usage")
	ErrMemory = errors.New("memory too small")
)

func usagef(format string, a ...any) error { return tagged.Errorf(ErrUsage, format, a...) }

// defaultImbalance is METIS's.
const defaultImbalance = 1.03

// maxImbalance exceeds any number of parts, so that it bounds nothing.
const maxImbalance = 1e6

// passes is the default number of passes of fennel; further ones gain little.
const passes = 5

func (o *Options) check() error {
	if o.Method == "" {
		o.Method = Multilevel
	}
	if !slices.Contains(Methods, o.Method) {
		return usagef("found method %q, expected one of %s%s", o.Method, strings.Join(Methods, ", "), suggest.Hint(o.Method, Methods))
	}
	o.Trainers = max(1, o.Trainers)
	switch {
	case o.Method == Import && o.Import == "":
		return usagef("found the method import without a file, expected a folder of <node type>.txt or a METIS or ParMETIS file; give it as `Import`")
	case o.Method != Import && o.Import != "":
		return usagef("found an assignment to import with the method %s, expected the method import; give `Method` import, or leave the assignment out", o.Method)
	case o.Method == Import && o.Trainers > 1:
		return usagef("found %d trainers with the method import, expected the trainers of the assignment, if it has any; leave `TrainersPerMachine` out", o.Trainers)
	case o.Trainers > undirected.MaxParts:
		return usagef("found %d trainers per part, expected 1 to %d", o.Trainers, undirected.MaxParts)
	case o.Method != Import && (o.Parts < 1 || o.Parts > undirected.MaxParts/o.Trainers):
		return usagef("found %d parts, expected 1 to %d", o.Parts, undirected.MaxParts/o.Trainers)
	case o.Passes < 0 || o.Passes > 1000:
		return usagef("found %d passes, expected 1 to 1000", o.Passes)
	case o.Passes != 0 && o.Method != Fennel:
		return usagef("found passes with the method %s, expected them with fennel alone; leave `Passes` out, or give `Method` fennel", o.Method)
	}
	if o.Elsewhere != nil && o.Method != Ranges {
		return usagef("found the method %s on a cluster, expected ranges; give `Method` ranges, or divide the graph in one process", o.Method)
	}
	if o.Passes == 0 {
		o.Passes = passes
	}
	if o.Preset == "" {
		o.Preset = multilevel.Default
	}
	if len(o.Imbalance) == 0 {
		o.Imbalance = []float64{defaultImbalance}
	}
	for _, e := range o.Imbalance {
		if !(e >= 1 && e <= maxImbalance) {
			return usagef("found imbalance %v, expected 1 to %d: 1.03 lets a part be 3 %% heavier than the mean", e, int(maxImbalance))
		}
	}
	o.Threads = max(1, o.Threads)
	return nil
}

// fit checks the number of imbalances against the constraints.
func (o *Options) fit(names []string) error {
	if n := len(o.Imbalance); n != 1 && n != len(names) {
		return usagef("found %d imbalances, expected one, or one for each of %d constraints (%s)", n, len(names), strings.Join(names, ", "))
	}
	return nil
}

// cutInto is the number of pieces that the graph is cut into.
func (o *Options) cutInto() int { return o.Parts * o.Trainers }

func (o *Options) divide() undirected.Options {
	return undirected.Options{Parts: o.cutInto(), Imbalance: o.Imbalance, Seed: o.Seed, Threads: o.Threads}
}
