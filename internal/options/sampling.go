package options

// Sampling are the options that say what is drawn, and around which seeds. The command reads Fanout from a text.
var Sampling = []Option{
	{Field: "Fanout", Group: GroupDraw, Common: true, Value: "N,N", Kind: Fanouts, Also: "FanoutByType", Needs: []*Need{OfHops}, Help: "edges to draw per node at each hop, for all edge types (15,10) or by type (cites=15,10;writes=5,5), where -1 draws all; types that are not listed are not followed"},
	{Field: "Plan", Group: GroupDraw, Value: "FILE", Free: true, Needs: []*Need{OfHops}, Help: "file with a plan (JSON)"},
	{Field: "SamplingSpec", Group: GroupDraw, Common: true, Value: "FILE", Free: true, Needs: []*Need{OfHops}, Help: "file with a TF-GNN SamplingSpec (pbtxt)"},
	{Field: "Direction", Group: GroupDraw, Choices: []string{"in", "out"}, Default: "in", Needs: []*Need{OfHops, ByFanout}, Help: "edges that a hop follows: in-edges, to their sources (in), or out-edges, to their destinations (out)"},
	{Field: "Expand", Group: GroupDraw, Choices: []string{"new", "all"}, Default: "new", Needs: []*Need{OfHops, ByFanout}, Help: "nodes that a hop expands: those that the previous hop reached first (new, as PyG), or all that were reached before, seeds included (all, as DGL)"},
	{Field: "Scope", Group: GroupDraw, Common: true, Choices: []string{"batch", "seed", "epoch"}, Default: "batch", Needs: []*Need{OfHops, ByFanout}, Help: "one subgraph per batch (batch), per seed (seed), or per batch with the same draws of a node in all batches of an epoch (epoch)"},
	{Field: "Sampler", Group: GroupDraw, Common: true, Choices: []string{"neighbor", "labor", "ladies", "fastgcn", "hgt", "shadow", "ppr", "walk", "cluster", "saint-node", "saint-edge", "saint-walk"}, Default: "neighbor", Needs: []*Need{ByFanout}, Help: "how nodes are chosen: neighbor, labor, ladies, fastgcn, hgt, shadow, ppr, walk, cluster, saint-node, saint-edge or saint-walk; neighbor: each node draws for itself; labor: the nodes of a hop share what they draw, so that a batch has fewer nodes, and parallel edges share one number; ladies, fastgcn: --fanout counts the nodes of a type that a hop chooses, and the hop takes all edges to them; hgt: the same, and a batch has all edges between its nodes; shadow: --scope seed and --subgraph induced; ppr: as shadow, with the --fanout nodes of the largest personalised PageRank for the seed; walk: as shadow, with the --fanout nodes that random walks from the seed visit most; cluster, saint-node, saint-edge, saint-walk: a subgraph is a set of nodes with all edges between them, without --fanout and --seeds: the nodes of --batch-size parts, or --batch-size nodes, edges or walks"},
	{Field: "Importance", Group: GroupDraw, Needs: []*Need{OfHops, ByFanout}, Help: "with --sampler labor: rounds that raise the chances of nodes which many nodes of a hop have as neighbours, so that a batch has fewer nodes"},
	{Field: "Alpha", Group: GroupDraw, Positive: true, Needs: []*Need{OfHops, ByFanout, OfPPR}, Help: "with --sampler ppr: the chance that a walk ends before a step (default: 0.2)"},
	{Field: "Eps", Group: GroupDraw, Positive: true, Needs: []*Need{OfHops, ByFanout, OfPPR}, Help: "with --sampler ppr: the tolerance; a smaller one takes longer (default: 1e-05)"},
	{Field: "WalkLength", Group: GroupDraw, Needs: []*Need{OfWalks}, Help: "steps of a walk, with --sampler walk or saint-walk"},
	{Field: "Walks", Group: GroupDraw, Positive: true, Needs: []*Need{OfHops, ByFanout, OfWalk}, Help: "with --sampler walk: walks from each seed (default: 10)"},
	{Field: "Restart", Group: GroupDraw, Needs: []*Need{OfHops, ByFanout, OfWalk}, Help: "with --sampler walk: the chance that a step goes back to the seed"},
	{Field: "Assignment", Group: GroupDraw, Kind: Folder, Free: true, Needs: []*Need{OfCluster}, Help: "folder with the part of each node that graphmill partition wrote, with --sampler cluster"},
	{Field: "Replace", Group: GroupDraw, Needs: []*Need{OfHops, ByFanout}, Help: "draw with replacement"},
	{Field: "Weight", Group: GroupDraw, Common: true, Value: "COLUMN", Kind: EdgeColumn, Needs: []*Need{OfHops, ByFanout}, Help: "edge column: draw in proportion to it, one edge after the other (default: uniformly); with --sampler labor heavy edges are preferred, but not in exact proportion"},
	{Field: "Before", Group: GroupSeeds, Common: true, Value: "COLUMN", Kind: EdgeColumn, Needs: []*Need{OfHops, ByFanout}, Help: "edge column with times: draw only edges with a time below the seed's; COLUMN<= takes equal times too"},
	{Field: "Untimed", Group: GroupSeeds, Value: "TYPES", Kind: EdgeTypes, Needs: []*Need{OfHops, ByFanout, OfBefore}, Help: "edge types without the column of --before, separated by commas; their edges are drawn at any time"},
	{Field: "BeforeColumns", Group: GroupSeeds, Value: "TYPE=COLUMN", Kind: EdgeAssignments, Needs: []*Need{OfHops, ByFanout}, Help: "columns with the times of single edge types, TYPE=COLUMN;TYPE=COLUMN, in place of that of --before (COLUMN<= as there)"},
	{Field: "BeforeNodes", Group: GroupSeeds, Value: "TYPE=COLUMN", Kind: NodeAssignments, Needs: []*Need{OfHops, ByFanout}, Help: "columns with the times of nodes, TYPE=COLUMN;TYPE=COLUMN: edges are drawn only if they lead to a node with a time below the seed's"},
	{Field: "Window", Group: GroupSeeds, Value: "TIME", Needs: []*Need{OfHops, ByFanout, OfTimes}, Help: "draw only edges whose time is at most this long before the seed's: a number in the unit of the column, or such as 30d, 12h, 90s"},
	{Field: "TemporalStrategy", Group: GroupSeeds, Choices: []string{"uniform", "recent", "last"}, Default: "uniform", Needs: []*Need{OfHops, ByFanout, OfTimes}, Help: "with --before: draw edges uniformly (uniform), draw late ones more often (recent, with --half-life), or take the latest ones (last)"},
	{Field: "HalfLife", Group: GroupSeeds, Value: "TIME", Needs: []*Need{OfHops, ByFanout, OfTimes}, Help: "with --temporal-strategy recent: the age at which an edge is drawn half as often as the latest one, written as --window is"},
	{Field: "Negatives", Group: GroupLinks, Positive: true, Needs: []*Need{OfHops, NotInPlan}, Help: "number of negative links per seed link; of 1.5, links have one or two, by a draw (default: none)"},
	{Field: "NegativesHow", Group: GroupLinks, Choices: []string{"binary", "triplet", "in-batch"}, Default: "binary", Needs: []*Need{OfHops, OfNegatives}, Help: "negative links: draw both ends (binary), draw the target (triplet), or take the target of another link of the batch (in-batch)"},
	{Field: "NegativesBy", Group: GroupLinks, Choices: []string{"uniform", "degree"}, Default: "uniform", Value: "NAME", Kind: NodeColumns, Needs: []*Need{OfHops, OfNegatives}, Help: "draw the ends of negative links in proportion to: uniform (all alike), degree (number of edges to the power of 0.75), or a node column"},
	{Field: "NegativesStrict", Group: GroupLinks, Choices: []string{"no", "count", "error"}, Default: "no", Needs: []*Need{OfHops, OfNegatives}, Help: "negative links that are edges: keep them (no), draw them again up to 64 times, and then keep and count them (count), or stop with an error (error)"},
	{Field: "NegativesLinked", Group: GroupLinks, Choices: []string{"ever", "before"}, Default: "ever", Needs: []*Need{OfHops, OfNegatives}, Help: "edges that --negatives-strict compares with: all (ever), or those whose time of --before is not later than the link's (before)"},
	{Field: "NegativesWhen", Group: GroupLinks, Choices: []string{"existing", "any"}, Needs: []*Need{OfHops, OfNegatives}, Help: "nodes that are drawn for negative links: those whose time of --before-nodes is not later than the link's (existing), or all (any) (default: existing for the node types of --before-nodes)"},
	{Field: "NegativesFrom", Group: GroupLinks, Value: "COLUMN|FILE", Needs: []*Need{OfHops}, Help: "negative links of each seed link, in place of draws: a column of the links with lists of original ids of targets, or an .npy file of row numbers of the store, [links, negatives] of targets or [links, negatives, 2] of sources and targets; FILE.npy,OFFSETS.npy for lists of several lengths"},
	{Field: "Positives", Group: GroupLinks, Value: "TYPE", Kind: EdgeTypes, Needs: []*Need{OfHops}, Help: "make each seed node a seed link, by one of its edges of this type SRC:REL:DST, which is drawn anew in each epoch"},
	{Field: "Exclude", Group: GroupLinks, Choices: []string{"self"}, Value: "EDGES", Kind: Reverses, Needs: []*Need{OfHops, NotInPlan}, Help: "edges that the subgraph of seed links leaves out: those of the links (self), or these and the edges of RELATION in the other direction (reverse:RELATION)"},
	{Field: "Messages", Group: GroupLinks, Common: true, Value: "COLUMN=VALUE", Form: Repeated, Needs: []*Need{NotInPlan}, Help: "edges that are messages: those with a value in a column (split=train), or COLUMN of true and false; TYPE:COLUMN=VALUE is for one edge type, and --messages can be repeated for others and for further values; no draw, negative or induced subgraph sees other edges (default: all edges)"},
	{Field: "Subgraph", Keyword: "subgraph_type", Group: GroupDraw, Choices: []string{"directional", "bidirectional", "induced"}, Default: "directional", Needs: []*Need{OfHops, NotInPlan}, Help: "edges of a subgraph: those that were drawn (directional), these and their reverses (bidirectional), or all edges between its nodes (induced)"},
	{Field: "TimeColumn", Group: GroupSeeds, Value: "COLUMN", Kind: EdgeColumn, Needs: []*Need{OfHops, OfSpec}, Help: "edge column by which LATEST_K of a sampling spec orders edges, or with the times of a temporal plan of DGF"},
	{Field: "Seeds", Group: GroupSeeds, Common: true, Value: "SEEDS", Kind: Types, Free: true, Needs: []*Need{OfHops}, Help: "TYPE, TYPE:COLUMN=VALUE, or a file of ids or links; TYPE is a node type or, for links, an edge type SRC:REL:DST (default: all nodes of the seed type)"},
	{Field: "SeedType", Group: GroupSeeds, Value: "TYPE", Kind: Types, Help: "node type of the ids in a file of seeds; for links their edge type SRC:REL:DST, or the node types SOURCE,TARGET"},
	{Field: "SeedTime", Group: GroupSeeds, Value: "COLUMN|FILE|TIME", Needs: []*Need{OfHops}, Help: "column with the times of the seed nodes or links, an .npy file with a time per seed, or one time for all seeds, such as 2024-04-01 (default: the column of --before)"},
	{Field: "LimitSeeds", Group: GroupSeeds, Positive: true, Needs: []*Need{OfHops}, Help: "take only the first N seeds of the list (default: all)"},
	{Field: "BatchSize", Group: GroupSeeds, Common: true, Default: "1024", Positive: true, Help: "seeds per batch"},
	{Field: "Seed", Group: GroupSeeds, Common: true, Help: "random seed of all draws"},
}

// Epoch is the option of commands that begin with an epoch of their own.
var Epoch = []Option{{Field: "Epoch", Group: GroupSeeds, Help: "number of the first epoch"}}

// Work are the options that sample and forecast share beside Sampling. The command reads Rank from a text.
var Work = []Option{
	{Field: "Compat", Group: GroupTFGNN, Choices: []string{"none", "tfgnn", "tfgnn-classic"}, Default: "none", Needs: []*Need{OfRecords}, Help: "layout of tf.train.Examples: that of TF-GNN's tfgnn_sampler (tfgnn) or older graph_sampler (tfgnn-classic), or Graphmill's own (none)"},
	{Field: "Aggregation", Flag: "edge-aggregation", Group: GroupOutput, Choices: []string{"edge", "node"}, Default: "edge", Needs: []*Need{OfRecords}, Help: "edges of an Example: those that were drawn (edge), or all between its nodes (node)"},
	{Field: "Aggregation", Flag: "edge-aggregation-method", Group: GroupTFGNN, Choices: []string{"edge", "node"}, Default: "edge", Help: "TF-GNN: the same as --edge-aggregation"},
	{Field: "SeedIDs", Group: GroupOutput, Needs: []*Need{OfRecords}, Help: "write sample_id and seed_id into the context of TFRecords"},
	{Field: "Components", Group: GroupOutput, Default: "1", Positive: true, Needs: []*Need{OfRecords}, Help: "subgraphs per Example, one component each; more than 1 needs --scope seed"},
	{Field: "Format", Group: GroupOutput, Common: true, Choices: []string{"collection", "tfrecord"}, Default: "collection", Help: "output format: collection or tfrecord"},
	{Field: "Executor", Group: GroupRun, Common: true, Choices: []string{"auto", "memory", "stream"}, Default: "auto", Free: true, Help: "how neighbours are read: memory (random reads from the mapped store), stream (sequential sweeps over the disk, for graphs larger than memory), or auto; auto is memory if its data fit --memory or the available memory, else stream"},
	{Field: "Epochs", Group: GroupSeeds, Common: true, Default: "1", Positive: true, Help: "number of epochs"},
	{Field: "Shuffle", Group: GroupSeeds, Common: true, Help: "shuffle the seeds, differently in each epoch"},
	{Field: "Rank", Group: GroupSeeds, Value: "R/W", Also: "Ranks", Help: "R/W: sample only the batches of rank R of W ranks"},
	{Field: "NoEdgeIDs", Group: GroupOutput, Help: "leave the ids of edges out of a collection: edges take a third less space, and the stream executor draws less"},
	{Field: "Ops", Group: GroupOutput, Needs: []*Need{OfHops}, Help: "keep in a collection the nodes that each op expanded and the edges that it drew"},
}

// Unigraph are the options of sample in the words of TF-GNN's tfgnn_sampler. The command reads OutputSamples and InputSeeds from texts.
var Unigraph = []Option{
	{Field: "GraphSchema", Group: GroupTFGNN, Value: "FILE", Free: true, Help: "TF-GNN: GraphSchema of a unigraph, a file or its folder, to import and sample in one step; with a STORE: GraphSchema of its graph, for descriptions and the features of links"},
	{Field: "DataPath", Group: GroupTFGNN, Kind: Folder, Help: "TF-GNN: folder of the unigraph's tables (default: folder of the schema)"},
	{Field: "OutputSamples", Group: GroupTFGNN, Help: "TF-GNN: TFRecords to write, FOLDER/NAME or FOLDER/NAME@SHARDS; FOLDER is a new output folder"},
	{Field: "InputSeeds", Group: GroupTFGNN, Value: "FILE", Help: "TF-GNN: file of seeds (default: all nodes of the node set of the seed op)"},
	{Field: "MissingNodes", Group: GroupTFGNN, Choices: []string{"error", "drop", "zeros"}, Help: "TF-GNN: how to treat nodes that edges name and that no table has: error, drop (drop their edges), or zeros (add them with features of zeros) (default: drop; zeros with --compat tfgnn or tfgnn-classic)"},
}

// Files are the options of the files that sample writes.
var Files = []Option{
	{Field: "Resume", Group: GroupRun, Common: true, Help: "continue an interrupted run of the same command, if there is one"},
	{Field: "CheckpointEvery", Group: GroupRun, Help: "time between two checkpoints, from which --resume continues; 0 makes no checkpoints"},
	{Field: "Shards", Group: GroupOutput, Common: true, Default: "1", Positive: true, Needs: []*Need{OfRecords}, Help: "number of TFRecord files"},
	{Field: "Name", Group: GroupOutput, Needs: []*Need{OfRecords}, Help: "prefix of the names of TFRecord files (default \"samples.tfrecord\")"},
	{Field: "Gzip", Group: GroupOutput, Needs: []*Need{OfRecords}, Help: "compress TFRecords"},
	{Field: "IDs", Group: GroupOutput, Value: "TYPES", Kind: NodeTypes, Needs: []*Need{OfRecords}, Help: "node types whose original ids are written to TFRecords as #id: TYPE,TYPE, all or none (default: as the unigraph's schema declares)"},
}

// OfColumns are the options that say which columns batches have.
var OfColumns = []Option{
	{Field: "Features", Group: GroupBatches, Common: true, Choices: []string{"all", "none"}, Value: "COLUMNS", Kind: NodeColumns, Form: Columns, Help: "node columns in batches: all, none, or a list of COLUMN or TYPE/COLUMN"},
	{Field: "EdgeFeatures", Group: GroupBatches, Common: true, Choices: []string{"all", "none"}, Value: "COLUMNS", Kind: EdgeColumns, Form: Columns, Help: "edge columns in batches: all, none, or a list of COLUMN or TYPE/COLUMN"},
	{Field: "Joined", Keyword: "x", Group: GroupBatches, Value: "TYPE/NAME=COLUMNS", Help: "columns side by side as one column of batches, TYPE/NAME=COLUMN,COLUMN;TYPE/NAME=COLUMN,COLUMN"},
}

// Order are the options of the order of the seeds of sampled batches.
var Order = []Option{
	{Field: "Shuffle", Group: GroupBatches, Common: true, Help: "shuffle the seeds, differently in each epoch"},
	{Field: "Order", Group: GroupBatches, Value: "ORDER", Kind: Orders, Needs: []*Need{OfHops}, Help: "order of the seeds: weighted:COLUMN, stratified:COLUMN, or windowed:BLOCK,BLOCKS (default: as given, or shuffled with --shuffle)"},
}

// Batches are the options that say what sampled batches have besides columns of the store.
var Batches = []Option{
	{Field: "Age", Group: GroupBatches, Value: "TYPE=COLUMN", Kind: Assignments, Help: "columns with the times of nodes and edges, TYPE=COLUMN;TYPE=COLUMN: batches of --before have the column age of these types, how long before the time of its seed each row happened"},
	{Field: "AgeUnit", Group: GroupBatches, Choices: []string{"seconds", "minutes", "hours", "days", "weeks", "years"}, Default: "days", Needs: []*Need{OfAge}, Help: "unit of the ages of --age: seconds, minutes, hours, days, weeks, or years of 365.2425 days"},
	{Field: "Ops", Group: GroupBatches, Help: "add the nodes that each op expanded and the edges that it drew, to make message-flow blocks from"},
}

// Answers are the options of batches that are handed to clients who do not have the store.
var Answers = []Option{
	{Field: "Texts", Group: GroupBatches, Common: true, Value: "COLUMNS", Kind: NodeColumns, Help: "columns of texts of nodes in answers: a list of COLUMN or TYPE/COLUMN; #id is the original ids"},
}

// Feed are the options of batches that are handed to the Python client.
var Feed = []Option{
	{Field: "Executor", Group: GroupRun, Common: true, Choices: []string{"auto", "memory", "stream"}, Default: "auto", Help: "how neighbours and rows are read: memory (at random, from the mapped store), stream (in sweeps over the disk, for graphs larger than memory), or auto (stream if the memory executor needs more than --memory)"},
	{Field: "Hosts", Group: GroupRun, Value: "HOST:PORT,...", Help: "addresses of all processes of graphmill host that have the store: edges are drawn and rows are read there, in place of this process (default: none)"},
	{Field: "HostsToken", Group: GroupRun, Value: "FILE", Needs: []*Need{OfHosts}, Help: "file with the token of --hosts"},
	{Field: "HostsCA", Group: GroupRun, Value: "FILE", Needs: []*Need{OfHosts}, Help: "PEM file with the certificates that those of --hosts are signed by (default: the system's)"},
	{Field: "NoEdgeIDs", Group: GroupBatches, Help: "leave e_id out of batches: the stream executor then draws and reads less"},
	{Field: "Kept", Group: GroupBatches, Value: "FILE", Help: ".npy file of the nodes whose rows the consumer keeps, so that batches leave them out"},
	{Field: "NarrowIDs", Group: GroupBatches, Help: "have ids of nodes and edges as int32 where they are below 2^31"},
	{Field: "Slots", Group: GroupRun, Help: "batches that a consumer holds at a time, which the stream executor counts in --memory (default: what --threads asks for)"},
}

// Events are the options of batches of events.
var Events = []Option{
	{Field: "Types", Group: GroupSeeds, Common: true, Value: "TYPES", Kind: EdgeTypes, Help: "edge types whose edges are events, separated by commas (default: all that have the column --time)"},
	{Field: "Time", Group: GroupSeeds, Common: true, Value: "COLUMN", Kind: EdgeColumn, Help: "edge column with the times of the events (default: the only column of times, or one named time, timestamp, ts or t)"},
	{Field: "Events", Group: GroupSeeds, Common: true, Value: "COLUMN=VALUE", Form: Repeated, Help: "events that batches have: those with a value in a column (split=train), or COLUMN of true and false; TYPE:COLUMN=VALUE is for one edge type, and --events can be repeated; neighbours are of all events (default: all)"},
	{Field: "BatchSize", Group: GroupSeeds, Common: true, Default: "200", Positive: true, Help: "events per batch"},
	{Field: "Every", Group: GroupSeeds, Common: true, Value: "TIME", Help: "make a batch of each window of time that has events, in place of --batch-size: a number in the unit of the times, or such as 1d, 12h, 90s"},
	{Field: "DropLast", Group: GroupSeeds, Help: "leave out a last batch of fewer events"},
	{Field: "Neighbors", Group: GroupDraw, Common: true, Help: "latest neighbours of each end of an event and of each negative"},
	{Field: "History", Group: GroupDraw, Common: true, Choices: []string{"event", "batch", "pyg"}, Default: "event", Help: "neighbours are those before the time of the event (event), before the batch (batch), or before the batch as PyG's LastNeighborLoader keeps them (pyg)"},
	{Field: "Negatives", Group: GroupLinks, Help: "destinations to draw per event, between the least and the greatest of its type"},
	{Field: "NegativesFrom", Group: GroupLinks, Value: "FILE", Help: "destinations of each event that batches have, in place of draws: an .npy file of row numbers of the store, [events, negatives]; for lists of several lengths FILE.npy,OFFSETS.npy"},
	{Field: "Seed", Group: GroupSeeds, Common: true, Help: "random seed of all draws"},
	{Field: "Rank", Group: GroupSeeds, Value: "R/W", Also: "Ranks", Help: "R/W: make only the batches of rank R of W ranks"},
	{Field: "NoEdgeIDs", Group: GroupBatches, Help: "leave e_id out of batches"},
}

// The samplers whose batches are sets of nodes with all edges between them.
var samplersOfSets = []string{"cluster", "saint-node", "saint-edge", "saint-walk"}

// What options of sampling need.
var (
	OfHops = &Need{Field: "Sampler", Except: samplersOfSets, Same: map[string]string{"Scope": "batch", "Subgraph": "induced"},
		Text: "found `%s` with `Sampler` %s, which chooses the nodes of batches and takes all edges between them, expected one of them"}
	// ByFanout and NotInPlan: a plan says these things itself, and no option is ignored silently.
	ByFanout  = &Need{Field: "Fanout", Or: []string{"FanoutByType"}, Text: inPlan}
	NotInPlan = &Need{Field: "Fanout", Or: []string{"FanoutByType"}, With: "Plan", Text: inPlan}
	OfSpec    = &Need{Field: "SamplingSpec", Or: []string{"Plan"}}
	OfWalks   = &Need{Field: "Sampler", Values: []string{"walk", "saint-walk"}}
	OfWalk    = &Need{Field: "Sampler", Values: []string{"walk"}}
	OfCluster = &Need{Field: "Sampler", Values: []string{"cluster"}}
	OfPPR     = &Need{Field: "Sampler", Values: []string{"ppr"}}
	// OfTimes is asked where no column of times is given.
	OfTimes = &Need{Field: "Before",
		Text: "found `%s` without `Before`, expected the column of the times of edges in `Before`, or columns by type in `BeforeColumns` or `BeforeNodes`"}
	OfBefore    = &Need{Field: "Before"}
	OfHosts     = &Need{Field: "Hosts"}
	OfAge       = &Need{Field: "Age"}
	OfNegatives = &Need{Field: "Negatives", Text: "found `%s` without `Negatives`, expected the number of negative links per link, such as `Negatives` 1"}
	OfRecords   = &Need{Field: "Format", Values: []string{"tfrecord"}, Same: map[string]string{"Compat": "none", "Aggregation": "edge"},
		Text: "found `%s` with `Format` collection, expected `Format` tfrecord"}
)

const inPlan = "found `%s` without `Fanout`, expected it in the plan; write it in the plan, or give `Fanout` in place of the plan"
