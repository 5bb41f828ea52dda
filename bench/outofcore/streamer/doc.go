// Package streamer is the streaming sampler of the chunk format: it samples a whole
// epoch ahead of its use, reading the chunks from front to back once a layer, and
// assembles batches out of what it keeps in memory.
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
// Layer 0's frontier is the training nodes. For each layer, the chunks that have a node
// of its frontier are read, one while the one before is sampled, into two buffers. A
// node gets all its neighbours, and None in the places that are left, or as many draws
// as the layer's fanout. The neighbours of a layer, sorted, without None and each once,
// are the frontier of the next.
//
// Open starts on the first epoch. SampleNextEpoch starts on the one after the current;
// Sample calls it when a fraction of the epoch's nodes were asked for. NewEpochStart
// waits for it and swaps the two. Sample finds nodes by binary search in the frontiers.
// An edge type between two node types has one layer.
//
// # The law
//
// Draws are those of scope epoch: a node has one sample an epoch and layer, uniform
// without replacement, and layer l draws as op l + 1 of a plan. So batches have the
// neighbours that package sample finds with the plan whose op l + 1 starts from op l,
// scope epoch and expand all.
//
// # Memory
//
// All is allocated by Open, at the largest size that it can need, and used as far as an
// epoch needs it. With f nodes in a layer's frontier, fanout k, N nodes in the graph:
//
//	chunks     2 chunks
//	results    twice, for two epochs, the sum over layers of 4 f (1 + k) + N / 32 bytes
//	sorting    N / 8 bytes
//	batches    4 f bytes a layer for each Batch
//
// Where f is at most N and at most the k f of the layer before. 67M nodes, 1.07e9 edges
// of R-MAT, 270k training nodes and fanouts 15, 10, 5 have frontiers of 0.27M, 0.86M and
// 2.7M nodes: 125 MB an epoch of 84M sampled edges, beside the chunks.
//
// The package imports sample, draw, graph, format/chunk, internal/*, x/sync and x/sys.
package streamer
