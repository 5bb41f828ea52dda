// Package store keeps graphs in folders: it creates, opens and verifies them.
//
// A store is a folder of .npy arrays that NumPy opens as they are, graph.json
// (what the graph is) and manifest.json (size and xxh3 of every other file).
// docs/format-store.md gives every file. A collection, the form of many small
// graphs and of sampled subgraphs, is a store of another kind. Every output
// folder of every command, also one of TFRecords, is written by a Writer and
// has a manifest.
//
// # Whole or nothing
//
// A Writer writes to a folder beside the one asked for. Seal adds graph.json,
// syncs every file and writes the manifest last; Publish renames the folder.
// Before that nothing is visible under the name; a Writer that is given up, or
// whose process ends, leaves at most the folder ".NAME.partial", which the next
// Writer for the same name removes. An existing output is replaced only when
// asked to, and then exchanged in one step.
//
// # Going on
//
// A Writer from Resume keeps whole files for a later run; one on which Begin was
// called makes checkpoints of files that are still being written. A checkpoint is
// ".checkpoint.json" in the partial folder: what the output is a function of, the
// caller's state, and for each file how many bytes count and their xxh3. It is
// replaced in one step when all it names is on the disk. Continue takes it up: the
// files are cut to what it says, or, where they are not what it says, the output
// begins anew.
//
// # Reading
//
// Open checks the manifest and the sizes and headers of all arrays, and maps
// them; it does not read them. The arrays of a Store are views of these maps,
// valid until Close. Verify reads every byte.
//
// Checksums find damage, not forgery: a folder made to deceive can have a valid
// manifest. Check therefore tells whether the arrays mean a graph (offsets
// ascend, ids are in range), and readers that index by stored numbers rely on
// it, not on the manifest.
//
// The package imports graph, format/npy and internal/*.
package store
