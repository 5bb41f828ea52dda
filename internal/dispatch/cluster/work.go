package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/dispatch"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Work is a run for the workers. It is JSON in the work folder, with the assignment and the places next to it.
type Work struct {
	Format int `json:"format"` // 3
	// ID is in the names of folders that workers write, so that workers of a job that still runs for another Work do not
	// write there. A run that continues another has its ID.
	ID      string `json:"id"`
	Version string `json:"version"`
	// Store is the absolute path of the store, and StoreSum its checksum (store.Sum). Assignment tells assignments apart.
	Store      string `json:"store"`
	StoreSum   string `json:"store_sum"`
	Assignment string `json:"assignment"`

	Parts    int    `json:"parts"`
	Trainers int    `json:"trainers"`
	Method   string `json:"method"`

	GraphName     string      `json:"graph_name"`
	Hops          int         `json:"hops"`
	Leaving       bool        `json:"leaving,omitempty"`
	PartIDs       bool        `json:"part_ids,omitempty"`
	OriginalNodes bool        `json:"original_nodes,omitempty"`
	OriginalEdges bool        `json:"original_edges,omitempty"`
	Formats       dgl.Formats `json:"formats"`
	Memory        int64       `json:"memory,omitempty"`

	// Lists is the folder of in-edges that the store does not list.
	Lists    string             `json:"lists"`
	Segments []dispatch.Segment `json:"segments"`
}

// steps is the number of tasks of cut: at least one, so that parts of a graph without nodes are made too.
func (w *Work) steps() int { return max(len(w.Segments), 1) }

// options are the options of the run.
func (w *Work) options() dispatch.Options {
	return dispatch.Options{GraphName: w.GraphName, Hops: w.Hops, Leaving: w.Leaving, PartIDs: w.PartIDs, OriginalNodes: w.OriginalNodes,
		OriginalEdges: w.OriginalEdges, Formats: w.Formats, Threads: 1, Memory: w.Memory}
}

// set is the opposite of options.
func (w *Work) set(o dispatch.Options) {
	w.GraphName, w.Hops, w.Leaving, w.PartIDs, w.OriginalNodes = o.GraphName, o.Hops, o.Leaving, o.PartIDs, o.OriginalNodes
	w.OriginalEdges, w.Formats, w.Memory = o.OriginalEdges, o.Formats, o.Memory
}

// The files of the work folder, and its folders: of the parts, of files that are being made, of slices, of in-edges that the store
// does not list, and of the copy of the store.
const (
	workFile    = "work.json"
	listsPrefix = "lists-"
	shippedDir  = "store"
	makingDir   = "making"
)

// partsPrefix begins the names of the folders of parts.
const partsPrefix = "parts-"

func (w *Work) partsDir() string { return partsPrefix + w.ID }

// sumsDir is the folder of the checksums of the files of parts.
func (w *Work) sumsDir() string { return "sums-" + w.ID }

// recordsPrefix begins the names of the folders of records.
const recordsPrefix = "records-"

func (w *Work) recordsDir() string { return recordsPrefix + w.ID }

// workFormat is the version of the Work, and of what workers write.
const workFormat = 3

// maxWork bounds the Work: a graph has some thousands of segments.
const maxWork = 64 << 20

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
	if w.Format != workFormat || w.Parts < 1 || w.Parts > assign.MaxParts {
		return nil, fmt.Errorf("%s: found format %d and %d parts, expected %d, and at least 1; install the same version on all machines", name, w.Format, w.Parts, workFormat)
	}
	return &w, nil
}

// The arrays of a Work, in files of their own.
const (
	partArray      = "part.bin"
	trainerArray   = "trainer.bin"
	idArray        = "id.bin"
	startArray     = "start.bin"
	edgeStartArray = "edge_start.bin"
	nodesArray     = "nodes.bin"
	countsArray    = "counts.bin"
)

// save writes the arrays, and then the Work.
func (w *Work) save(fsys vfs.FS, dir string, a *assign.Assignment, l *dispatch.Places) error {
	for _, x := range []struct {
		name string
		data []byte
	}{{partArray, graph.Bytes(a.Part)}, {trainerArray, graph.Bytes(a.Trainer)}, {idArray, graph.Bytes(l.ID)}, {startArray, graph.Bytes(l.Start)},
		{edgeStartArray, graph.Bytes(l.EdgeStart)}, {nodesArray, graph.Bytes(l.Nodes)}, {countsArray, graph.Bytes(l.Counts)}} {
		if err := vfs.WriteFile(fsys, filepath.Join(dir, x.name), x.data); err != nil {
			return err
		}
	}
	b, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return vfs.WriteFile(fsys, filepath.Join(dir, workFile), b)
}

// mapArray maps an array of the work folder; end frees it.
func mapArray[T graph.Numbers](fsys vfs.FS, dir, name string, unmaps *[]func() error) ([]T, error) {
	f, err := fsys.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	b, unmap, err := f.Map()
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	*unmaps = append(*unmaps, unmap)
	return graph.View[T](b), nil
}
