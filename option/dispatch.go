package option

// DGLParts say how the parts of a graph are written for DGL.
type DGLParts struct {
	// GraphName is the name of the graph and of its configuration file; "" is the name of the input.
	GraphName string
	// NumHops is the number of hops that the halo of a part reaches, 1 to 8; 0 is 1, the in-edges of the part's own nodes.
	// See NoHops for zero hops.
	NumHops int
	// GraphFormats lists the sparse formats in which a part is stored: "coo", "csc", "csr", separated by commas; "" is
	// "coo,csc".
	GraphFormats string
	// SaveOrigNids and SaveOrigEids write the original ids of nodes and edges: part<p>/orig_nids.dgl, orig_eids.dgl.
	SaveOrigNids, SaveOrigEids bool
	// PartsAtOnce bounds the number of parts that are made at a time; 0 is as many as fit the memory, and with Resume at most
	// a quarter of the parts.
	PartsAtOnce int
	// Resume keeps the finished parts if the run is interrupted, and continues an earlier run that was interrupted.
	Resume bool

	// Send says where the parts go over SFTP. The zero value sends nothing.
	Send Send
}

// NoHops is the NumHops of parts whose configuration says halo_hops 0. They still hold the in-edges of their own nodes.
const NoHops = -1

// Dispatch say how a graph with an assignment is written as parts.
type Dispatch struct {
	Run
	DGLParts
	// OutEdges adds the edges that leave the part to the halo, as DGL's partition_graph does. NumHops must be at least 1.
	OutEdges bool
	// NumParts is the number of parts that the assignment must have; 0 accepts any.
	NumParts int
	// AllowOutside lets the metadata of a chunked graph name files outside its folder.
	AllowOutside bool

	// Parts divides the nodes into this number of parts, without an assignment, by PartsBy and the random seed Seed. The
	// parts equal the result of Partition with the same method and seed.
	Parts int
	// PartsBy is MethodHash or MethodRandom, which do not look at edges; "" is MethodHash.
	PartsBy Method
	Seed    uint64
}

// PartitionGraph say how a graph is divided and written as parts in one step.
type PartitionGraph struct {
	Partition
	DGLParts
	// InEdgesOnly keeps the edges that leave a part out of its halo.
	InEdgesOnly bool
	// ReturnMapping also writes the original ids of nodes and edges that partition_graph returns: one .npy file per type.
	ReturnMapping bool
}

// Send say to which machines parts are sent over SFTP. Without IPConfig they are not sent.
type Send struct {
	// IPConfig is a file with one machine per line, ADDRESS [PORT]; the port is DGL's. Part p goes to machine p mod n.
	IPConfig   string
	RemoteDir  string   // folder on each machine; "" is the local path of the parts
	SSHUser    string   // user on the machines; "" is the current user
	SSHPort    int      // SSH port of the machines; 0 is 22
	Identity   []string // files with private keys to log in with; nil is the keys of the SSH agent and those in ~/.ssh
	KnownHosts []string // files with the host keys of the machines; nil is ~/.ssh/known_hosts
}
