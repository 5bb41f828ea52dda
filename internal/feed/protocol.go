package feed

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// Version is the protocol's. A client of another one is refused. It goes up with the draw law too, by which
// states of a client count.
const Version = 2

// Ready is the line that a server writes on its lifeline when it can be connected to.
type Ready struct {
	Version int    `json:"version"`
	Addr    string `json:"addr"`  // of an abstract Unix socket of packets, without the leading zero byte
	Token   string `json:"token"` // that a client has to show
	PID     int    `json:"pid"`
}

// Failure is the line instead, or the body of an ERROR.
type Failure struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}

// Codes of failures.
const (
	CodeStart    = "start"    // the server could not start
	CodeProtocol = "protocol" // the client did what the protocol does not have
	CodeBatch    = "batch"    // a batch could not be made
)

// hello is the first packet of a client.
type hello struct {
	Version int    `json:"version"`
	Token   string `json:"token"`
	Rank    int    `json:"rank"`
	World   int    `json:"world"`
	Tail    string `json:"tail"` // name of a batch.Tail; "" is batch.ByRanks
	// Worker of Workers takes the batches Worker, Worker + Workers, ... of those of its rank; 0 workers are one.
	Worker  int `json:"worker"`
	Workers int `json:"workers"`
	Slots   int `json:"slots"`
	// SlotBytes is the size of a slot, for tests: 0 takes one that holds every batch.
	SlotBytes int64 `json:"slot_bytes"`
}

// welcome is the answer, with the ring's memory as a file descriptor beside it.
type welcome struct {
	Version   int          `json:"version"`
	Slots     int          `json:"slots"`
	SlotBytes int64        `json:"slot_bytes"`
	Batches   int          `json:"batches"` // of an epoch, of this rank
	Total     int          `json:"total"`   // of an epoch, over all ranks, none of which is repeated
	Hops      int          `json:"hops"`
	Seeds     int          `json:"seeds"`
	SeedTypes []string     `json:"seed_types"`
	Columns   []ColumnInfo `json:"columns"`
	Ops       []OpInfo     `json:"ops"` // from op 1
}

// OpInfo says what an op expands, and in which hop.
type OpInfo struct {
	Edges string `json:"edges"`
	Hop   int    `json:"hop"`
}

// Types of messages. Those to the client are 40 bytes: u32 type, u32 slot, u64 gen, u64
// seq, u64 bytes, u64 run. Those to the server are 24: u32 type, u32 slot or 0, then two u64:
// gen and 0 of RELEASE, first batch of the rank and epoch of START, unit and epoch of SAMPLE, whose seeds follow as
// i64.
const (
	msgBatch  = 1 // to the client: a batch lies in a slot
	msgEnd    = 2 // the epoch is over
	msgError  = 3 // with the JSON of a Failure behind
	msgJumbo  = 4 // a batch lies in a memory of its own, whose descriptor comes along
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

// failure is an ERROR.
func failure(code string, err error, t ticket) []byte {
	body, _ := json.Marshal(Failure{err.Error(), code}) // strings alone
	return append(message(msgError, 0, t, uint64(len(body))), body...)
}

// request is a message of a client.
type request struct {
	kind, slot uint32
	a, b       uint64
	seeds      []int64
}

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
