// Package operation is the frame of every run: it checks the options that all operations share, passes on progress, warnings and notes,
// keeps inputs from being overwritten, names inputs by their fingerprints, begins the report, and ends the output.
//
// Below it lies one room per operation: importing, amending, sampling, walking, packing, dividing, dispatching, exporting, verifying, lineage,
// describing, surveying and serving. A room takes the options of package option and plain paths or an open store, calls the stages, and returns
// results of package report. Rooms import this package and their stages, and no other room but for what is drawn in
// docs/architecture.md. They do not import package graphmill, which has a function for each of them.
package operation
