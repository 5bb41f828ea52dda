// Package example writes and reads tf.train.Example, a map from keys to lists of
// integers, of floats or of byte strings, and the GraphTensors that TensorFlow GNN
// keeps in them.
//
//	Example  { 1: Features }
//	Features { 1: repeated entry { 1: key, 2: Feature } }
//	Feature  { 1: BytesList | 2: FloatList | 3: Int64List }
//	each list { 1: repeated value }, numbers packed
//
// # Writing
//
// A Writer writes an Example from its end to its start: a length stands in front
// of what it measures, and so is known when its turn comes. The caller adds the
// features in descending order of their keys, which makes the map sorted and the
// bytes reproducible, and finishes with Close:
//
//	w.Reset()
//	w.TextRows(names, column, rows) // key "nodes/n.name"
//	example.Ints(w, sizes, counts)  // key "nodes/n.#size"
//	record := w.Close()
//
// A Key holds what is constant of a feature, made once a plan. Values are taken
// as they lie in a column: by row number (the ...Rows functions) or as a slice.
// All integers and bools become int64 (uint64 keeps its bits), all floats
// float32. Nothing is allocated once the buffer has grown to the largest Example.
//
// # Reading
//
// A Decoder finds the features of an Example without copying their values. It
// takes packed and unpacked numbers, fields in any order, lists in pieces and
// fields that it does not know, as protobuf does; of a key that is given twice the
// last counts. Decode checks everything, so that the values can then be read
// without an error; what is not an Example gives ErrCorrupt with the byte offset.
//
// # GraphTensors
//
// A GraphTensor is a graph with features, in flat lists as an Example has them: a
// Tensor a feature, the row lengths of its variable dimensions beside the values.
// Constructors make Tensors of Go values: Scalars, Dense, Rows, RaggedFromRows,
// RaggedFromRowLengths and Nested.
//
// A Codec is made once of a schema and translates between both:
//
//	codec, err := example.NewCodec(schema)
//	record, err := codec.Encode(&w, graph)      // checks the graph
//	err = codec.Decode(record, codec.New(), false)
//
// The keys of an Example are the schema's, never split: names may hold dots. Their
// encoding is TF-GNN's, and what Decode takes is what TF-GNN's parser takes, less
// what is broken: see Decode, also for what a lenient Decode does with that. An
// Example with sorted keys that is decoded and encoded has the same bytes.
//
// The package imports protobuf, format/tfgnn and internal/suggest.
package example
