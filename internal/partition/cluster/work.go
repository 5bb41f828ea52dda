package cluster

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/multilevel"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Work is a run for the workers. It is JSON in the work folder.
type Work struct {
	Format int `json:"format"` // 2
	// ID is in the names of folders that workers write, so that workers of a job that still runs for another Work do not
	// write there. A run that continues another has its ID, and its Ranges and Pieces.
	ID      string `json:"id"`
	Version string `json:"version"`
	// Store is the absolute path of the store, and StoreSum its checksum (store.Sum).
	Store    string `json:"store"`
	StoreSum string `json:"store_sum"`

	Parts     int               `json:"parts"`    // that the graph is cut into: those of trainers
	Trainers  int               `json:"trainers"` // that share a part of the output
	Imbalance []float64         `json:"imbalance"`
	Balance   partition.Balance `json:"balance"`
	Seed      uint64            `json:"seed"`
	Preset    multilevel.Preset `json:"preset"`
	Whole     int64             `json:"whole"`
	// Memory bounds the worker that divides the core, in addition to its program and the weights of the nodes; 0: no bound.
	Memory int64 `json:"memory,omitempty"`

	// Ranges is the number of ranges of nodes, which are the tasks of a round. Pieces is the number of files of rows.
	Ranges int `json:"ranges"`
	Pieces int `json:"pieces"`
}

func (w *Work) options() undirected.Options {
	return undirected.Options{Parts: w.Parts, Imbalance: w.Imbalance, Seed: w.Seed, Threads: 1}
}

// The files of the work folder.
const (
	workFile       = "work.json"
	shippedDir     = "store"
	rowsPrefix     = "rows-"
	messagesPrefix = "messages-"
	recordsPrefix  = "records-"
)

func (w *Work) rowsDir() string     { return rowsPrefix + w.ID }
func (w *Work) messagesDir() string { return messagesPrefix + w.ID }
func (w *Work) recordsDir() string  { return recordsPrefix + w.ID }

// pieceFile is the file of the rows of a piece.
func (w *Work) pieceFile(dir string, piece int) string {
	return filepath.Join(dir, w.rowsDir(), fmt.Sprintf("%08d", piece))
}

const (
	workFormat = 2
	maxWork    = 1 << 20
	mostTasks  = 1 << 16 // ranges, and pieces
)

// readWork reads the Work of a folder, and refuses one that another version has made.
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
	if w.Format != workFormat || w.Parts < 1 || w.Parts > undirected.MaxParts || w.Trainers < 1 || w.Parts%w.Trainers != 0 || w.Ranges < 1 || w.Ranges > mostTasks || w.Pieces < 1 || w.Pieces > mostTasks || len(w.Imbalance) == 0 {
		return nil, fmt.Errorf("%s: found format %d with %d parts, %d trainers, %d ranges and %d pieces, expected %d, and 1 or more of each; install the same version on all machines", name, w.Format, w.Parts, w.Trainers, w.Ranges, w.Pieces, workFormat)
	}
	return &w, nil
}

func (w *Work) save(fsys vfs.FS, dir string) error {
	b, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return vfs.WriteFile(fsys, filepath.Join(dir, workFile), b)
}
