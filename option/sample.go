package option

import (
	"time"
)

// Choices of Sample. The empty value of each type is the default.
type (
	// Direction says which edges of a node a hop follows.
	Direction string
	// Expand says at which nodes a hop draws edges.
	Expand string
	// Scope says which subgraphs are formed, and within which scope a node draws its edges only once.
	Scope string
	// Executor says how neighbours are read while sampling.
	Executor string
	// Format is an output format.
	Format string
	// Compat says which program's layout of tf.train.Examples is written.
	Compat string
	// Aggregation says which edges an Example has.
	Aggregation string
	// Sampler says which way to sample.
	Sampler string
	// Missing says how to treat nodes that edges name and that no node table has.
	Missing string
)

// The values of the choices.
const (
	DirectionIn  Direction = "in"  // in-edges: a hop goes from a node to the sources of its edges. The default
	DirectionOut Direction = "out" // out-edges: a hop goes from a node to the destinations of its edges

	ExpandNew Expand = "new" // only nodes that the previous hop reached first, as PyG does. The default
	ExpandAll Expand = "all" // all nodes that any earlier hop reached, seeds included, as DGL does

	ScopeBatch Scope = "batch" // one subgraph per batch. The default
	ScopeSeed  Scope = "seed"  // one subgraph per seed
	ScopeEpoch Scope = "epoch" // one subgraph per batch; a node draws the same edges in all batches of an epoch

	SamplerNeighbor Sampler = "neighbor" // each node draws for itself. The default
	SamplerLabor    Sampler = "labor"    // the nodes of a hop share the nodes that they draw, and a batch has fewer; parallel edges share one number
	// The next two, and SamplerLabor with Importance, give batches the edge column edge_weights: messages are multiplied by it before they
	// are averaged, because edges differ in their chances.

	SamplerLadies  Sampler = "ladies"  // LADIES: a hop takes the edges to Fanout nodes of each type, which its nodes choose together
	SamplerFastGCN Sampler = "fastgcn" // FastGCN: the same, but the nodes are drawn from the whole graph

	SamplerHGT    Sampler = "hgt"    // HGT: a hop adds Fanout nodes of each type, and there are all edges between the nodes
	SamplerShadow Sampler = "shadow" // ShaDow: one subgraph per seed, with all edges between its nodes
	SamplerPPR    Sampler = "ppr"    // ShaDow with the Fanout nodes of the largest personalised PageRank for the seed
	SamplerWalk   Sampler = "walk"   // ShaDow with the Fanout nodes that random walks from the seed visit most

	// The subgraphs of sets of nodes, for Batches: nodes and all edges between them, without Fanout. The node type and, but for
	// SamplerCluster, the edge type must be the only one of the graph.

	SamplerCluster   Sampler = "cluster"    // Cluster-GCN: the nodes of BatchSize parts of Assignment
	SamplerSaintNode Sampler = "saint-node" // GraphSAINT: BatchSize nodes, in proportion to their out-edges
	SamplerSaintEdge Sampler = "saint-edge" // GraphSAINT: the ends of BatchSize edges, mostly edges of nodes with few edges
	SamplerSaintWalk Sampler = "saint-walk" // GraphSAINT: the nodes of BatchSize walks of WalkLength steps

	ExecutorAuto   Executor = "auto"   // ExecutorMemory if its data fit the memory, else ExecutorStream. The default
	ExecutorMemory Executor = "memory" // random reads from the memory-mapped store
	ExecutorStream Executor = "stream" // sequential sweeps over the disk, for graphs larger than memory

	FormatCollection Format = "collection" // NumPy arrays; features by reference. The default
	FormatTFRecord   Format = "tfrecord"   // tf.train.Examples that TF-GNN reads; features joined

	CompatNone    Compat = "none"          // Graphmill's own layout. The default
	CompatTFGNN   Compat = "tfgnn"         // the layout of tfgnn_sampler
	CompatClassic Compat = "tfgnn-classic" // the layout of TF-GNN's older graph_sampler

	AggregationEdge Aggregation = "edge" // the edges that were drawn. The default
	AggregationNode Aggregation = "node" // all edges between the nodes of the subgraph

	MissingError Missing = "error" // stop with an error
	MissingDrop  Missing = "drop"  // drop their edges, and count them
	MissingZeros Missing = "zeros" // add the nodes, with features of zeros
)

// Draw says which edges are drawn, and by which executor. Exactly one of Fanout, FanoutByType, Plan and SamplingSpec is required; all
// other fields have a default.
type Draw struct {
	// Fanout is the number of edges to draw per node at each hop, for every edge type; -1 draws all edges. With SamplerLadies,
	// SamplerFastGCN and SamplerHGT it is the number of nodes of each type per hop.
	Fanout []int
	// FanoutByType has a fanout for each edge type. A key is an edge type "src:rel:dst", or its relation if that is unique
	// in the graph. Edge types that are not listed are not followed. With SamplerLadies, SamplerFastGCN and SamplerHGT a key is a node
	// type, and the edges that lead to node types that are not listed are not followed.
	FanoutByType map[string][]int
	// Plan is the name of a file with a plan (JSON, docs/plan.md), or with a sampling plan of Google's DGF (docs/coming-from-dgf.md).
	Plan string
	// SamplingSpec is the name of a file with a TF-GNN SamplingSpec (text format).
	SamplingSpec string
	// TimeColumn is the edge column by which LATEST_K of a SamplingSpec orders edges, or that has the times of a temporal Plan of DGF.
	TimeColumn string

	// The fields up to HalfLife apply to Fanout and FanoutByType. A Plan or SamplingSpec says these things itself.

	Direction Direction
	Expand    Expand
	Scope     Scope
	Sampler   Sampler
	// Importance is the number of rounds in which SamplerLabor raises the chances of nodes that many nodes of the hop have as neighbours
	// (LABOR-i), so that a batch has fewer nodes. A node then takes Fanout edges or more on average; means by edge_weights have about 1.2
	// times the variance of Fanout uniform draws. 0 is LABOR-0.
	Importance int
	// Alpha is the chance that a walk of SamplerPPR ends before a step; 0 is 0.2. Eps is the tolerance; 0 is 1e-5: where all edges have
	// their reverses, the PageRank of a node is exact to Eps times the number of its edges.
	Alpha, Eps float64
	// Walks is the number of walks of SamplerWalk from each seed; 0 is 10. They have WalkLength steps, and each step goes back to the seed
	// with the chance Restart.
	Walks   int
	Restart float64

	Replace bool // draw with replacement
	// Weight is the edge column in proportion to which edges are drawn, one after the other; "" draws uniformly. SamplerLabor divides
	// the number of a neighbour by it: heavy edges are preferred, but not in exact proportion.
	Weight  string
	Before  string   // edge column: draw only edges with a time below the seed's; "COLUMN<=" takes equal times too
	Untimed []string // edge types without the column of Before, whose edges are drawn at any time
	// BeforeColumns are the columns of the times of single edge types, in place of Before's. A key is an edge type, or
	// its relation if that is unique. Without Before, edges of other types are drawn at any time. "COLUMN<=" takes equal times
	// too, and must then be so in Before and BeforeNodes.
	BeforeColumns map[string]string
	// BeforeNodes are the columns of the times of nodes, by node type: an edge is drawn only if it also leads to a node with a
	// time below the seed's.
	BeforeNodes map[string]string
	// Window is the length of the time before the seed's in which times must lie: a number in the unit of the columns or,
	// where these have a unit, such as "30d", "12h" or "90s". "" is no bound.
	Window string
	// TemporalStrategy is "uniform" (the default), or "last": the edges with the latest times, in place of a draw; or "recent": a draw in
	// which the chance of an edge halves with each HalfLife that it is older.
	TemporalStrategy string
	// HalfLife is the age at which "recent" draws an edge half as often as the latest one. It is written as Window is.
	HalfLife string

	// The fields up to Subgraph apply to SamplingSpec too.

	// Negatives is the number of negative links per seed link, at most 65536; 0 is none. Of a number with a fraction, a link has the whole part and, with the chance of the
	// fraction, one more, by a draw of its own: 0.5 gives every second link a negative, 1.5 one or two. FormatCollection needs a whole number.
	Negatives float64
	// NegativesHow says how a negative link is made of a link: "binary" draws both ends (the default), "triplet" keeps the
	// source and draws the target, "in-batch" keeps the source and takes the target of another link of the batch.
	NegativesHow string
	// NegativesBy says in proportion to what nodes are drawn: "uniform" (the default), "degree" (the number of their edges
	// of the links' type, to the power of 0.75), or a node column.
	NegativesBy string
	// NegativesStrict says what happens to a negative link that is an edge of the links' type, or joins a node with itself:
	// it is kept ("no", the default), or it is drawn again up to 64 times, and then kept and counted ("count") or an error
	// ("error").
	NegativesStrict string
	// NegativesLinked says which edges NegativesStrict compares with: all of them ("ever", the default), or those whose time is not after the link's
	// ("before"), so that a link of the future can be a negative, as it is for a model that ranks at that time. It needs the times of the links' edge type (Before).
	NegativesLinked string
	// NegativesWhen says which nodes are drawn for the negatives of a link that has a time: "existing" (the default for node types in BeforeNodes) those whose own time is
	// not later than the link's, or "any". Where none exists, the negative has the end of the link, and counts with those that are edges.
	NegativesWhen string
	// NegativesFrom gives the negatives of each link, in place of draws (Negatives). It is the name of a column of the links with lists of original ids of targets;
	// or an .npy file of type-wise ids with a row per link, [links, negatives] of targets or [links, negatives, 2] of sources and targets. Lists of several lengths are
	// "FILE.npy,OFFSETS.npy", where link i has the ids from offset i to offset i + 1 of the file. "" is none. A Plan must have negatives that are listed.
	NegativesFrom string
	// Positives is an edge type, "SRC:REL:DST" or REL, that makes each seed, a node of type SRC, a seed link per epoch: one of its edges of the type, drawn alike among
	// those that are Messages and, where the seeds have times (Before), not later than the seed. Nodes without such an edge are left out, with a warning. A Plan must start from links of this
	// type. "" is none.
	Positives string
	// Exclude leaves edges out of all draws of a subgraph: "self" those from the source to the target of its links,
	// "reverse:RELATION" also the edges of RELATION from the target to the source.
	Exclude string
	// Messages restricts the edges that there are for draws, negatives and Subgraph: "COLUMN=VALUE" or, of a column of bools, "COLUMN" for all edge types
	// that are followed, or "TYPE:COLUMN=VALUE" for one of them, where TYPE is "src:rel:dst" or its relation if that is unique. Several values of the same
	// column are alternatives. The seeds may be any edges. nil is all edges.
	Messages []string
	// Subgraph says which edges a subgraph has: those that were drawn ("directional", the default), these and their reverses
	// ("bidirectional"), or all edges between its nodes ("induced").
	Subgraph string

	// WalkLength is the number of steps of a walk of SamplerSaintWalk and SamplerWalk.
	WalkLength int
	// Assignment is the folder with the part of each node, for SamplerCluster: what Partition wrote. With Shuffle, the parts come
	// in another order in each epoch.
	Assignment string

	// Ops keeps, for each op, the nodes that it expanded and the edges that it drew, from which message-flow blocks can be
	// made.
	Ops bool
	// NoEdgeIDs leaves the ids of edges out. The stream executor then draws less, and reads no positions of edges.
	NoEdgeIDs bool

	Executor Executor
}

// Batching says which seeds there are, in which order, and how many make a batch.
type Batching struct {
	// Seeds is TYPE, TYPE:COLUMN=VALUE, or the name of a file of ids or links; "" is all nodes of the seed type. An edge
	// type "src:rel:dst", also with ":COLUMN=VALUE", means its edges as links, with their columns.
	Seeds string
	// SeedType is the node type of the ids in a file of seeds. For links it is the types of source and target, or one
	// element with their edge type "src:rel:dst", or its relation if that is unique. It may be nil if the seeds, the plan or
	// the graph leave no choice.
	SeedType []string
	// SeedTime is the node column with the times of the seeds, or the column of links; "" is the column of Before, or of
	// BeforeColumns or BeforeNodes for the type of the seeds. A name that ends in .npy, and is no column, is a file with the
	// time of each seed: integers in the unit of the edges' times, or floats. A date such as 2024-04-01 or a time such as
	// 2024-04-01T12:00:00+02:00 (UTC without a zone), or a number in that unit, is the time of all seeds.
	SeedTime string
	// LimitSeeds is the number of seeds to take from the start of the list; 0 is all.
	LimitSeeds int

	// BatchSize is the number of seeds per batch; 0 is 1024. With the samplers of sets it is the number of what a batch is made of:
	// parts (0 is 1), nodes, edges or walks.
	BatchSize int
	Seed      uint64 // random seed of all draws
	Epoch     uint64 // number of the first epoch
	Epochs    int    // number of epochs; 0 is 1
	Shuffle   bool   // shuffle the seeds, differently in each epoch
	Rank      int    // take the batches of this rank, from 0 to Ranks-1
	Ranks     int    // number of ranks that share the batches of an epoch; 0 is 1
}

// Columns say which columns batches have.
type Columns struct {
	// Features lists the node columns in Batches, as COLUMN or TYPE/COLUMN. nil is all columns of numbers with a fixed
	// shape; an empty list is none.
	Features []string
	// EdgeFeatures lists the edge columns in Batches, as COLUMN or TYPE/COLUMN. nil is none; the single element "all" is
	// all columns of numbers with a fixed shape.
	EdgeFeatures []string
	// Joined lists columns that Batches have side by side, flat, as one column whose name is TYPE/NAME:
	// {"paper/x": {"year", "views"}}. TYPE is a node type or an edge type "src:rel:dst". A joined column has the dtype of its columns if
	// they share one; else float64 if one of them has it, and float32 if not.
	Joined map[string][]string
}

// Ages say which ages batches have.
type Ages struct {
	// Age is the columns with the times of nodes and edges, by type: a node type, an edge type "src:rel:dst", or its relation if that is unique. Batches have
	// the column "age" of these types, float32: how long before the time of its seed each row happened, negative after it. It needs times (Before,
	// BeforeColumns, BeforeNodes), and every row that batches can have needs a time.
	Age map[string]string
	// AgeUnit is the unit of ages: "seconds", "minutes", "hours", "days" (the default), "weeks" or "years" of 365.2425 days. Where the times are plain
	// numbers, it is "", and ages are their differences.
	AgeUnit string
}

// Records say how TFRecords are written. They require FormatTFRecord.
type Records struct {
	Shards      int      // number of files; 0 is 1
	Name        string   // prefix of the file names; "" is "samples.tfrecord"
	Gzip        bool     // compress the files
	IDs         []string // node types whose original ids are written as #id, or "all" or "none"; nil is as the schema declares
	Compat      Compat
	Aggregation Aggregation
	SeedIDs     bool   // write sample_id and seed_id into the context
	Components  int    // subgraphs per Example, one component each; 0 is 1, and more than 1 requires ScopeSeed
	GraphSchema string // GraphSchema of the store's graph, a file or its folder: gives descriptions and the features of links
}

// Sample say what to sample, in which order, and how to write it.
type Sample struct {
	Run
	Draw
	Batching
	// Format is FormatCollection (the default) or FormatTFRecord.
	Format Format
	Records

	// Resume continues an interrupted run of the same call, if there is one, and otherwise starts a new run.
	Resume bool
	// CheckpointEvery is the time between two checkpoints, from which Resume continues; 0 is 30 seconds, and a negative
	// time makes no checkpoints.
	CheckpointEvery time.Duration
}

// Hosting says which processes have the edges and the rows of columns, in place of the one that makes batches.
type Hosting struct {
	// Hosts are host:port of processes that have the store, each a range of its nodes: all of them, in any order. This process then reads the store's manifest, and
	// the columns that say which seeds there are. nil: it reads the store.
	Hosts []string
	// HostsToken is a file with the token of the hosts; "" is none.
	HostsToken string
	// HostsCA is a PEM file with the certificates that those of the hosts are signed by; "" are the system's. Connections to other machines are always
	// encrypted.
	HostsCA string
}

// Batches say what to sample, in which order, and with which columns.
type Batches struct {
	Run
	Draw
	Batching
	Columns
	Ages
	Hosting

	// Texts lists columns of texts of nodes that batches have, as COLUMN or TYPE/COLUMN; #id is the original ids. Batches have the bytes of all texts of a column as
	// text/NAME, and where each begins, and the end of the last, as text_offset/NAME. They need the memory executor.
	Texts []string
	// Order is the order of the seeds, "weighted:COLUMN", "stratified:COLUMN" or
	// "windowed:BLOCK,BLOCKS"; "" is the order of the list, or with Shuffle a shuffled one.
	Order string
	// Kept is an .npy file of int64 ids, ascending, of the nodes whose rows the consumer keeps: batches leave the columns of these nodes out. Ids count the nodes of
	// all types, type after type in the order of the store. The columns of a type with kept nodes then have the rows of all others, in the order of the batch; sent
	// has the places of these nodes in the batch, and place the number of each node's row: among the kept rows of its type, then among those of the batch. "" is none.
	Kept string
	// NarrowIDs has the ids of nodes and edges in batches, and local ids, as int32 where all of the type are below 2^31.
	NarrowIDs bool
	// Slots is the number of batches that the consumer of a loader holds at a time, which the stream executor counts
	// in Memory; 0 is the number that Batches holds.
	Slots int
}

// Measure say what to sample to measure the speed of draws.
type Measure struct {
	Run
	Draw
	Batching
}

// Unigraph say how a unigraph is imported and sampled in one step. SamplingSpec is required.
type Unigraph struct {
	Sample
	// DataPath is the folder of the unigraph's tables; "" is the folder of the schema.
	DataPath string
	// MissingNodes says how to treat nodes that edges name and that no node table has; "" is MissingDrop, or MissingZeros
	// with a Compat other than CompatNone.
	MissingNodes Missing
}
