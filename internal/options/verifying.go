package options

// Verify are the options of verify.
var Verify = []Option{
	{Field: "Against", Group: GroupCheck, Kind: Folder, Help: "store from which the folder was made: compare the edges and features of parts, or the subgraphs, with it"},
	{Field: "Seeds", Group: GroupCheck, Help: "file of seeds with which TFRecords were sampled"},
	{Field: "SeedTime", Group: GroupCheck, Help: ".npy file of times with which TFRecords were sampled"},
	{Field: "NegativesFrom", Group: GroupCheck, Value: "FILE", Help: ".npy file of negatives with which TFRecords were sampled, or FILE.npy,OFFSETS.npy"},
	{Field: "GraphSchema", Group: GroupCheck, Help: "GraphSchema with which TFRecords were sampled"},
	{Field: "AllowOutside", Group: GroupCheck, Help: "let the configuration of parts name files outside its folder"},
}
