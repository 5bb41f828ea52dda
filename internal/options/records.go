package options

// RandomRecords are the options of tfgnn random.
var RandomRecords = []Option{
	{Field: "Count", Group: GroupOutput, Help: "number of GraphTensors"},
	{Field: "Seed", Group: GroupOutput, Help: "random seed"},
	{Field: "Shards", Group: GroupOutput, Help: "number of files"},
	{Field: "Gzip", Group: GroupOutput, Help: "compress the files"},
}

// Statistics are the options of tfgnn stats.
var Statistics = []Option{
	{Field: "Quantiles", Group: GroupOutput, Positive: true, Help: "number of quantiles per feature, an even number from 2 to 10000"},
	{Field: "Lenient", Group: GroupSource, Help: "read broken Examples as far as possible, and count them (default: stop with an error)"},
}
