package predictions

import (
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrUsage is the kind of errors about options, for errors.Is.
var ErrUsage = errors.New("options that mean nothing together")

// usagef is an error of the kind ErrUsage.
func usagef(format string, a ...any) error { return tagged.Errorf(ErrUsage, format, a...) }

// Array is a .npy file with a row per node, edge or pair.
type Array struct {
	Name string // of its column in the table
	File string
	// Classes is the column of categories of which the numbers of the array are codes, and whose texts are written; "" writes the numbers.
	Classes string
}

// Options say what is written.
type Options struct {
	// Type is a node type, an edge type src:rel:dst or the relation of one, or two node types src:dst, for pairs of nodes; "" is the only node
	// type of the store.
	Type   string
	Arrays []Array
	// Nodes is a .npy file with the node or the edge id of each row of the arrays; "" means that they have a row per node or edge, in order.
	// Of pairs it has the sources and targets, [2, rows].
	Nodes string
	// Rows is a condition "COLUMN=VALUE" that the nodes or edges of the rows fulfil; "" takes all.
	Rows string
	// With are columns of the store to write beside the arrays.
	With []string
	// IDName is the name of the column of ids; "" is "id". Edges and pairs have the columns "source" and "target".
	IDName string
	// IntegerIDs writes ids that the store has as texts of integers as integers.
	IntegerIDs bool
	// EdgeIDs writes the ids of the edges, as the column "edge_id".
	EdgeIDs bool
	// Overwrite replaces a file or table that is there.
	Overwrite bool
	Threads   int // at least 1
	// Memory bounds the peak, in bytes; 0: no bound. It changes no byte of the output.
	Memory int64
	// Origin names the store in the metadata of a Parquet file; "" leaves it out.
	Origin string
	// Progress, if not nil, receives the numbers of rows of the arrays that are done, which are Result.Read in all.
	Progress func(rows int)
	// Begin, if not nil, receives Result.Read before the first row is written.
	Begin func(rows int)

	made *madeRows // of FindTop; Write closes its files
}

// Result describes what was written.
type Result struct {
	Type    string // the type of the nodes or edges
	Edges   bool   // its rows are edges
	Read    int64  // rows of the arrays
	Rows    int64  // that were written
	Columns int
	Bytes   int64 // of the file; 0 of a table of a database
	// Unlabelled counts rows whose class is -1, by column.
	Unlabelled map[string]int64
}

// What a run holds beside the blocks: a row group with its pages, an encoder per thread, and mapped pages of the store.
const (
	groupBytes  = 24 << 20
	threadBytes = 8 << 20
	mappedBytes = 10 << 20
	// copies is how often the values of a block are in memory: as they are read, as cells, and encoded.
	copies = 4
)

// left returns how much of Memory is free beside the given number of blocks, each of block bytes; 0 without a bound. It refuses a bound that is too small.
func (o *Options) left(blocks int, block int64) (int64, error) {
	least := limits.ProcessBytes + groupBytes + mappedBytes + threadBytes*int64(o.Threads) + copies*int64(blocks)*block
	if o.Memory > 0 && o.Memory < least {
		return 0, tagged.Errorf(limits.ErrMemory, "found `Memory` %s, expected at least %s with %d threads; give more `Memory` or fewer `Threads`", human.Bytes(o.Memory), human.Bytes(least), o.Threads)
	}
	return max(0, o.Memory-least), nil
}

// check refuses names that no table can have, and options that mean nothing together.
func (o *Options) check() error {
	if len(o.Arrays) == 0 && len(o.With) == 0 && o.made == nil {
		return usagef("found no `Arrays`, expected at least one array; give `Arrays` NAME=FILE.npy")
	}
	for _, a := range o.Arrays {
		if a.Name == "" || a.File == "" {
			return usagef("found `Arrays` %q, expected NAME=FILE.npy", fmt.Sprintf("%s=%s", a.Name, a.File))
		}
	}
	return nil
}

// discard closes the files of FindTop after an error.
func (o *Options) discard(err error) error {
	if o.made == nil {
		return err
	}
	return errors.Join(err, o.made.close())
}
