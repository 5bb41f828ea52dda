// Package ranges is a multilevel k-way partitioner for graphs that are spread over workers: each has a range of the nodes, and
// in rounds, between barriers, they tell each other what changes. The parts are the same with any number of workers.
//
// # The contract
//
// A stage is a function of plain data: the rows of a range of nodes, the clusters or parts of all nodes, and what the barrier before delivered. It
// returns messages. Range has the stages; whatever starts them (goroutines, processes with an index, an engine) carries the messages. Partition is the driver in
// one process, with goroutines. It stands for the others: in tests its workers keep what they know apart, exchange bytes, and end after each round. A worker that ends keeps the state of the
// clusters (State), or the parts, the weights and prices of the parts, and the moves of the round before (Applied).
//
// # Blocks and sub-rounds
//
// A block is a fixed number of consecutive nodes, at most 1,024, which follows from the graph alone. A range is whole blocks. A pass visits each block once, in 16 sub-rounds;
// a hash of random seed, pass and block says in which (Plan.Round). Inside a block, nodes choose one after the other, and see each other's choices. All
// else is frozen until the next barrier. So a sub-round costs a barrier and no pass over the edges, and what a block wants does not depend on
// which worker has it. What is accepted depends on sets of messages, never on their order: it follows from weights, numbers and hashes of nodes, or sums of integers.
//
// # The rounds
//
//	list      2 passes over the store, before all others
//	  Mirror, Rows  a range  the neighbours of its nodes (undirected.Reader); the driver in one process has undirected.Build or Spill do it
//	cluster   2 passes of 16 sub-rounds
//	  Propose   a block      a node that leads no others wants to join the neighbouring cluster of heaviest edges that has room
//	  Accept    a range      of the proposals to its leaders, the heaviest while they fit
//	  Apply     all nodes    of a node that both leaves and is joined, a coin decides which
//	pair      1 round at the end
//	  Lonely, Pair           nodes that are alone beside the same full cluster join each other
//	contract  1 pass
//	  Contraction  a range   the pairs of its clusters, with sums of weights; one machine collects the core (Core), and multilevel divides it
//	refine    3 passes of 16 sub-rounds: two with prices, then a plain one; the division of the best pass is kept
//	  Want      a block      the part of most neighbours that has room, minus the price of a part that lacks room
//	  Count     a range      a histogram of the wanted weight by part, gain and hash
//	  Choose    all parts    the best bins while they fit; Take picks the moves of a range that are in them
//	  Apply     all nodes    moves nodes, weights and prices; Gain counts exactly what that takes off the cut
//	degree    1 pass, and 3 to refine; for one constraint, where degrees are uneven
//	  Degrees, Fill          the parts are filled in the order of falling degree; the smaller cut wins
//
// Room is what there was before a sub-round, so a cluster or part never exceeds its cap because of moves. A block counts its own moves fourfold against the room of
// a part, because other blocks move too. Prices, gains and caps are integers: every machine computes the same.
//
// That is at most 12 passes over the edges, and mostly 7. A sub-round has two barriers: messages to one worker, or histograms, come before messages to
// all. What its moves take off the cut is counted before the first barrier of the next sub-round, since no choice waits for it, and after a pass before one of its own: at most 268 barriers, and mostly 169.
//
// # Messages
//
//	records     8 bytes per edge whose far end is in another range, to its owner
//	Proposals   12 bytes per proposal, to the owner of its target       4 bytes more per constraint if nodes have weights
//	Joins       8 bytes per node that joins, to every worker            the same
//	pairs       12 bytes per pair of clusters and range, to the machine that divides the core; 4 bytes per cluster and constraint
//	Histogram   4 bytes per bin and 8 per constraint, to every worker; a bit per part and constraint
//	Moves       6 bytes per node that moves, to every worker; 8 bytes per range, part and constraint
//	Degrees     20 bytes per class of degree, to every worker; then 2 bytes per node
//
// # Memory
//
// For n nodes with c constraints, a worker holds 4 bytes per node for the clusters, and 4c more if c > 1; or 2 bytes for the parts, and 2 for the best ones; two bits for what moves; the rows
// of a block; 4 bytes per node of its range; the messages of a sub-round, about n/16 of them at the most; and at most 24 MiB of pairs, besides runs that it has summed up.
// The machine that divides the core needs 40 to 60 bytes per pair of it. On graphs without locality the core keeps most pairs. If it does not fit the memory of Partition, whose graph then lies on disk,
// package outofcore divides it.
//
// # The result
//
// The parts are a function of the graph and the options. They do not depend on Workers or Threads, nor on where the rows are; on Memory only if the core does not fit it. A graph of few
// nodes or pairs (Options.Whole) is its own core.
//
// Label propagation with constraints of size on many machines is by Martella et al. (Spinner, 2014) and Slota et al. (XtraPuLP, 2016); the contraction before the division by
// Meyerhenke, Sanders and Schulz (ParHIP, 2014). Directly into parts it cuts much more, because moves of single nodes do not mend a bad structure.
package ranges
