package option

// Choices of Partition. The empty value of each type is the default.
type (
	// Method is a method of dividing a graph.
	Method string
	// Preset is how much work MethodMultilevel does: more work gives a smaller cut.
	Preset string
	// Objective is the quantity that MethodMultilevel minimises.
	Objective string
)

// The values of the choices.
const (
	MethodMultilevel Method = "multilevel" // the smallest cut; holds the graph in memory, or reads it from disk in passes. The default
	MethodFennel     Method = "fennel"     // streams the graph from disk
	MethodRanges     Method = "ranges"     // divides as a cluster does, in ranges of the nodes
	MethodRandom     Method = "random"     // assigns nodes to parts at random
	MethodHash       Method = "hash"       // assigns nodes to parts by a hash of their ids
	MethodImport     Method = "import"     // reads the assignment of another program

	PresetFast    Preset = "fast"
	PresetDefault Preset = "default"
	PresetHigh    Preset = "high"

	ObjectiveCut Objective = "cut" // pairs of neighbours in different parts. The default
	ObjectiveVol Objective = "vol" // communication volume: Division.Volume
)

// Partition say how a graph is divided into parts.
type Partition struct {
	Run

	Parts     int // number of parts; required, except with MethodImport
	Method    Method
	Preset    Preset
	Objective Objective
	// Imbalance bounds the weight of a part divided by the mean: one number, or one for each quantity that is balanced; nil
	// is 1.03.
	Imbalance []float64
	// BalanceEdges balances the sums of in-degrees as well.
	BalanceEdges bool
	// TypesTogether balances the nodes of all types together, instead of the nodes of each type. This cuts fewer edges, but a
	// part may then own no node of a type. DGL's server does not start for such a part if the type has features.
	TypesTogether bool
	// BalanceColumn lists node columns, such as train_mask or TYPE/train_mask. The nodes of each value are balanced as well.
	BalanceColumn []string
	// TrainersPerMachine is the number of trainers that each part is divided between; 0 is 1.
	TrainersPerMachine int
	// Passes is the number of passes of MethodFennel over the nodes; 0 is 5.
	Passes int
	// Import is the assignment that MethodImport reads: a folder of <node type>.txt, a METIS .part.K or a ParMETIS file.
	Import string
	// Seed is the random seed.
	Seed uint64
	// AllowOutside lets the metadata of a chunked graph name files outside its folder.
	AllowOutside bool
}
