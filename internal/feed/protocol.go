package feed

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/graphmill/graphmill/internal/options"
)

// ProtocolVersion is the version of the protocol. A client of another version is refused. It also changes with the draw
// law, which the states of clients depend on.
const ProtocolVersion = 2

// readyLine is the line that a server writes on its lifeline when clients can connect.
type readyLine struct {
	Version int    `json:"version"`
	Addr    string `json:"addr"`  // of an abstract Unix socket of packets, without the leading zero byte; on systems without them, the path of a stream socket
	Token   string `json:"token"` // which a client must send
	PID     int    `json:"pid"`
	HTTP    string `json:"http,omitempty"` // of health and metrics
}

// Failure is the line of a server that could not start, or the body of an ERROR.
type Failure struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}

// Codes of failures.
const (
	CodeStart    = "start"    // the server could not start
	codeProtocol = "protocol" // the client violated the protocol
	codeBatch    = "batch"    // a batch could not be made
)

// hello is the first packet of a client.
type hello struct {
	Version int    `json:"version"`
	Token   string `json:"token"`
	Rank    int    `json:"rank"`
	World   int    `json:"world"`
	Tail    string `json:"tail"` // name of a batch.Tail; "" means batch.ByRanks
	// Worker of Workers takes the batches Worker, Worker + Workers, ... of its rank's batches. Workers 0 means one.
	Worker  int `json:"worker"`
	Workers int `json:"workers"`
	Slots   int `json:"slots"`
	// SlotBytes is the size of a slot, for tests. 0 takes a size that holds every batch.
	SlotBytes int64 `json:"slot_bytes"`
}

// welcome is the answer. The memory of the ring comes with it, as a file descriptor.
type welcome struct {
	Version   int      `json:"version"`
	Slots     int      `json:"slots"`
	SlotBytes int64    `json:"slot_bytes"`
	Batches   int      `json:"batches"` // per epoch, of this rank
	Total     int      `json:"total"`   // per epoch, over all ranks, without repeated batches
	Hops      int      `json:"hops"`
	Seeds     int      `json:"seeds"`
	SeedTypes []string `json:"seed_types"`
	// SeedEdges is the edge type of links; empty where it is not known.
	SeedEdges string `json:"seed_edges,omitempty"`
	// Negatives describes negative links, nil without any.
	Negatives *NegativesInfo `json:"negatives,omitempty"`
	Columns   []ColumnInfo   `json:"columns"`
	Ops       []OpInfo       `json:"ops"` // from op 1
	// Made and Plan are of a source of seeds alone: the columns of the batches that the client makes, and the plan by which it draws.
	Made []ColumnInfo    `json:"made,omitempty"`
	Plan json.RawMessage `json:"plan,omitempty"`
	// Events describes batches of events; nil for sampled ones.
	Events *EventsInfo `json:"events,omitempty"`
	// LeftOut names columns that were asked for, or that the links have, and that batches cannot have.
	LeftOut []string `json:"left_out,omitempty"`
	// Notes say which executor makes the batches, why, and what that takes.
	Notes []string `json:"notes,omitempty"`
}

// NegativesInfo says how negative links are made of a link (sample.Corruption), and how many, or the most where lists of them have several lengths: batches
// then have the column negative_end.
type NegativesInfo struct {
	How  string `json:"how"`
	Each int    `json:"each"`
	// KeepsSources says that every negative has the source of its link.
	KeepsSources bool `json:"keeps_sources,omitempty"`
}

// OpInfo is the edge type and the hop of an op.
type OpInfo struct {
	Edges string `json:"edges"`
	Hop   int    `json:"hop"`
}

// Types of messages. A message to the client has 40 bytes: u32 type, u32 slot, u64 gen, u64 seq, u64 bytes, u64 run. A
// message to the server has 24 bytes: u32 type, u32 slot or 0, then two u64. These are gen and 0 in RELEASE, the first
// batch of the rank and the epoch in START, and the unit and the epoch in SAMPLE, after which the seeds follow as i64.
const (
	msgBatch  = 1 // to the client: a batch is in a slot
	msgEnd    = 2 // the epoch is over
	msgError  = 3 // the JSON of a Failure follows
	msgJumbo  = 4 // a batch is in memory of its own; its descriptor comes with the message
	reqReturn = 2 // to the server: RELEASE
	reqStart  = 3
	reqSample = 4
)

const (
	messageBytes = 40
	requestBytes = 24
)

func message(kind, slot uint32, t ticket, bytes uint64) []byte {
	m := make([]byte, messageBytes)
	binary.LittleEndian.PutUint32(m, kind)
	binary.LittleEndian.PutUint32(m[4:], slot)
	for i, x := range []uint64{t.gen, t.seq, bytes, t.run} {
		binary.LittleEndian.PutUint64(m[8+8*i:], x)
	}
	return m
}

// failure is an ERROR, with the keywords of Python.
func failure(code string, err error, t ticket) []byte {
	body, _ := json.Marshal(Failure{options.Keywords(err.Error()), code}) // never fails for strings
	return append(message(msgError, 0, t, uint64(len(body))), body...)
}

// request is a message of a client.
type request struct {
	kind, slot uint32
	a, b       uint64
	seeds      []int64
}

// bytes is the size of the message.
func (r request) bytes() int { return requestBytes + 8*len(r.seeds) }

func parseRequest(p []byte) (request, error) {
	if len(p) < requestBytes {
		return request{}, fmt.Errorf("found a packet of %d bytes, expected at least %d", len(p), requestBytes)
	}
	r := request{
		kind: binary.LittleEndian.Uint32(p), slot: binary.LittleEndian.Uint32(p[4:]),
		a: binary.LittleEndian.Uint64(p[8:]), b: binary.LittleEndian.Uint64(p[16:]),
	}
	rest := p[requestBytes:]
	if r.kind != reqSample && len(rest) > 0 || len(rest)%8 != 0 {
		return r, fmt.Errorf("found a packet of %d bytes and type %d, expected another length", len(p), r.kind)
	}
	for ; len(rest) > 0; rest = rest[8:] {
		r.seeds = append(r.seeds, int64(binary.LittleEndian.Uint64(rest)))
	}
	return r, nil
}
