// Package sampling draws subgraphs around seeds: it makes a plan of the options, finds the seeds, chooses an executor, and writes
// collections or TFRecords, or hands batches to a loader. It also foretells what a run takes, and measures the speed of draws.
package sampling
