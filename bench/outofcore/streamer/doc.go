//go:build unix

// Package streamer is the streaming sampler of the chunk format. It samples a whole epoch in advance, reads the chunks
// from front to back once per layer, and assembles batches from results in memory.
//
//	s, err := streamer.Open(ctx, vfs.OS, "g.chunks", "", streamer.Options{Seeds: train, Fanouts: []int{15, 10, 5}})
//	defer s.Close()
//	for {
//		if err := s.NewEpochStart(); err == io.EOF {
//			break
//		}
//		for each batch of the training nodes {
//			err := s.Sample(nodes, &batch)
//		}
//	}
//
// # An epoch
//
// The frontier of layer 0 is the training nodes. For each layer, the chunks that have a node of its frontier are read
// into two buffers, one chunk while the previous one is sampled. A node gets all its neighbours, and None in the
// remaining places, or as many draws as the fanout of the layer. The neighbours of a layer, sorted and without None and
// repeats, are the frontier of the next.
//
// Open begins the first epoch. SampleNextEpoch begins the epoch after the current one. Sample calls it when a fraction
// of the nodes of the epoch has been requested. NewEpochStart waits for it and swaps the two. Sample finds nodes by
// binary search in the frontiers. An edge type between two node types has one layer.
//
// # The draw law
//
// Draws are as with scope epoch: a node has one sample per epoch and layer, uniform without replacement, and layer l
// draws as op l + 1 of a plan. So batches have the neighbours that package sample finds for the plan with scope epoch
// and expand all in which op l + 1 starts from op l.
//
// # Memory
//
// Open allocates all memory, for the largest size that it can need; an epoch uses a part of it. With f nodes in the
// frontier of a layer, fanout k and N nodes in the graph:
//
//	chunks     2 chunks
//	results    twice, for two epochs, the sum over layers of 4 f (1 + k) + N / 32 bytes
//	sorting    N / 8 bytes
//	batches    4 f bytes per layer for each Batch
//
// f is at most N, and at most the k f of the previous layer. 67M nodes and 1.07e9 edges of R-MAT, with 270k training
// nodes and fanouts 15, 10, 5, have frontiers of 0.27M, 0.86M and 2.7M nodes: 125 MB per epoch of 84M sampled edges, in
// addition to the chunks.
package streamer
