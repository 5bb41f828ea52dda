// Package lines reads lines that tell what happens to a graph, as programs write that read Kafka or the log of a database, and gathers them to batches for appends.
//
// A line is an object of JSON: a row that is new, a change event of Debezium, or one of both in the envelope of kcat -J, which tells its place in a topic. A graph.yaml says which node and
// edge types the rows of a table have (ingest.LineTypes).
//
// A Batch has groups, in order. Each is of one kind: it adds rows, changes values of rows or drops edges, and one append takes it. What a line does goes to the earliest group
// in which the graph is the one that its own append would make: after what it needs, and after what others need to be without it. The rows of each type lie in a file
// of each group; memory has hashes of ids and ends, and the number of the line of each row.
package lines
