// Package layout stores a packing as a folder, and deals graphs into it.
//
// A pack layout says how many packs there are and which shapes each holds, but not which graphs.
// Dealing fills it with graph ids, differently for each (random seed, epoch): the places of a shape
// get its graphs in the order of
//
//	order(count, key(seed, epoch, ORDER, number of the shape))
//
// and the packs come in the order of key(seed, epoch, ORDER, 0). So every epoch has the same shapes
// and other packs. Pack p of an epoch is computed without the packs before it.
//
// # Padding and oversize
//
// A reserve is room for padding that the limits include: the problem was solved with limits reduced
// by one node of each type that they name, and by one graph. A pack that is padded to the limits then
// has a node and a graph that belong to no real graph.
//
// Graphs that are larger than a pack, including the reserve, are in no pack of the fixed shape.
// They are left out (skip), or each is a pack of its own (alone). In both cases the layout has their
// shapes and counts.
//
// # The folder
//
//	layout.json               components, limits, cap, counts (Meta)
//	shape_size.npy            uint32 [shapes, components], ascending rows
//	shape_count.npy           uint64 [shapes], graphs of each shape
//	pattern_packs.npy         uint64 [patterns], packs that are filled alike
//	pattern_ptr.npy           uint64 [patterns + 1], bounds of the parts of each pattern
//	part_shape.npy            uint32 [parts], ascending within a pattern
//	part_copies.npy           uint32 [parts]
//	oversize_size.npy         uint32 [shapes, components], if there are oversize graphs
//	oversize_count.npy        uint64 [shapes], likewise
//	made.json, manifest.json  as in every output folder
package layout
