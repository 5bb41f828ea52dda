// Package shards writes TFRecords into an output folder, in files NAME-00000-of-00008. Each file has a contiguous range
// of the records, and the lengths of the ranges differ by at most one.
//
// Workers fill Chunks, which frame the records, and compress them on request. One goroutine writes the chunks, in the
// order of their records:
//
//	s, err := shards.New(w, shards.Options{Name: "samples.tfrecord", Shards: 8, Records: n})
//	defer s.Close()
//	c := s.NewChunk()           // a few per worker, which are reused
//	err = c.Append(record, 0)   // the number of the record
//	err = c.End()
//	err = s.Write(c)
//	err = s.Finish()
//
// So the bytes do not depend on the number of workers. Compressed bytes do depend on the ends of chunks: callers must
// end them at places that follow from the records.
//
// Between two chunks a Writer is at a Position. Another Writer can Resume from it where the output resumes from a
// checkpoint, because no gzip member extends over two chunks.
package shards
