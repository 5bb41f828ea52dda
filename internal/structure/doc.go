// Package structure computes numbers of each node from the stored graph alone, as columns for model input: degrees, PageRank,
// return probabilities of random walks, eigenvectors of the Laplacian, core numbers, clustering coefficients, sizes of components.
//
// A Spec describes a column. Width and Positions say what it has, Compute computes it. testdata/reference/structure.py defines each kind
// by its formula, on dense matrices.
//
// # The graph that is seen
//
// The edge types of a Spec join node types. Degrees belong to the ends of edges, so they need no more. Every other kind sees one square
// graph: the node type that was asked for, and all node types that the edge types touch, one after the other in the order of the graph. The
// rows of the asked type come out. Without Edges a degree has the edge types that touch the node type, and every other kind has all.
//
// Options.Keep leaves edges out, so that no number knows a held-out edge. The nodes stay.
//
// # Rules
//
// Parallel edges and loops (edges of a node to itself):
//
//   - degree, log-degree: each edge counts at each of its ends, so parallel edges count as often as they are there, and a loop counts once in,
//     once out, and twice in both.
//   - pagerank: parallel edges are weights; a loop is an edge. With Direction both, each edge goes both ways, a loop twice.
//   - random-walk-pe: as in pagerank. A walk that is at a node without edges ends there, so all its returns are 0. With Direction both, a
//     graph that lists each edge in both directions gives what it gives with out.
//   - laplacian-pe, core-number, clustering: the simple undirected graph. Parallel and reciprocal edges count once, loops not at all.
//   - component-size: the nodes of the weakly connected component, the node itself among them.
//
// networkx has the same rules where it has any: degree and pagerank of a MultiDiGraph, core_number and clustering of a simple Graph. PyG counts
// parallel edges once in the walks of graphs of 2,000 nodes or fewer, and as here in larger ones.
//
// PageRank: rank = (1-damping)/n + damping * (what in-edges bring + the rank of nodes without out-edges / n). It starts from 1/n, and ends after
// the round that changes ranks by less than 1e-10 in all.
//
// Return probabilities are exact while the nodes of the asked type times the edges are at most 10^12, always for 3 steps or fewer, and where Method
// says so; otherwise steps 1 to 3 are exact, and the rest is estimated from draws of the random seed (Result.Method, Result.Errors). Exact
// ones have the precision of float32, 1e-7 relative. exact.go and estimate.go say how.
//
// Laplacian: the symmetric normalised one of the whole square graph, I - D^-1/2 A D^-1/2. Eigenvalue 0 has one vector for each component; these
// are left out in closed form. Then come the Dims smallest eigenvalues of the rest, of whichever components have them. In each vector the
// entry of the largest magnitude is positive; within 1e-9 of it, the first such entry decides. Eigenvalues whose relative distance is under 1e-6 count as
// equal. Their space has a basis by rule: the unit vector of the node whose projection on the space is the longest (within 1e-9, the first
// such node) is projected and normalised, and the rest of the space continues in the same way. Vectors that do not exist are 0, as are the vectors of
// a space that does not end within the first 16 * ceil((Dims+8) / 16) vectors, which are undefined. A note says so.
//
// # Determinism and memory
//
// Results are the same at any number of threads and any memory: sums run in the order of rows and of fixed blocks of nodes, or are
// integers. They depend on the direction that edges are stored in only by rounding.
//
// A kind that needs the square graph lists its edges by row, in memory where Options.Memory allows, and otherwise in a temporary file that is
// swept. Vectors of the nodes are in memory. Where they do not fit, Compute returns an error of kind limits.ErrMemory, which says how much
// is enough, before it allocates them.
package structure
