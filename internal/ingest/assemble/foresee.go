package assemble

import (
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/progress"
)

// Work of the stages of a table of edges, for each byte of the table. Measured on tables of 2 to 8 million rows in CSV and Parquet,
// by 2 threads and with 128 MiB and 4 GiB of memory.
const (
	scanWork      = 1.0  // read the edges
	lookupWork    = 0.5  // find the nodes of names while the edges are read
	adjacencyWork = 0.5  // sort and write one direction
	endsWork      = 2.0  // read names and hash them, where the nodes are numbered by their appearance
	rescanWork    = 0.65 // find the nodes of these names, and read the edges again
)

// foresee estimates the work of the stages of Progress, in their order. Tables that do not tell their size add
// nothing. Whether integer ids are keys is known only when they have been read, so the stages of such types may come in another order.
func (b *builder) foresee() []progress.Stage {
	var all stages
	for _, t := range b.types {
		if t.Table != nil {
			all.add("nodes "+t.Type, float64(t.Table.Bytes()))
		}
	}
	named := map[*part]bool{} // parts with names of nodes that are numbered by their appearance
	for _, t := range b.types {
		for _, p := range b.parts {
			if b.appears(t) && (p.src.t == t || p.dst.t == t) && p.Table != nil && !named[p] {
				named[p] = true
				all.add("ends "+p.Type.String(), float64(p.Table.Bytes())*endsWork)
			}
		}
	}
	sorting := 0.0
	sort := func(of string) {
		all.add("adjacency "+of, sorting)
		if b.opt.Both {
			all.add("other direction "+of, sorting)
		}
		sorting = 0
	}
	for _, p := range b.byName() {
		if p.Table == nil {
			continue
		}
		size, name := float64(p.Table.Bytes()), p.Type.String()
		work := scanWork
		switch {
		case named[p]:
			work = rescanWork
		case p.src.isRefs() || p.dst.isRefs():
			work += lookupWork
		}
		all.add("edges "+name, size*work)
		if sorting += size * adjacencyWork; !b.opt.Homogeneous {
			sort(name)
		}
	}
	if b.opt.Homogeneous {
		sort(graph.HomogeneousEdge.String())
	}
	return all
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
