package cluster

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// counts is what a Site has done since it was opened. An engine may call a function again, so they are bounds.
type counts struct {
	started, requests, answers, rows, pieces, subgraphs, edges atomic.Uint64
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
}

func (c *counts) read() Counts {
	return Counts{c.started.Load(), c.requests.Load(), c.answers.Load(), c.rows.Load(), c.pieces.Load(), c.subgraphs.Load(), c.edges.Load()}
}

func (c *Counts) add(d Counts) {
	c.Started += d.Started
	c.Requests += d.Requests
	c.Answers += d.Answers
	c.Rows += d.Rows
	c.Pieces += d.Pieces
	c.Subgraphs += d.Subgraphs
	c.Edges += d.Edges
}

// workersDir is the folder in which workers tell what they have done.
const workersDir = "workers"

// beat is the time between two messages of a worker.
const beat = 500 * time.Millisecond

// pulse tells the submitter every now and then what a Site has done.
type pulse struct {
	s    *Site
	name string
	end  chan struct{}
	done chan struct{}
}

func startPulse(s *Site) *pulse {
	p := &pulse{s: s, name: filepath.Join(s.Dir, workersDir, workfolder.Unique()+".json"), end: make(chan struct{}), done: make(chan struct{})}
	go p.run()
	return p
}

func (p *pulse) run() {
	defer close(p.done)
	tick := time.NewTicker(beat)
	defer tick.Stop()
	var last Counts
	for {
		select {
		case <-tick.C:
		case <-p.end:
			p.tell(p.s.counts.read())
			return
		}
		if now := p.s.counts.read(); now != last {
			p.tell(now)
			last = now
		}
	}
}

// tell replaces the message. A message that is lost is no fault: it only serves progress.
func (p *pulse) tell(c Counts) {
	b, err := json.Marshal(c)
	if err != nil {
		return
	}
	temp := p.name + ".new"
	_ = p.s.fs.Remove(temp)
	if vfs.WriteFile(p.s.fs, temp, b) == nil {
		_ = p.s.fs.Rename(temp, p.name)
	}
}

func (p *pulse) stop() {
	if p == nil {
		return
	}
	close(p.end)
	<-p.done
}

// readCounts adds up the messages of all workers.
func readCounts(fsys vfs.FS, dir string) (all Counts) {
	entries, err := fsys.ReadDir(filepath.Join(dir, workersDir))
	if err != nil {
		return all
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		var c Counts
		if b, err := vfs.ReadFile(fsys, filepath.Join(dir, workersDir, e.Name()), 1<<16); err == nil && json.Unmarshal(b, &c) == nil {
			all.add(c)
		}
	}
	return all
}

// Failed saves the text of an error for the submitter, and returns the error.
func (s *Site) Failed(err error) error {
	if err != nil {
		workfolder.SaveFailure(s.fs, s.Dir, err)
	}
	return err
}

var _ sample.Given = (*answers)(nil)
