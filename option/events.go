package option

// Events say which edges of a store come as events, in which batches, and with which neighbours. Columns of edges come with events and with
// neighbours.
type Events struct {
	Run
	Columns

	// Types are the edge types whose edges are events, as "src:rel:dst" or a relation that is unique; nil is all that have the column Time.
	Types []string
	// Time is the edge column with the times. "" is the only column of times or, where there is none, the column time, timestamp, ts or t.
	Time string
	// Events restricts the events of batches, as Draw.Messages does it for edges; neighbours are of all events. nil is all events.
	Events []string
	// BatchSize is the number of events per batch; 0 is 200. Every makes a batch of each window of time that has events: a number in the
	// unit of the times or, where these have a unit, such as "1d" or "12h".
	BatchSize int
	Every     string
	DropLast  bool // leave out a last batch of fewer events

	// Neighbors is the number of latest neighbours of each end of an event and of each negative.
	Neighbors int
	// History says which neighbours count: "event" (the default), those before the time of the event; "batch", those before the batch; "pyg",
	// those before the batch as PyG's LastNeighborLoader keeps them.
	History string
	// Negatives is the number of destinations to draw per event, between the least and the greatest of its edge type.
	Negatives int
	// NegativesFrom gives the destinations of each event that batches have, in place of draws: an .npy file of type-wise ids, [events,
	// negatives], or "FILE.npy,OFFSETS.npy", where event i has the ids from offset i to offset i + 1 of the file.
	NegativesFrom string

	Seed      uint64 // random seed of all draws
	Epoch     uint64 // number of the first epoch
	Epochs    int    // number of epochs; 0 is 1
	Rank      int    // take the batches of this rank, from 0 to Ranks-1
	Ranks     int    // number of ranks that share the batches of an epoch; 0 is 1
	NoEdgeIDs bool   // leave e_id out of batches
}
