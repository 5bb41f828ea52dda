// Package golden tells the tests where the golden files of the real peers lie, and the scripts that judge with the peers.
//
// Golden tests read [Dir]: the files of this repository, or with the build tag interopdata the files of the folder $GRAPHMILL_DATA.
package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// Peers is the path of a file of bench/peers.
func Peers(t testing.TB, name string) string {
	t.Helper()
	return filepath.Join(root(t), "bench", "peers", name)
}

// root is the folder of the repository.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "bench", "peers.sh")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("found no bench/peers.sh in a folder above, expected the test to run in a clone of the repository")
		}
		dir = up
	}
}

// Sample is a unigraph that TF-GNN's samplers sampled, and the Examples that they made of it.
type Sample struct {
	Name    string
	Schema  string // of the unigraph, next to its tables
	Spec    string // with sample sizes above all degrees
	Seeds   string // a table; "" for all nodes of the seed set
	Records string // from tfgnn_sampler
}

// Classic is what TF-GNN's older sampler made of a unigraph.
type Classic struct {
	Name        string
	Schema      string
	Spec        string
	Records     string // and their schema, in a file with "_schema.pbtxt" for ".tfrecord"
	Aggregation string // "edge" or "node"; "" is its default, "edge"
}

// Partition is a folder of parts that DGL wrote.
type Partition struct {
	Name         string
	Config       string // its JSON, within the folder
	Input        string // the graph that was partitioned, as save_graphs writes it
	GraphName    string
	Parts, Hops  int
	Leaving      bool   // the halo has the out-edges of owned nodes, as partition_graph makes it
	Formats      string // of the parts' graphs; "" for partition_graph's default
	Trainers     bool   // nodes have a trainer_id
	Nodes, Edges int64
}
