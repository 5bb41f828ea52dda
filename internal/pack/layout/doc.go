// Package layout keeps a packing as a folder, and deals graphs into it.
//
// A pack layout says how many packs there are and which shapes each holds; not
// which graphs. Dealing fills it with graph ids, fresh for each (seed, epoch): the
// places of a shape get its graphs in the order of
//
//	order(count, key(seed, epoch, ORDER, number of the shape))
//
// and the packs come in the order of key(seed, epoch, ORDER, 0), so that every
// epoch has the same shapes and other packs. Pack p of epoch e is found without
// the packs in front of it.
//
// # Padding and oversize
//
// A reserve is room for padding that the limits count: the problem was solved with
// limits less a node of each type that they name, and less a graph. What is padded
// to the limits then has a node and a graph that are nobody's.
//
// Graphs that are larger than a pack, with the reserve, are in no pack of the fixed
// shape: they were left out (skip), or each is a pack of its own (alone). Either
// way the layout says how many there are of which shapes.
//
// # The folder
//
//	layout.json               components, limits, cap, counts (Meta)
//	shape_size.npy            uint32 [shapes, components], ascending rows
//	shape_count.npy           uint64 [shapes], graphs of each
//	pattern_packs.npy         uint64 [patterns], packs that are filled alike
//	pattern_ptr.npy           uint64 [patterns + 1], bounds the parts of each
//	part_shape.npy            uint32 [parts], ascending within a pattern
//	part_copies.npy           uint32 [parts]
//	oversize_size.npy         uint32 [shapes, components], where there are any
//	oversize_count.npy        uint64 [shapes]
//	made.json, manifest.json  as every output folder has
//
// The package imports pack, draw, store, graph, format/npy
// and internal/*.
package layout
