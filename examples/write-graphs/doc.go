// Package main is the example write-graphs: graphs of one's own data as TF-GNN reads them, a
// schema and a TFRecord file with one GraphTensor a record. Take it as a pattern: replace
// schema.pbtxt, the types and read by what you have.
//
//	go run ./examples/write-graphs DIR
//
// makes DIR/schema.pbtxt and DIR/graphs.tfrecord. In Python they are read by
//
//	spec = tfgnn.create_graph_spec_from_schema_pb(tfgnn.read_schema("DIR/schema.pbtxt"))
//	data = tf.data.TFRecordDataset("DIR/graphs.tfrecord").map(lambda r: tfgnn.parse_single_example(spec, r))
//
// and here by "graphmill tfgnn print DIR/graphs.tfrecord", or as a collection after
// "graphmill import DIR/graphs.tfrecord --schema DIR/schema.pbtxt --out CLASSES".
//
// The package imports format/example, format/tfgnn and format/tfrecord: what such a program
// needs.
package main
