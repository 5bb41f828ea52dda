// Package cluster divides the nodes of a store by the method ranges in processes on several machines, with any engine that runs the tasks of stages
// (package stages). The parts are those that ranges.Partition finds in one process, at any number of workers.
//
// # The parts of a run
//
//   - The submitter (Run) saves the work (Work) in a folder that all workers can read and write, and starts one job after the other (phases): it alone decides
//     whether a further pass is worth it. It adds up cuts and measures, and keeps the best division. It reads no neighbours. Where a part
//     lacks a node type, it reads the degrees of the nodes of that type.
//   - A Site is a phase on one machine: the store, mapped, and the functions that an engine calls. Each calls a method of ranges.Range.
//   - What workers tell one another goes through stages. What they tell all is a file in the work folder (messages), which stays until the end of the run.
//
// # Phases
//
//	list         mirror   a piece   tells the pieces of the far ends of its edges
//	             list     a piece   writes its rows to a file, counts degrees
//	cluster-1,2  propose, accept   a range   16 sub-rounds each; the second pass ends with lonely and pair
//	core         contract a range   gives the pairs of its clusters
//	             core     one task  divides the clusters by multilevel, in memory or out of core
//	refine-1..3  want, move        a range   16 sub-rounds each; then count adds up what the last one took off the cut
//	fill         fill     a piece   fills the parts by falling degree, where one constraint and uneven degrees make it worth it
//	             cut      a range   counts the cut of that
//	again-1..3   as refine, from there
//	measure-1..2 measure  a piece   measures the parts, with the edges of the store; a second time if the submitter moved nodes to give each part edges of each type
//
// A stage is a barrier, and a phase has at most 35 of them: an engine gets a pipeline of that length for each pass, rather than one of 272 stages of which a run needs
// about 170. A range is whole blocks of nodes, one for each worker, and a piece is as many blocks as a task can hold the edges of.
//
// # State
//
// What all workers know (the cluster or part of each node, weights and prices of the parts) is a function of the messages to all. So no worker saves it: one that starts reads the messages,
// about 10 bytes per node in all, and one that goes on reads those of the round before. A run that was killed continues from the tasks that are whole.
//
// # Memory and disk
//
// A worker holds 4 bytes per node for the clusters, and 4 for each constraint where there are several, or 2 for the parts (4 where they are measured, with trainers); the weights of all nodes, 4 bytes for each constraint, if they
// are not all 1; and the messages of a round. It shares that among its tasks. To list a piece it holds 8 bytes for each edge at a node of the piece, about 64 MiB. The worker that divides the core needs 40 to 60 bytes per pair of it, or
// Work.Memory, if the core does not fit that.
//
// The work folder holds 10 bytes per edge while the neighbours are listed, then 8 bytes per pair and about 20 per node.
//
// # Faults
//
// A task may run twice at the same time, also on two machines. Functions are pure, and files are renamed when they are whole.
package cluster
