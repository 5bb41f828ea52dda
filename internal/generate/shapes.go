package generate

import "github.com/graphmill/graphmill/graph"

// shapes are the data sets whose sizes are known here. The counts of nodes and edges of ogbn-* are those of https://ogb.stanford.edu/docs/nodeprop, where undirected graphs list each pair
// once; classes are those of ogb/nodeproppred/master.csv in https://github.com/snap-stanford/ogb.
var shapes = []Shape{
	// The split by sales rank has the sizes that programs which convert the data write beside it, as NUM_TRAIN_SET and so on. The splits of ogbn-arxiv and ogbn-papers100M are from there too.
	homogeneous("ogbn-products", NodeShape{Count: 2_449_029, Features: 100, Classes: 47, Train: 196_615, Valid: 39_323, Test: 2_213_091}, EdgeShape{Rows: 61_859_140, Undirected: true}),
	// The split is by year: until 2017, 2018, from 2019 on.
	homogeneous("ogbn-arxiv", NodeShape{Count: 169_343, Features: 128, Classes: 40, Train: 90_941, Valid: 29_799, Test: 48_603}, EdgeShape{Rows: 1_166_243}),
	// The split has the papers of arXiv, by year. All other papers have no label.
	homogeneous("ogbn-papers100M", NodeShape{Count: 111_059_956, Features: 128, Classes: 172, Train: 1_207_179, Valid: 125_265, Test: 214_338}, EdgeShape{Rows: 1_615_685_872}),
	// Nodes by type: torch_geometric.datasets.OGB_MAG. Edges by type: the ranges of edge ids of its parts for DGL, whose sum is the page's 21,111,007. Split: the years of the example of
	// https://github.com/tensorflow/gnn. Papers alone have features.
	{
		Name: "ogbn-mag",
		Nodes: []NodeShape{
			{Type: "author", Count: 1_134_649}, {Type: "field_of_study", Count: 59_965}, {Type: "institution", Count: 8_740},
			{Type: "paper", Count: 736_389, Features: 128, Classes: 349, Train: 629_571, Valid: 64_879, Test: 41_939},
		},
		Edges: []EdgeShape{
			{Type: graph.EdgeType{Src: "author", Rel: "affiliated_with", Dst: "institution"}, Rows: 1_043_998},
			{Type: graph.EdgeType{Src: "author", Rel: "writes", Dst: "paper"}, Rows: 7_145_660},
			{Type: graph.EdgeType{Src: "paper", Rel: "cites", Dst: "paper"}, Rows: 5_416_271},
			{Type: graph.EdgeType{Src: "paper", Rel: "has_topic", Dst: "field_of_study"}, Rows: 7_505_078},
		},
	},
	// https://github.com/IllinoisGraphBenchmark/IGB-Datasets: counts and largest degrees in doc/figures/igbmetrics.png, widths and splits of 60, 20 and 20 % in igb/dataloader.py. The labels
	// have 19 classes, its default. examples/graphbolt/download.py in https://github.com/dmlc/dgl has the same counts.
	igb("igb-small", 1_000_000, 12_070_502, 4_292),
	igb("igb-medium", 10_000_000, 120_077_694, 22_315),
	igb("igb-large", 100_000_000, 1_223_571_364, 73_248),
	// Counts of nodes and edges by type: examples/graphbolt/rgcn/download.py in https://github.com/dmlc/dgl, which reads igb's files. Every type has features of 1024 values.
	igbh("igbh-small", [4]uint64{1_000_000, 1_926_066, 190_449, 14_751}, [4]uint64{12_070_502, 4_553_516, 7_234_122, 1_630_476}, 4_292),
	igbh("igbh-medium", [4]uint64{10_000_000, 15_544_654, 415_054, 23_256}, [4]uint64{120_077_694, 39_854_592, 68_510_495, 11_049_412}, 22_315),
	igbh("igbh-large", [4]uint64{100_000_000, 116_959_896, 649_707, 26_524}, [4]uint64{1_223_571_364, 289_502_107, 457_577_294, 34_099_660}, 73_248),
	igbhFull(),
	// https://www.dgl.ai/dgl_docs/generated/dgl.data.RedditDataset.html: 114,615,892 edges, both directions of each pair.
	homogeneous("reddit", NodeShape{Count: 232_965, Features: 602, Classes: 41, Train: 153_431, Valid: 23_831, Test: 55_703}, EdgeShape{Rows: 57_307_946, Undirected: true}),
}

// homogeneous is a shape of one type.
func homogeneous(name string, n NodeShape, e EdgeShape) Shape {
	n.Type, e.Type = graph.HomogeneousNode, graph.HomogeneousEdge
	return Shape{Name: name, Nodes: []NodeShape{n}, Edges: []EdgeShape{e}}
}

// igbPapers are the papers of a data set of IGB.
func igbPapers(typ string, count uint64) NodeShape {
	train, valid := count*3/5, count/5
	return NodeShape{Type: typ, Count: count, Features: 1024, Classes: 19, Train: train, Valid: valid, Test: count - train - valid}
}

// igb is a data set of papers that cite each other.
func igb(name string, papers, edges, largest uint64) Shape {
	return homogeneous(name, igbPapers(graph.HomogeneousNode, papers), EdgeShape{Rows: edges, Largest: largest})
}

// igbh is a data set of papers, authors, fields of study and institutes; edges has the numbers of cites, written_by, topic and affiliated_to.
func igbh(name string, nodes, edges [4]uint64, largest uint64) Shape {
	return Shape{
		Name: name,
		Nodes: []NodeShape{
			{Type: "author", Count: nodes[1], Features: 1024}, {Type: "fos", Count: nodes[2], Features: 1024}, {Type: "institute", Count: nodes[3], Features: 1024},
			igbPapers("paper", nodes[0]),
		},
		Edges: []EdgeShape{
			{Type: graph.EdgeType{Src: "author", Rel: "affiliated_to", Dst: "institute"}, Rows: edges[3]},
			{Type: graph.EdgeType{Src: "paper", Rel: "cites", Dst: "paper"}, Rows: edges[0], Largest: largest},
			{Type: graph.EdgeType{Src: "paper", Rel: "topic", Dst: "fos"}, Rows: edges[2]},
			{Type: graph.EdgeType{Src: "paper", Rel: "written_by", Dst: "author"}, Rows: edges[1]},
		},
	}
}

// igbhFull is IGBH-Full with the 2,983 classes and the split of MLPerf's R-GAT: 60 % of the 157,675,969 papers with such a label (n_labeled_idx in igb/dataloader.py), and half a percent for
// the evaluation, which are train_samples and eval_samples of its logs. The test part has as many as are left of the 40 %.
func igbhFull() Shape {
	s := igbh("igbh-full", [4]uint64{269_346_174, 277_220_883, 712_960, 26_918}, [4]uint64{3_996_442_004, 716_761_549, 1_050_280_600, 48_521_486}, 277_194)
	papers := s.Node("paper")
	papers.Classes, papers.Train, papers.Valid = 2983, 94_605_581, 788_379
	papers.Test = 157_675_969 - papers.Train - papers.Valid
	return s
}
