package options

import "cmp"

// Option is a row of the table: a field of options, and a flag that sets it.
type Option struct {
	// Field is the name of the field. The structs that a command binds the row to have it; it may also be a text that the command reads the
	// field from.
	Field string
	Also  string // a field that the flag sets as well, for other values
	// Flag is the name of the flag; "" is the field in lower case with hyphens between its words.
	Flag   string
	Letter string // a short form of the flag
	// Keyword is the keyword of the Python client, or what its errors say in place of one; "" is the field in lower case with underscores.
	Keyword string
	Help    string
	Group   string // of the help: one of Groups
	Common  bool   // the help of a command with many flags shows it
	// Default is the default that the help shows, where the zero value of the field stands for it; "" is the value of the field.
	Default string
	Choices []string // the values, or some that complete
	Value   string   // the name of the value in the help; "" is by Choices, or by the type
	Kind    Kind     // what completes the value
	Form    Form
	// Positive says that 0, which stands for the default, is refused.
	Positive bool

	// Needs are the conditions under which the option has a meaning. If several rows have the field, one of them has them.
	Needs []*Need
	// Free says that the option may differ between a run and the run that continues it: it does not change the bytes of the output, or it
	// names a file that is identified by content.
	Free bool
}

// Form says how the value of a flag is read, where the type of the field leaves a choice.
type Form int

// The forms.
const (
	Plain    Form = iota // a list has commas between its elements
	Columns              // a list with commas; all, or none
	Repeated             // a list has an element for each time that the flag is given
	Slice                // a list is CSV, and can be repeated
	Checked              // the flag refuses values that are not Choices
)

// Kind says which names complete the value of a flag. A shell takes them from the graph.json of the store that is the first argument.
type Kind string

// The kinds of values.
const (
	Folder            Kind = "folder"
	NodeTypes         Kind = "node types"
	EdgeTypes         Kind = "edge types"              // a list
	Types             Kind = "types"                   // of nodes or edges
	NodeColumns       Kind = "node columns"            // a list
	EdgeColumns       Kind = "edge columns"            // a list
	EdgeColumn        Kind = "edge column"             // a numeric one
	Fanouts           Kind = "fanouts"                 // RELATION=N,N;RELATION=N,N
	NodeAssignments   Kind = "TYPE=COLUMN of nodes"    // a list
	EdgeAssignments   Kind = "TYPE=COLUMN of edges"    // a list
	Assignments       Kind = "TYPE=COLUMN"             // of nodes and edges, a list
	Reverses          Kind = "reverse:RELATION"        // of one
	Orders            Kind = "weighted:COLUMN"         // and others
	Components        Kind = "components"              // of packs, a list
	ComponentsAmounts Kind = "components with amounts" // COMPONENT=N
)

// Titles of the groups of flags.
const (
	GroupSource  = "Source"
	GroupColumns = "Columns"
	GroupTop     = "The best targets of each source"
	GroupGraph   = "Nodes and edges"
	GroupDraw    = "What to draw"
	GroupSeeds   = "Seeds and times"
	GroupLinks   = "Links"
	GroupBatches = "Batches"
	GroupWalk    = "Walks"
	GroupDivide  = "How to divide"
	GroupBalance = "Balance"
	GroupParts   = "Parts"
	GroupPack    = "How to pack"
	GroupCheck   = "What to check"
	GroupOutput  = "Output"
	GroupRun     = "How to run"
	GroupServe   = "Serving"
	GroupSend    = "Sending"
	GroupCluster = "Cluster"
	GroupTFGNN   = "TF-GNN's flags"
	GroupDGL     = "DGL's names"
	GroupEvery   = "Every command"
)

// Groups are the groups in the order of a help page.
var Groups = []string{
	GroupSource, GroupColumns, GroupTop, GroupGraph, GroupDraw, GroupSeeds, GroupLinks, GroupBatches, GroupWalk, GroupDivide, GroupBalance, GroupParts,
	GroupPack, GroupCheck, GroupOutput, GroupRun, GroupServe, GroupSend, GroupCluster, GroupTFGNN, GroupDGL, GroupEvery,
}

// FlagName is the name of the flag.
func (o *Option) FlagName() string { return cmp.Or(o.Flag, split(o.Field, '-')) }

// KeywordName is the keyword.
func (o *Option) KeywordName() string { return cmp.Or(o.Keyword, split(o.Field, '_')) }

// tables are all rows, by the commands that take them. Of several options without what they need, the error names the first.
var tables = [][]Option{
	Threads, Memory, Overwrite, NoReport, Sampling, Epoch, Files, Work, Unigraph, OfColumns, Order, Batches, Plans, Answers, Watching, Feed, Events, Build, Import, RMAT, Like, Community, Partition, Parts, OutEdges,
	DryRun, ReturnMapping, Dispatch, Pack, Fill, Materialise, PackHistogram, ComparePacks, TunePacks, Walk, Verify, Export, Picture, Predictions, OverwriteTable, Chunk, UnigraphTables,
	ReadUnigraph, RandomRecords, Statistics, Column, Append, Snapshot, Profile,
}

// MayChange says whether a field may differ between a run and the run that continues it.
func MayChange(field string) bool {
	for _, table := range tables {
		for _, o := range table {
			if o.Field == field && o.Free {
				return true
			}
		}
	}
	return false
}
