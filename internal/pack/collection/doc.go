// Package collection packs the graphs of a collection: it computes the sizes of each graph in given
// components, and the graphs of each pack of a layout in an epoch, and writes the packs in the forms
// that training programs read.
//
//	sizes, err := collection.NewSizes(c, components)       // the sizes to pack by
//	graphs, err := collection.Graphs(l, c)                 // by shape, as a layout deals them
//	err = collection.Fill(ctx, w, l, graphs, epochs, opt)  // the graph ids of each pack
//	left, err := collection.Arrays(ctx, w, l, c, graphs, seed, epoch, opt) // padded, of one shape
//	meta, left, err := collection.Joined(ctx, fsys, w, l, s, graphs, seed, epoch, opt) // a graph per pack
//	r, err := collection.Records(ctx, fsys, w, l, s, graphs, seed, epoch, files, opt)  // TFRecords
//
// # Order
//
// Pack p of an epoch has the graphs of layout.Deal.Pack(p), in that order. Their nodes and edges
// follow one graph after another, in the order of the collection. Node ids count from the pack's
// first node of their type.
//
// # Writing
//
// Several goroutines gather the packs; the output does not depend on their number. Arrays holds a few
// MiB per goroutine, however large a pack is. Joined and Records hold a few packs per goroutine.
package collection
