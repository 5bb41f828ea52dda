// Package draft writes a graph.yaml for tables that have none: it guesses what they mean, says why, and lists what is wrong with them.
//
// The stages are, in this order:
//
//   - Find (find.go) lists the tables of a folder, and opens them. Tables of a database come with the keys that it declares.
//   - profileTable (profile.go, cells.go) reads each table once, whole, and counts what its cells are.
//   - values (values.go) has the hashes of the values of columns that may be ids or keys, sorted on disk, so that distinct values and
//     the values of one column that another one lacks are counted exactly, in bounded memory. Two values are taken as one only if their
//     hashes of 128 bits are equal.
//   - findIDs and findKeys (keys.go) choose the ids of tables, and the columns that refer to them, by names and by values.
//   - decideTypes (types.go) makes node types and edge types of the tables, and describeColumns (columns.go) gives columns their dtypes.
//   - findFaults (faults.go) lists what is wrong, and write (write.go) writes the file, and gives each fault the line that settles it.
//
// The draft is a function of the tables alone: no number of threads and no budget of memory changes a byte of it.
package draft
