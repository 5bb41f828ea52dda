// Package feature writes rows of columns as features of a tf.train.Example: the
// place where the columns of a store or collection meet TF-GNN's encoding.
//
// Values come in the order of the rows, flat and row-major; each variable
// dimension adds its row lengths under a key of its own (Parts). All integers and
// bools become int64, all floats float32, as format/example has it. Writing
// allocates nothing once the buffers of an Encoder have grown.
//
// The package imports graph, format/example and format/tfgnn.
package feature
