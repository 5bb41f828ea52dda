// Package chains proves that commands agree with each other. It draws random typed graphs (unusual names, empty types, isolated
// nodes, parallel edges, self-loops, ids of strings, columns of every dtype and shape, missing values, NaNs of all kinds), and takes
// them through random chains of commands. After each step the laws below must hold. Steps run in process, through the library; one
// chain in fifty runs each step as a process of its own.
//
// A model of the graph in memory says what each step must give. Where a format loses something, the model loses it too, and a
// warning of the step must name it. So two steps commute but for the losses that both name.
//
// # Laws of every step
//
//	other --threads and --memory            the same bytes, with how the output was made
//	a rerun with --force                    the same bytes
//	a rerun without --force                 is refused, and changes nothing
//	verify (parts: --against the store)     finds no damage
//	what a format cannot hold               is refused with an error, or lost with a warning that names it
//	beside the outputs                      nothing is left
//	the commands of a chain, as a script    the bytes of the library
//
// # Laws of pairs of steps
//
//	tables as csv, tsv, jsonl | import      the same bytes of the store
//	csv, csv.gz, tsv, jsonl, npy, npz, SNAP, Matrix Market, KONECT, OGB, graph.yaml of one list of edges | import
//	                                        the same bytes of the store, also with changes of the whole graph
//	export --to metis | import              each pair of neighbours once in each direction
//	tables | import                         the counts, ids, ends by edge id, and columns of the tables
//	export --to chunked | import            equal, but for: the context, ids, strings, lists, columns without rows, units and
//	                                        texts; bool, int16, uint16, uint32, uint64 and bfloat16 widened; uint64 above
//	                                        2^63 - 1 refused. The same bytes where nothing is lost
//	tfgnn from-store | import               equal, but for: units and texts; positions in the input; a number of a node becomes
//	                                        its id as text; _N becomes node; relations of several types get longer names.
//	                                        csv: one NaN, text must be UTF-8. tfrecord: a float64 that is no float32 is refused.
//	                                        parquet: one NaN of bfloat16
//	tfgnn from-store | convert | ... | import   the same as without convert, with the losses of all formats on the way
//	chunk | import                          equal nodes, edges and edge ids; columns, ids and the context are lost
//	partition | dispatch | import           equal, by the original ids that the parts hold; lost are the context, ids, strings,
//	                                        lists, columns without rows or with / in their name, units and texts; uint16, uint32,
//	                                        uint64 widened. The same bytes where nothing is lost
//	partition | dispatch, dispatch --parts  the same parts by hash and random
//	export --to chunked | partition         the same assignment as of the store
//	export --to chunked | dispatch          the same parts as of the store, if its edges are numbered by destination and nothing
//	                                        is widened
//	partition | partition --method import   the same assignment
//	partition-graph --return-mapping | import   the edges of the store, relabelled as the mapping says
//	sample, sample by the executor stream   the same bytes
//	sample --rank 0/n ... n-1/n             every graph of the run of one rank is in one of them
//	sample --epochs 2                       epoch 0, then epoch 1
//	sample --scope seed of some seeds       the subgraphs that these seeds have among all seeds
//	sample, Batches in process              the same nodes and edges
//	a trip that keeps the edges | sample    the same subgraphs
//	sample --format tfrecord, sample | export --store    the same records and schema
//	sample | export | import                the same graphs
//	import of TFRecords | export            the same records
//	pack of a collection, of its histogram  the same layout
//	pack fill --epochs 2                    two fills, one after the other; each graph once per epoch
//	pack materialise | unpack               component i is graph graph_id[i], with all columns
//	pack materialise --format tfrecord, --format collection | export    the same records and schema
//
// A chain that breaks a law is made as small as possible, and written as a shell script of graphmill commands, with its input files,
// to a folder that the failure names.
package chains
