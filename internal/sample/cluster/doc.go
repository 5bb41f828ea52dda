// Package cluster samples a graph in processes on several machines, with any engine that runs the tasks of stages (package
// stages). The subgraphs, and the bytes of the output, are the same as sample.Run's.
//
// # The parts of a run
//
//   - The work (Work) is everything that a worker needs: the store, the plan, the job and the format. The submitter saves
//     it, with the seeds, in a folder that all workers can read and write.
//   - A group is a run of consecutive batches. A worker makes the piece of a group: a file with its encoded subgraphs.
//   - The submitter (Run) joins the pieces, in the order of the groups, into the output (package output). It starts
//     when the first piece is there. Of a large output (Options.Shards), the tasks of a last stage write a share each when all pieces are there, and the submitter links their files.
//   - A Site is the work on one machine: the store, the compiled plan, and the functions that an engine calls.
//
// # Two methods
//
// Where every worker can map the whole store and keep it in memory (Local), groups alone are dealt out: a worker samples
// a group with the ordinary kernel.
//
// Otherwise (Shuffle) a worker reads only ranges. A range is consecutive nodes of a type and their edges along one edge
// type in one direction. The stages are
//
//	start     a group       draws the ops that start from seeds alone, and asks the ranges of the nodes found
//	range N   a range       draws for each request, answers its group, and asks the ranges of the nodes found
//	assemble  a group       gives the kernel the answers (sample.Context.SampleGiven), and writes the piece
//	write     a share       writes its part of the output, by both methods, if the submitter does not
//
// For TFRecords with columns, the stages want and rows come before assemble (rows.go). Requests go straight to the stage that draws for
// them, and answers to the one that reads them.
//
// There is a range stage for each step of ops that start from nodes of the step before. Draws are pure functions of the
// subgraph, the op and the node, so a range draws without knowing the rest of the subgraph. It may answer for a node that
// the subgraph does not expand, because an earlier op found the node first; the kernel then does not ask for the answer.
//
// # Records
//
// Records are few and large. Numbers are differences of
// variable length: a request takes about 3 bytes, and an answer about 4 bytes and 1 to 4 bytes per edge, as many as the
// largest far end takes; where edge ids are needed, as many more as the largest id takes, up to 8. request.go and answer.go have the layouts.
//
// # Memory
//
// A worker holds the records of one key. Those of a group follow from its number of seeds. Those of a range could follow
// from all seeds, if all reached one hub. So the key of a range names a wave, too: some consecutive groups, whose
// requests alone are in a record of the key. Work.WaveGroups bounds them.
//
// # Faults
//
// A task may run twice at the same time, also on two machines. All functions are pure, and a piece gets
// its name when it is whole. A piece carries a checksum, and stays until a checkpoint of the output has it. The text of an error is saved for the submitter,
// which ends the job where trying again cannot help.
package cluster
