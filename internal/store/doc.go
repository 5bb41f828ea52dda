// Package store keeps graphs in folders: it creates, opens and verifies them.
//
// A store is a folder of .npy arrays that NumPy opens directly, graph.json (the types, columns and arrays of the graph)
// and manifest.json (the size and the xxh3 of every other file). docs/format-store.md describes every file. A
// collection, the form of many small graphs and of sampled subgraphs, is another kind of store. Every output folder of
// every command, also one of TFRecords, is written by a Writer and has a manifest.
//
// # Whole or nothing
//
// A Writer writes to a folder next to the folder asked for. Seal adds graph.json, syncs every file and writes the
// manifest last. Publish renames the folder. Before that, nothing is visible under the name. A Writer that is
// abandoned, or whose process ends, leaves at most the folder ".NAME.partial", which the next Writer for the same name
// removes. An existing output is replaced only on request, and then exchanged in one step. An empty folder is replaced
// without a request.
//
// End ends every Writer. Its error says what is on the disk: an error of the kind ErrWhole leaves the output whole under its
// name, any other error leaves no output.
//
// A Writer locks its partial folder. On a file system without flock, the file ".NAME.partial.lock" is the lock. A process
// that is killed leaves it, and the error of the next Writer says to remove it.
//
// # Resuming
//
// A Writer from Resume keeps whole files for a later run. A Writer on which Begin was called makes checkpoints of files
// that are still being written. A checkpoint is the file ".checkpoint.json" in the partial folder. It has the inputs
// and options that determine the output, the state of the caller, and for each file the number of bytes that count and
// their xxh3. It is replaced in one step when all files that it names are on the disk. Continue resumes from it: the
// files are cut to the bytes that count or, where the files do not match it, the output begins anew.
//
// # Reading
//
// Open checks the manifest and the sizes and headers of all arrays, and maps them. It does not read them. The arrays of
// a Store are views of these maps, valid until Close. Verify reads every byte.
//
// Checksums find damage, not forgery: a malicious folder can have a valid manifest. Check therefore tells whether the
// arrays are a valid graph (offsets ascend, ids are in range). Readers that index by stored numbers rely on it and not
// on the manifest.
package store
