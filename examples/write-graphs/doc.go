// Package main is the example write-graphs: it writes graphs from a program's own data in TF-GNN's
// form, a schema and a TFRecord file with one GraphTensor per record. Use it as a template: replace
// schema.pbtxt, the types and read.
//
//	go run ./examples/write-graphs DIR
//
// writes DIR/schema.pbtxt and DIR/graphs.tfrecord. Read them in Python with
//
//	spec = tfgnn.create_graph_spec_from_schema_pb(tfgnn.read_schema("DIR/schema.pbtxt"))
//	data = tf.data.TFRecordDataset("DIR/graphs.tfrecord").map(lambda r: tfgnn.parse_single_example(spec, r))
//
// or print them with "graphmill tfgnn print DIR/graphs.tfrecord", or import them as a collection with
// "graphmill import DIR/graphs.tfrecord --schema DIR/schema.pbtxt --out CLASSES".
package main
