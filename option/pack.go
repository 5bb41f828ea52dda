package option

import (
	"io"
	"time"
)

// Choices of Pack. The empty value of each type is the default.
type (
	// PackMethod is a method of packing.
	PackMethod string
	// Oversize says how to treat graphs that are larger than a pack.
	Oversize string
)

// The values of the choices.
const (
	PackAuto     PackMethod = "auto"      // several methods; the best result is kept. The default
	PackDLPFHP   PackMethod = "dlpfhp"    // the published tuple longest-pack-first algorithm, with equal results
	PackSPFHP    PackMethod = "spfhp"     // its published first-fit variant, with equal results
	PackBestFit  PackMethod = "best-fit"  // best-fit decreasing
	PackFirstFit PackMethod = "first-fit" // first-fit decreasing
	PackNextFit  PackMethod = "next-fit"  // next-fit in the order of the graphs, as dynamic batching does
	PackNone     PackMethod = "none"      // one graph per pack

	OversizeError Oversize = "error" // stop with an error. The default
	OversizeSkip  Oversize = "skip"  // leave them out, and count them
	OversizeAlone Oversize = "alone" // make each a pack of its own, separate from the others
)

// PackLimit is the limit of a pack in one component.
type PackLimit struct {
	Component string // such as "num_nodes" or "num_edges:cites"
	Max       int
}

// Pack say how small graphs are put into packs.
type Pack struct {
	Run

	Limits    []PackLimit // required: one for each component, one to seven in all
	MaxGraphs int         // most graphs in a pack; 0 is no bound
	Method    PackMethod
	// Heuristic is the order in which PackDLPFHP, PackSPFHP, PackBestFit and PackFirstFit take the graphs: "product",
	// "sum", "max", "min", "weighted:W,W,..." with a weight per component, or the name of a component; "" is "product".
	Heuristic string
	// Effort multiplies the work of PackAuto; 0 is 1, which takes about two seconds.
	Effort float64
	// TimeBudget bounds the elapsed time of PackAuto, which then returns its best packing so far; 0 is no bound. It does not
	// bound the reading of the input, nor the writing. With a bound the result depends on the machine. The other methods have
	// no packing before their end, so they refuse a bound.
	TimeBudget time.Duration
	Oversize   Oversize
	// Reserve keeps room in the limits for one padding node of each type and one padding graph, for arrays of fixed shape.
	Reserve bool
	// Ranks makes the number of packs a multiple of Ranks; 0 is 1.
	Ranks int
}

// PublishedCap is the most graphs per pack in the paper on tuple packing.
const PublishedCap = 256

// Fill say for which epochs a pack layout is filled.
type Fill struct {
	Run
	Seed   uint64 // random seed
	Epoch  uint64 // number of the first epoch
	Epochs int    // number of epochs; 0 is 1
}

// Materialise say how the packs of an epoch are written.
type Materialise struct {
	Run
	Seed  uint64 // random seed, as in Fill
	Epoch uint64
	// Format is FormatNpy (the default), FormatCollection or FormatTFRecord.
	Format Format
	Shards int // number of files of FormatTFRecord; 0 is 1
}

// FormatNpy writes packs as NumPy arrays that are padded to one shape, with masks.
const FormatNpy Format = "npy"

// PackStream say how a stream of graphs is packed. Limits are required. Of the other fields of Pack, a
// stream takes MaxGraphs, Oversize and Reserve; the rest are refused.
type PackStream struct {
	Pack
	// Buffer is the number of graphs that are held at a time; 0 is 512.
	Buffer int
	// In is read if the input is named "-".
	In io.Reader
	// Lines receives one line of JSON per pack as soon as the pack is closed, if no folder is written.
	Lines io.Writer
}

// PackHistogram say what PackHistogram counts.
type PackHistogram struct {
	Run
	Components []string // nil is num_nodes and num_edges
	Plot       string   // name of a new file that ends in .html, for a page with a plot of the histogram; "" is none
}

// ComparePacks say what ComparePacks compares.
type ComparePacks struct {
	Run
	Components []string // nil is num_nodes and num_edges
	MaxGraphs  int      // most graphs in a pack; 0 is no bound
	Effort     float64  // multiplies the work of PackAuto; 0 is 1, which takes about two seconds
}

// Amount is a number for a component.
type Amount struct {
	Component string
	N         float64
}

// TunePacks say how TunePacks searches for limits.
type TunePacks struct {
	Run
	Components []string // nil is num_nodes and num_edges
	Align      []Amount // limits are multiples of these integers from 1; components that are not listed have 1
	Cost       []Amount // cost of one unit of a component, such as its bytes; components that are not listed have 1
	Ceiling    float64  // the most that a pack may cost; 0 is sixteen times the cost of the smallest limits
	MaxGraphs  int      // most graphs in a pack; 0 is no bound
	Tries      int      // the most limits to pack with; 0 is 400
	// Target is a harmonic mean of the efficiencies, in percent, at most 100. If it is not 0, TunePacks packs with the
	// cheapest limits that reach it, as Pack does with these Limits and MaxGraphs, and writes the pack layout.
	Target float64
}
