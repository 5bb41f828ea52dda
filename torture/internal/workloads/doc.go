// Package workloads has a table of runs of the command over small inputs: at least one for each command, and one for each format and
// mode of a command whose reading and writing differ. Every run ends with status 0 if nothing is broken.
//
// Inputs are made once per test process: small files from inputs.txtar and the repository's test data, and stores, collections and parts
// that the command makes of them. A run has an empty working folder two levels below the folder of the inputs, so that its arguments are
// the same in every run, and so are the bytes that it writes. Parts are sent to a machine that the test process runs; its disk is
// beside the inputs.
package workloads
