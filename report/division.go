package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/human"
)

// DispatchForecast is the forecast of a run of Dispatch.
type DispatchForecast struct {
	Bytes       int64   `json:"bytes"`         // size of the parts on disk, in bytes
	Memory      int64   `json:"memory_bytes"`  // peak memory of the process, in bytes
	PartsAtOnce int     `json:"parts_at_once"` // parts made at a time
	Seconds     float64 `json:"seconds"`       // elapsed time
}

// Text writes the forecast in words.
func (f *DispatchForecast) Text(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s on disk, %s of memory, about %s, %d parts at once\n", human.Bytes(f.Bytes), human.Bytes(f.Memory), human.Duration(human.Seconds(f.Seconds)), f.PartsAtOnce)
	return err
}

// Division describes how a graph was divided into parts, and how good the division is. Its JSON is what the command
// partition prints with --json. A pair is two neighbouring nodes: it counts once, whatever edges join them.
type Division struct {
	Output string `json:"output"` // the folder of the assignment, or the file in the form of gpmetis, as it was named
	Method string `json:"method"`
	// OutOfCore says how multilevel divided a graph that did not fit the memory; nil: it was in memory.
	OutOfCore *DivisionOutOfCore `json:"out_of_core,omitempty"`
	// Ranges says how the method ranges divided the graph; nil: another method.
	Ranges   *DivisionRanges `json:"ranges,omitempty"`
	Parts    int             `json:"parts"`
	Trainers int             `json:"trainers_per_machine,omitempty"`
	Nodes    int             `json:"nodes"`     // nodes of all types
	Pairs    int64           `json:"pairs"`     // pairs of neighbours
	Cut      int64           `json:"cut"`       // pairs in different parts
	CutShare float64         `json:"cut_share"` // Cut / Pairs
	// Volume is the total communication volume: the sum, over all nodes, of the number of other parts in which the node
	// has neighbours.
	Volume   int64 `json:"volume"`
	Boundary int64 `json:"boundary_nodes"` // nodes with a neighbour in another part
	// Balance is the weight of the heaviest part divided by the mean, for each quantity that is balanced.
	Balance map[string]float64 `json:"balance"`
	// Within reports whether every part, and every trainer's share of one, keeps option.Partition.Imbalance.
	Within      bool    `json:"within_imbalance"`
	EdgeBalance float64 `json:"edge_balance"` // the largest sum of degrees of a part divided by the mean
	EmptyParts  int     `json:"empty_parts"`  // parts without a node
	// TrainerBalance is Balance for the trainers' shares of the parts.
	TrainerBalance map[string]float64 `json:"trainer_balance,omitempty"`
	// EdgeTypes has the cut of each edge type; it is empty for a METIS file.
	EdgeTypes map[string]EdgeTypeCut `json:"edge_types,omitempty"`
	Each      []DividedPart          `json:"each_part"`                         // one per part, in order
	Gaps      []TypeGap              `json:"types_not_in_every_part,omitempty"` // node types that some part lacks
	Random    RandomDivision         `json:"random"`                            // for comparison
	Seconds   float64                `json:"seconds"`                           // time of the division alone
	// ElapsedSeconds is the time of the whole run, with reading and writing.
	ElapsedSeconds float64          `json:"elapsed_seconds"`
	PeakRSS        int64            `json:"peak_rss_bytes"` // peak memory of the process, in bytes
	Forecast       DivisionForecast `json:"forecast"`
	Notes          []string         `json:"notes,omitempty"` // what the method chose or could not keep
	// Balanced are the keys of Balance, in the order of the options.
	Balanced []string `json:"-"`
}

// EdgeTypeCut is the cut of an edge type.
type EdgeTypeCut struct {
	Edges    int64   `json:"edges"`     // edges of the type
	Cut      int64   `json:"cut"`       // edges between different parts
	CutShare float64 `json:"cut_share"` // Cut / Edges
}

// TypeGap is a node type that some parts have no node of.
type TypeGap struct {
	Type  string `json:"type"`
	Nodes int64  `json:"nodes"` // nodes of the type in the whole graph
	Parts []int  `json:"parts"` // parts that own no node of the type
}

// DividedPart describes a part.
type DividedPart struct {
	Nodes int64 `json:"nodes"` // nodes that the part owns
	// Volume is the number of nodes of other parts that are neighbours of the part's nodes. The sum over the parts is
	// Division.Volume. The halo of a part of Dispatch has some or all of these nodes, and more for several hops.
	Volume  int64            `json:"volume"`
	Cut     int64            `json:"cut"`     // pairs with one end in the part
	Weights map[string]int64 `json:"weights"` // weight of each quantity that is balanced
}

// RandomDivision has the values expected of a division that assigns nodes to parts at random.
type RandomDivision struct {
	Cut      float64 `json:"cut"`
	Volume   float64 `json:"volume"`
	CutRatio float64 `json:"cut_ratio"` // Division.Cut / Cut
}

// DivisionOutOfCore says how a graph that does not fit the memory was divided: in passes over temporary files, which made
// smaller graphs until one, the core, fitted.
type DivisionOutOfCore struct {
	Levels       int   `json:"levels"` // graphs, with the given one and the core
	CoreNodes    int   `json:"core_nodes"`
	CorePairs    int64 `json:"core_pairs"`
	Passes       int   `json:"passes"` // over the given graph
	ReadBytes    int64 `json:"read_bytes"`
	WrittenBytes int64 `json:"written_bytes"`
	// Words say the same in a line.
	Words string `json:"-"`
}

// DivisionRanges says how the method ranges divided a graph, and what workers with a range each would tell each other.
type DivisionRanges struct {
	CoreNodes int   `json:"core_nodes"` // clusters, which are the nodes of the graph that one machine divides
	CorePairs int64 `json:"core_pairs"`
	// CoreOutOfCore says that this graph did not fit the memory, and was divided out of core.
	CoreOutOfCore bool    `json:"core_out_of_core,omitempty"`
	ByDegree      bool    `json:"by_degree,omitempty"` // parts filled by falling degree gave the smaller cut
	Passes        float64 `json:"passes"`              // over the edges of the graph
	Barriers      int     `json:"barriers"`            // times that all workers wait for each other
	// SentBytes are those of messages to one worker, from all workers. ReceivedBytes are those of messages to all workers, which each receives.
	SentBytes     int64 `json:"sent_bytes"`
	ReceivedBytes int64 `json:"received_bytes"`
	// Words say the same in a line.
	Words string `json:"-"`
}

// DivisionForecast is the forecast made before the graph was divided.
type DivisionForecast struct {
	Memory  int64   `json:"memory_bytes"` // peak memory of the process, in bytes
	Disk    int64   `json:"disk_bytes"`   // temporary disk space, in bytes
	Seconds float64 `json:"seconds"`
	// Rough says that Seconds depends on the graph, and may be several times too small or too large.
	Rough bool `json:"seconds_rough,omitempty"`
	// Unknown says that Seconds is 0 because the time is not known.
	Unknown bool `json:"seconds_unknown,omitempty"`
}

// Text writes the division in words.
func (j *Division) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d parts, by %s%s in %s\n", j.Parts, j.Method, map[bool]string{true: ", out of core,"}[j.OutOfCore != nil], human.Duration(time.Duration(j.Seconds*float64(time.Second))))
	fmt.Fprintf(&b, "  cut      %s of %s pairs (%s; %s by chance)\n", human.Exact(j.Cut), human.Exact(j.Pairs), human.Percent(j.CutShare), human.Percent(human.Ratio(j.Random.Cut, float64(j.Pairs))))
	fmt.Fprintf(&b, "  volume   %s (%s by chance)\n", human.Exact(j.Volume), human.Exact(int64(j.Random.Volume)))
	for _, name := range j.Balanced {
		fmt.Fprintf(&b, "  balance  %.4f  %s\n", j.Balance[name], human.Printable(name))
	}
	fmt.Fprintf(&b, "  balance  %.4f  of edges, by degree%s\n", j.EdgeBalance, map[bool]string{true: "; see `BalanceEdges`"}[j.EdgeBalance > 1.5])
	if j.OutOfCore != nil {
		fmt.Fprintf(&b, "  core     %s\n", j.OutOfCore.Words)
	}
	if j.Ranges != nil {
		fmt.Fprintf(&b, "  ranges   %s\n", j.Ranges.Words)
	}
	if j.EmptyParts > 0 {
		fmt.Fprintf(&b, "  %d parts are empty\n", j.EmptyParts)
	}
	if !j.Within {
		b.WriteString("  the requested balance was not reached\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
