package option

// Verify say with what Verify compares a folder, in addition to its manifest.
type Verify struct {
	Run
	// Against is the store from which the parts of a graph, a collection or TFRecords were made. "" compares nothing. Edges and
	// features of parts are compared with it, which requires parts with original ids (DGLParts.SaveOrigNids, SaveOrigEids).
	// The ends of each edge of a sampled collection are compared with the ends of the store's edge with its id. TFRecords have no ids:
	// they are drawn anew by the memory executor, into the folder for temporary files (TMPDIR), and each record is compared.
	Against string
	// Seeds, SeedTime, NegativesFrom and GraphSchema are the files with which TFRecords were sampled (Sample), if there were any.
	Seeds, SeedTime, NegativesFrom, GraphSchema string
	// AllowOutside lets the configuration of parts name files outside its folder.
	AllowOutside bool
}
