package options

// Partition are the options of the commands that divide a graph. The command reads TypesTogether from BalanceTypes, and has the names of DGL.
var Partition = []Option{
	{Field: "Parts", Letter: "k", Group: GroupDivide, Common: true, Help: "number of parts (required, except with --method import)"},
	{Field: "Method", Group: GroupDivide, Common: true, Choices: []string{"multilevel", "fennel", "ranges", "random", "hash", "import"}, Default: "multilevel", Help: "multilevel, fennel, ranges, random, hash or import"},
	{Field: "Preset", Group: GroupDivide, Common: true, Choices: []string{"fast", "default", "high"}, Default: "default", Help: "multilevel: fast, default or high; more work gives a smaller cut"},
	{Field: "Objective", Group: GroupDivide, Choices: []string{"cut", "vol"}, Default: "cut", Help: "multilevel: minimise cut (pairs of neighbours in different parts) or vol (communication volume)"},
	{Field: "Imbalance", Group: GroupBalance, Common: true, Default: "[1.03]", Help: "bound on the weight of a part divided by the mean: one number, or one for each quantity that is balanced"},
	{Field: "BalanceEdges", Group: GroupBalance, Common: true, Help: "balance the sums of in-degrees as well"},
	{Field: "BalanceTypes", Group: GroupBalance, Common: true, Help: "balance the nodes of each type; =false balances those of all types together, which cuts fewer edges, but a part may then own no node of a type, and DGL's server does not start for such a part if the type has features"},
	{Field: "BalanceColumn", Group: GroupBalance, Common: true, Value: "COLUMN", Kind: NodeColumns, Form: Slice, Help: "balance the nodes of each value of a node column as well: train_mask, or TYPE/train_mask; may be repeated"},
	{Field: "TrainersPerMachine", Group: GroupBalance, Default: "1", Positive: true, Help: "number of trainers that each part is divided between"},
	{Field: "Passes", Group: GroupDivide, Default: "5", Help: "fennel: number of passes over the nodes"},
	{Field: "Import", Group: GroupDivide, Value: "FILE", Help: "import: assignment to read: a folder of <node type>.txt, a METIS .part.K or a ParMETIS file"},
	{Field: "Seed", Group: GroupDivide, Common: true, Help: "random seed"},
	{Field: "AllowOutside", Group: GroupSource, Help: "let metadata.json name files outside its folder"},
	{Field: "BalanceNtypes", Group: GroupDGL, Value: "COLUMN", Kind: NodeColumns, Form: Slice, Help: "DGL's name of --balance-column"},
	{Field: "NumTrainersPerMachine", Group: GroupDGL, Positive: true, Help: "DGL's name of --trainers-per-machine"},
	{Field: "NumPartitions", Group: GroupDGL, Help: "DGL's name of --parts"},
}

// Parts are the options of the commands that write parts and send them.
var Parts = []Option{
	{Field: "GraphName", Group: GroupParts, Value: "NAME", Help: "name of the graph and of its configuration file (default: name of the input)"},
	{Field: "NumHops", Group: GroupParts, Common: true, Help: "number of hops that the halo of a part reaches, 0 to 8; both 0 and 1 keep the in-edges of its own nodes"},
	{Field: "GraphFormats", Group: GroupParts, Common: true, Default: "coo,csc", Value: "FORMATS", Help: "sparse formats in which a part is stored, separated by commas: coo, csc, csr"},
	{Field: "SaveOrigNids", Group: GroupParts, Common: true, Help: "write the original node ids: part<p>/orig_nids.dgl"},
	{Field: "SaveOrigEids", Group: GroupParts, Common: true, Help: "write the original edge ids: part<p>/orig_eids.dgl"},
	{Field: "PartsAtOnce", Group: GroupRun, Help: "most parts to make at a time (default: as many as fit --memory; with --resume at most a quarter of the parts)"},
	{Field: "Resume", Group: GroupRun, Common: true, Help: "keep the finished parts if the run is interrupted, and continue an earlier run that was interrupted"},
	{Field: "IPConfig", Group: GroupSend, Common: true, Value: "FILE", Help: "file with one machine per line, ADDRESS [PORT] (the port is DGL's): send part p to machine p mod n over SFTP"},
	{Field: "RemoteDir", Group: GroupSend, Common: true, Kind: Folder, Needs: []*Need{OfIPConfig}, Help: "folder on each machine (default: the local path of the parts)"},
	{Field: "SSHUser", Group: GroupSend, Value: "NAME", Needs: []*Need{OfIPConfig}, Help: "user on the machines (default: the current user)"},
	{Field: "SSHPort", Group: GroupSend, Default: "22", Needs: []*Need{OfIPConfig}, Help: "SSH port of the machines"},
	{Field: "Identity", Group: GroupSend, Value: "FILE", Form: Repeated, Needs: []*Need{OfIPConfig}, Help: "file with a private key to log in with; may be repeated (default: keys of the SSH agent and in ~/.ssh)"},
	{Field: "KnownHosts", Group: GroupSend, Value: "FILE", Form: Repeated, Needs: []*Need{OfIPConfig}, Help: "file with host keys of the machines; may be repeated (default: ~/.ssh/known_hosts)"},
}

// OutEdges is the option of halos. Partition-graph reads InEdgesOnly from it.
var OutEdges = []Option{{Field: "OutEdges", Group: GroupParts, Common: true, Help: "add the edges that leave the part to the halo, as DGL's partition_graph does; needs --num-hops of at least 1"}}

// DryRun is the option that forecasts parts.
var DryRun = []Option{{Field: "DryRun", Group: GroupParts, Common: true, Help: "print a forecast of disk space, memory and time, and write no parts"}}

// ReturnMapping is the option of partition-graph alone.
var ReturnMapping = []Option{{Field: "ReturnMapping", Group: GroupParts, Common: true, Help: "write the original ids: sets --save-orig-nids and --save-orig-eids, and adds one .npy file per type"}}

// Dispatch are the options of dispatch alone. The command has the names of folders.
var Dispatch = []Option{
	{Field: "Assignment", Group: GroupDivide, Common: true, Kind: Folder, Help: "folder with <node type>.txt and partition_meta.json (required without --parts)"},
	{Field: "Parts", Letter: "k", Group: GroupDivide, Common: true, Help: "number of parts to divide the nodes into, without an assignment"},
	{Field: "PartsBy", Group: GroupDivide, Choices: []string{"hash", "random"}, Default: "hash", Help: "how --parts divides the nodes: hash (of their types and ids) or random (equal parts), as graphmill partition does by the same --method"},
	{Field: "Seed", Group: GroupDivide, Help: "random seed of --parts"},
	{Field: "InDir", Group: GroupDGL, Kind: Folder, Help: "DGL's name of the input"},
	{Field: "PartitionsDir", Group: GroupDGL, Kind: Folder, Help: "DGL's name of --assignment"},
	{Field: "OutDir", Group: GroupDGL, Kind: Folder, Help: "DGL's name of --out"},
	{Field: "NumParts", Group: GroupDivide, Help: "number of parts that the assignment must have (default: any)"},
	{Field: "AllowOutside", Group: GroupSource, Help: "let metadata.json name files outside its folder"},
}

// OfIPConfig is what options of sending need.
var OfIPConfig = &Need{Field: "IPConfig", Text: "found `%s` without `IPConfig`, expected both; give `IPConfig` FILE to send the parts"}
