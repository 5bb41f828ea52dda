// Package subset chooses the nodes of batches that are the subgraph of a set of nodes: the samplers of GraphSAINT and the parts
// of Cluster-GCN. Which nodes a batch has is defined by testdata/reference/subsets.py of package sample.
//
// Rules say how the sets are chosen, and New makes an Order of them on a graph. An Order is a batch.Order: batch b of an epoch
// takes its positions from b * Order.BatchSize on. The items at these positions are the nodes of the batch, in any order and some of
// them several times; who samples the batch takes each once.
package subset
