package cluster

import (
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// counts is what a Site has done since it was opened. An engine may call a function again, so they are bounds.
type counts struct {
	started, requests, answers, rows, pieces, subgraphs, edges, written atomic.Uint64
}

// Counts is the work that all workers have done.
type Counts struct {
	Started   uint64 `json:"started"`   // groups that Start has drawn
	Requests  uint64 `json:"requests"`  // sent to ranges
	Answers   uint64 `json:"answers"`   // drawn by ranges
	Rows      uint64 `json:"rows"`      // given to groups
	Pieces    uint64 `json:"pieces"`    // written
	Subgraphs uint64 `json:"subgraphs"` // in them
	Edges     uint64 `json:"edges"`     // drawn for them
	Written   uint64 `json:"written"`   // shares of the output
}

func (c *counts) read() Counts {
	return Counts{c.started.Load(), c.requests.Load(), c.answers.Load(), c.rows.Load(), c.pieces.Load(), c.subgraphs.Load(), c.edges.Load(), c.written.Load()}
}

func (c *Counts) add(d Counts) {
	c.Started += d.Started
	c.Requests += d.Requests
	c.Answers += d.Answers
	c.Rows += d.Rows
	c.Pieces += d.Pieces
	c.Subgraphs += d.Subgraphs
	c.Edges += d.Edges
	c.Written += d.Written
}

// readCounts adds up the messages of all workers.
func readCounts(fsys vfs.FS, dir string) (all Counts) {
	workfolder.Pulses(fsys, dir, func(c Counts) { all.add(c) })
	return all
}

var _ sample.Given = (*answers)(nil)
