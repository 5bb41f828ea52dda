package report

import (
	"encoding/json"
)

// Measurement is the measured speed of sampling. Its JSON is what the command bench sample prints with --json. A sampled
// edge is an edge drawn by an op.
type Measurement struct {
	SampledEdgesPerSecond float64 `json:"sampled_edges_per_second"`
	// RandomReadsPerSecond is a limit of the machine, measured after the batches: the values of 4 bytes that as many threads read at random
	// places of the longest list of neighbours, which has RandomReadBytes bytes. A draw reads at least one.
	RandomReadsPerSecond float64         `json:"random_reads_per_second"`
	RandomReadBytes      int64           `json:"random_read_bytes"`
	BatchesPerSecond     float64         `json:"batches_per_second"`
	SampledEdges         uint64          `json:"sampled_edges"` // in all batches
	Nodes                uint64          `json:"nodes"`         // in all batches, those of a batch once
	Batches              int             `json:"batches"`
	BatchSize            int             `json:"batch_size"` // seeds per batch
	Seconds              float64         `json:"seconds"`    // elapsed time of the batches
	Threads              int             `json:"threads"`
	Seeds                int             `json:"seeds"`          // number of seeds that batches are taken from
	PeakRSS              int64           `json:"peak_rss_bytes"` // peak memory of the process, in bytes
	Plan                 json.RawMessage `json:"plan"`           // docs/plan.md
	Machine              string          `json:"machine"`        // operating system, architecture and number of CPUs
	Version              string          `json:"version"`        // version of Graphmill
}
