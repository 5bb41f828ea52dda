// Package transform changes a graph: it adds self-loops, merges edges with equal ends, keeps the largest component,
// divides nodes or edges into train, valid and test, and normalises the rows of features.
//
//	t, err := transform.New(ctx, g, options)
//	result, err := assemble.Build(ctx, vfs.OS, w, t.Input(), assemble.Options{...})
//	t.Finish(result.Meta, meta) // of the store of g
//
// The graph comes from an open store. Input has tables whose rows are its nodes and edges, changed on the way; building
// them makes the new store. Edges come in the order of their ids, so that the order of the edges of a node is kept, and
// they keep their positions in the input (graph.PositionColumn). Original ids are kept; in a node type without them the
// old type-wise ids become the original ids where nodes are left out.
//
// # What is changed
//
//   - Self-loops are added to every edge type between nodes of one type, for each node that has none, as the last edge
//     of the node. Their columns are 1 if they are named weight or edge_weight and hold one number, else 0, empty, or
//     missing (-1 in a column of categories, graph.NoTime in one of times); their position is the largest of its dtype.
//   - Edges of one type with equal ends are merged into the first of them. MergeSum adds up its columns of integers and
//     floats, of which a sum outside the range of the dtype is an error. MergeCount adds a column count. The first edge's
//     columns of other kinds are kept.
//   - MergeEqual merges only edges whose columns are equal, too: the position in the input does not count, 0 equals -0, and
//     NaN equals NaN, since it stands for a missing value.
//   - The largest component is the one with the most nodes, where all edge types connect their ends in both directions. Of
//     equally large ones it is the one with the first node, by the order of types and ids.
//   - A Split adds the column split, of the categories train, valid and test. Rows in none of them have -1.
//     An edge and its reverse are in the same part of a random split. Folds, and masks of vectors, add split_0, split_1 and so on.
//   - Normalised rows are divided by the sum of the absolute values of the row. Rows of zeros stay.
//
// # Memory
//
// Components take 8 bytes per node while they are searched, and 4 bytes afterwards. A Split takes 1 byte per row, and for edges 1.2 bytes per row of their input;
// by classes or groups 4 bytes more, besides their texts, which Options.Memory bounds, as it bounds the ids of files; masks of vectors 1 byte per row and split. A scan
// holds a chunk per thread, and 40 bytes per edge of the node with the most edges. Pages of the graph are not counted: see Options.Touched.
package transform
