package option

// RandomRecords say which random GraphTensors RandomRecords makes.
type RandomRecords struct {
	Run
	Seed   uint64 // random seed of all values
	Count  uint64 // required: number of GraphTensors
	Shards int    // number of files; 0 is 1
	Gzip   bool   // compress the files
}

// Statistics say how Statistics reads and summarises TFRecords.
type Statistics struct {
	Run
	Quantiles int  // number of quantiles per feature, an even number from 2 to 10000; 0 is 10
	Lenient   bool // read broken Examples as far as possible, and count them; otherwise they are an error
}
