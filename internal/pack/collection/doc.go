// Package collection puts the graphs of a collection into packs: the sizes of each
// graph in the components that are named, the graphs that each pack of a layout has
// in an epoch, and packs as what a training reads.
//
//	sizes, err := collection.NewSizes(c, components)       // what is packed
//	graphs, err := collection.Graphs(l, c)                 // by shape, as a layout deals them
//	err = collection.Fill(ctx, w, l, graphs, epochs, opt)  // which graphs are in which pack
//	err = collection.Arrays(ctx, w, l, c, graphs, epoch, opt)  // padded, of one shape
//	meta, err := collection.Joined(ctx, fsys, w, l, s, graphs, epoch, opt) // a collection, a graph a pack
//
// # Order
//
// Pack p of an epoch has the graphs of layout.Deal.Pack(p), in that order; their
// nodes and edges lie one graph behind the other, as they lie in the collection.
// Ids of nodes count from the pack's first node of their type.
//
// # Writing
//
// Several goroutines gather; bytes do not depend on how many. What is held of the
// packs is a few MiB a goroutine, however large a pack is (Arrays), or a few packs a
// goroutine (Joined).
//
// The package imports pack, pack/layout, export (how graphs become Examples), store,
// graph and internal/*.
package collection
