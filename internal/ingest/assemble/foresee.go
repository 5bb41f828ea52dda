package assemble

import (
	"slices"

	"github.com/graphmill/graphmill/internal/progress"
)

// Work of the stages of a table of edges, for each byte of the table. Measured on tables of 2 to 8 million rows in CSV and Parquet,
// by 2 threads and with 128 MiB and 4 GiB of memory.
const (
	scanWork      = 1.0  // read the edges
	lookupWork    = 0.5  // find the nodes of names while the edges are read
	adjacencyWork = 0.5  // sort and write one direction
	endsWork      = 2.0  // read names and hash them, where no table lists the nodes
	joinWork      = 0.4  // find the nodes of these names
	rescanWork    = 0.25 // read the edges after that
)

// foresee estimates the work of the stages of Progress, in their order. Tables that do not tell their size add nothing.
func (b *builder) foresee() []progress.Stage {
	var nodes, ends, joins, edges stages
	for _, t := range b.types {
		if t.Table != nil {
			nodes.add("nodes "+t.Type, float64(t.Table.Bytes()))
		}
	}
	for _, p := range b.parts {
		if p.Table == nil {
			continue
		}
		size, name := float64(p.Table.Bytes()), p.Type.String()
		scan := scanWork
		for _, e := range []end{p.src, p.dst} {
			switch {
			case !e.isRefs():
			case e.t.Table != nil:
				scan = scanWork + lookupWork
			case scan != rescanWork:
				scan = rescanWork
				ends.add("ends "+name, size*endsWork)
				joins.add("join "+e.t.Type, size*joinWork)
			}
		}
		edges.add("edges "+name, size*scan)
		edges.add("adjacency "+name, size*adjacencyWork)
		if b.opt.Both {
			edges.add("other direction "+name, size*adjacencyWork)
		}
	}
	return slices.Concat(nodes, ends, joins, edges)
}

// stages are stages with different names.
type stages []progress.Stage

// add adds work to the stage of a name.
func (s *stages) add(name string, work float64) {
	i := slices.IndexFunc(*s, func(x progress.Stage) bool { return x.Name == name })
	if i < 0 {
		i = len(*s)
		*s = append(*s, progress.Stage{Name: name})
	}
	(*s)[i].Work += work
}
