// Package examplecolumns writes rows of columns as features of a tf.train.Example. It connects the columns of stores and
// collections with TF-GNN's encoding.
//
// Values are written in the order of the rows, flat and row-major. Each variable dimension adds its row lengths under
// a key of its own (Parts). All integers and bools become int64 and all floats float32, as in format/example. Writing
// allocates nothing once the buffers of an Encoder have grown.
package examplecolumns
