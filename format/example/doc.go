// Package example writes and reads tf.train.Example, a map from keys to lists of integers, floats or byte strings,
// and the GraphTensors that TensorFlow GNN stores in them.
//
//	Example  { 1: Features }
//	Features { 1: repeated entry { 1: key, 2: Feature } }
//	Feature  { 1: BytesList | 2: FloatList | 3: Int64List }
//	each list { 1: repeated value }, numbers packed
//
// # Writing
//
// A Writer writes an Example from its end to its start: a length precedes the bytes that it measures, so it is known
// when it is written. The caller adds the features in descending order of their keys, which makes the map sorted and
// the bytes reproducible, and finishes with Close:
//
//	w.Reset()
//	w.TextRows(names, column, rows) // key "nodes/n.name"
//	example.Ints(w, sizes, counts)  // key "nodes/n.#size"
//	record := w.Close()
//
// A Key holds the constant bytes of a feature and is made once per plan. Values are taken from a column by row number
// (the ...Rows functions) or from a slice. All integers and bools become int64 (uint64 keeps its bits), all floats
// float32. Writing allocates nothing once the buffer has grown to the largest Example.
//
// # Reading
//
// A Decoder finds the features of an Example without copying their values. As protobuf does, it accepts packed and
// unpacked numbers, fields in any order, lists in several pieces, and unknown fields; the last value of a repeated
// key counts. Decode checks everything, so that reading the values afterwards cannot fail. Bytes that are not an
// Example give an error that wraps ErrCorrupt and names the byte offset.
//
// # GraphTensors
//
// A GraphTensor is a graph with features, in flat lists as an Example stores them: one Tensor per feature, which
// holds its values and the row lengths of its variable dimensions. Constructors make Tensors from Go values: Scalars,
// Dense, Rows, RaggedFromRows, RaggedFromRowLengths and Nested.
//
// A Codec is made once per schema and translates between Examples and GraphTensors:
//
//	codec, err := example.NewCodec(schema)
//	record, err := codec.Encode(&w, graph)      // checks the graph
//	err = codec.Decode(record, codec.New(), false)
//
// The keys of an Example are computed from the schema and never split, since names may contain dots. The encoding is
// TF-GNN's. Decode accepts what TF-GNN's parser accepts, except for broken graphs; see Decode, also for how a lenient
// Decode repairs them. Decoding and encoding an Example with sorted keys gives the same bytes.
package example
