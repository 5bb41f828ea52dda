// Package shards writes TFRecords into an output folder, over a number of files
// NAME-00000-of-00008: contiguous ranges of the records whose lengths differ by at
// most one.
//
// Workers fill Chunks, which frame the records, and compress them where asked to;
// one goroutine writes the chunks, in the order of their records:
//
//	s, err := shards.New(w, shards.Options{Name: "samples.tfrecord", Shards: 8, Records: n})
//	defer s.Close()
//	c := s.NewChunk()           // a few a worker, used again
//	err = c.Append(record, 0)   // the number of the record
//	err = c.End()
//	err = s.Write(c)
//	err = s.Finish()
//
// So the bytes do not depend on the number of workers. Compressed bytes do depend
// on where chunks end: callers end them at places that follow from the records.
//
// Between two chunks a Writer stands at a Position, from which another one can Resume
// where the output goes on with a checkpoint: no gzip member spans two chunks.
//
// The package imports store, format/tfrecord and the gzip of klauspost/compress.
package shards
