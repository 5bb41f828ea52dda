package options

// Pack are the options of pack. The command reads Limits from texts, and has Stream.
var Pack = []Option{
	{Field: "Limits", Flag: "limit", Group: GroupPack, Common: true, Value: "COMPONENT=N", Kind: ComponentsAmounts, Form: Repeated, Help: "limit of a pack in a component, such as num_nodes=222; give one for each component (required)"},
	{Field: "MaxGraphs", Group: GroupPack, Common: true, Help: "most graphs in a pack; 0 is no bound"},
	{Field: "Method", Group: GroupPack, Common: true, Choices: []string{"auto", "dlpfhp", "spfhp", "best-fit", "first-fit", "next-fit", "none"}, Default: "auto", Help: "auto, dlpfhp, spfhp, best-fit, first-fit, next-fit, none"},
	{Field: "Heuristic", Group: GroupPack, Choices: []string{"product", "sum", "max", "min", "weighted:"}, Default: "product", Help: "dlpfhp, spfhp, best-fit, first-fit: order in which graphs are taken: product, sum, max, min, weighted:W,W, or a component"},
	{Field: "Effort", Group: GroupPack, Default: "1", Positive: true, Help: "auto: amount of work; 1 takes about two seconds"},
	{Field: "TimeBudget", Group: GroupPack, Help: "auto alone: bound on the elapsed time, such as 30s, after which its best packing so far is the result, which then depends on the machine (default: no bound)"},
	{Field: "Oversize", Group: GroupPack, Common: true, Choices: []string{"error", "skip", "alone"}, Default: "error", Help: "how to treat graphs that are larger than a pack: error, skip (leave them out and count them) or alone (make each a pack of its own, separate from the others)"},
	{Field: "Reserve", Group: GroupPack, Common: true, Help: "keep room in the limits for one padding node of each type and one padding graph, for arrays of fixed shape"},
	{Field: "Ranks", Group: GroupPack, Common: true, Default: "1", Positive: true, Help: "make the number of packs a multiple of the number of ranks"},
	{Field: "Stream", Group: GroupPack, Common: true, Help: "pack graphs in their order: SIZES.csv (one graph per line), - (stdin) or a COLLECTION"},
	{Field: "Buffer", Group: GroupPack, Default: "512", Positive: true, Help: "number of graphs that --stream holds at a time"},
}

// Fill are the options of pack fill.
var Fill = []Option{
	{Field: "Seed", Group: GroupSeeds, Common: true, Help: "random seed of the order"},
	{Field: "Epoch", Group: GroupSeeds, Common: true, Help: "number of the first epoch"},
	{Field: "Epochs", Group: GroupSeeds, Common: true, Positive: true, Help: "number of epochs"},
}

// Materialise are the options of pack materialise.
var Materialise = []Option{
	{Field: "Seed", Group: GroupSeeds, Common: true, Help: "random seed of the order"},
	{Field: "Epoch", Group: GroupSeeds, Common: true, Help: "number of the epoch"},
	{Field: "Format", Group: GroupOutput, Common: true, Choices: []string{"npy", "collection", "tfrecord"}, Help: "output format: npy, collection or tfrecord"},
	{Field: "Shards", Group: GroupOutput, Common: true, Positive: true, Help: "tfrecord: number of files"},
}

// PackHistogram are the options of pack hist. The command reads Components from a text.
var PackHistogram = []Option{
	{Field: "Components", Group: GroupOutput, Value: "COMPONENTS", Kind: Components, Help: "components to count"},
	{Field: "Plot", Group: GroupOutput, Value: "FILE", Help: "new file that ends in .html, for a page with a plot of the histogram"},
}

// ComparePacks are the options of pack tables. The command reads Components from a text.
var ComparePacks = []Option{
	{Field: "Components", Group: GroupPack, Value: "COMPONENTS", Kind: Components, Help: "components to pack by"},
	{Field: "MaxGraphs", Group: GroupPack, Help: "most graphs in a pack; 0 is no bound"},
	{Field: "Effort", Group: GroupPack, Positive: true, Help: "amount of work of auto; 1 takes about two seconds"},
}

// TunePacks are the options of pack tune. The command reads Components, Align and Cost from texts.
var TunePacks = []Option{
	{Field: "Components", Group: GroupPack, Common: true, Value: "COMPONENTS", Kind: Components, Help: "components to pack by"},
	{Field: "Align", Group: GroupPack, Common: true, Value: "COMPONENT=N", Kind: ComponentsAmounts, Form: Repeated, Help: "the limit of the component is a multiple of N; may be repeated (default: 1 for each)"},
	{Field: "Cost", Group: GroupPack, Common: true, Value: "COMPONENT=N", Kind: ComponentsAmounts, Form: Repeated, Help: "cost of one unit of the component, such as its bytes; may be repeated (default: 1 for each)"},
	{Field: "Ceiling", Group: GroupPack, Common: true, Help: "the most that a pack may cost (default: sixteen times the cost of the smallest limits)"},
	{Field: "MaxGraphs", Group: GroupPack, Common: true, Help: "most graphs in a pack; 0 is no bound"},
	{Field: "Tries", Group: GroupPack, Common: true, Positive: true, Help: "the most limits to pack with"},
	{Field: "Target", Group: GroupPack, Common: true, Positive: true, Help: "harmonic mean of the efficiencies in percent: pack with the cheapest limits that reach it (default: only list limits)"},
}
