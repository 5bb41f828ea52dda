package cluster

import (
	"encoding/binary"
	"errors"

	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
)

// Records begin with a byte that says what they hold. Numbers are varints. An empty record only calls its key into being.
//
//	nodeKeys   row of the first key; then per key its length, its bytes and its row, less the row of the key before
//	edgeKeys   task; then per key its length, its bytes and its place in the list of the task
//	answers    node type; then per key its place in the list of the task, and a node
//	firstKeys  node type; then per key its place, its length and its bytes: keys that no earlier task names
//	hashes     per key its hash (8 bytes), and a node
//
// A node is 0 for none, its type-wise id + 2, or 1, a task and a place in its list: the node that this task names first.
const (
	nodeKeys  = 'n'
	edgeKeys  = 'e'
	answers   = 'a'
	firstKeys = 'f'
	hashes    = 'h'
)

// flushBytes is the size from which a record is emitted.
const flushBytes = 32 << 10

// heldBytes bounds the records that wait, over all keys.
const heldBytes = 16 << 20

var errRecord = errors.New("found a damaged record, expected one that another worker made; use the same version on all machines")

// outbox collects records for a stage, by key and kind.
type outbox struct {
	emit  stages.Emit
	to    int // stage
	open  map[int64][]byte
	bytes int
}

func newOutbox(emit stages.Emit, to int) *outbox {
	return &outbox{emit: emit, to: to, open: map[int64][]byte{}}
}

// of is the record of a key that is being filled, or begins one with the bytes of head.
func (o *outbox) of(key int64, head []byte) []byte {
	if b := o.open[key]; b != nil {
		return b
	}
	return append(make([]byte, 0, 256), head...)
}

// put stores the record of a key after it was filled.
func (o *outbox) put(key int64, b []byte) {
	o.bytes += len(b) - len(o.open[key])
	if o.bytes > heldBytes {
		o.open[key] = b
		o.flush()
		return
	}
	if len(b) >= flushBytes {
		delete(o.open, key)
		o.bytes -= len(b)
		o.emit(o.to, key, b)
		return
	}
	o.open[key] = b
}

func (o *outbox) flush() {
	for key, b := range o.open {
		o.emit(o.to, key, b)
	}
	clear(o.open)
	o.bytes = 0
}

// cursor reads a record.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) more() bool { return len(c.b) > 0 && !c.bad }

func (c *cursor) number() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.bad = true
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.bad = true
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) err() error {
	if c.bad {
		return errRecord
	}
	return nil
}

// node is a node in a record.
type node struct {
	known bool // id is the type-wise id
	id    uint64
	first bool // the node that task names first, at place
	task  uint64
	place uint64
}

func (n node) append(b []byte) []byte {
	switch {
	case n.known:
		return binary.AppendUvarint(b, n.id+2)
	case n.first:
		b = append(b, 1)
		b = binary.AppendUvarint(b, n.task)
		return binary.AppendUvarint(b, n.place)
	}
	return append(b, 0)
}

func (c *cursor) node() (n node) {
	switch v := c.number(); v {
	case 0:
	case 1:
		n.first, n.task, n.place = true, c.number(), c.number()
	default:
		n.known, n.id = true, v-2
	}
	return n
}

// dict numbers the distinct keys of a task, in the order of their first appearance.
type dict struct {
	slots  []uint32 // number + 1
	hashes []uint64
	ends   []uint64 // of the bytes of each key
	bytes  []byte
}

func (d *dict) key(i uint32) []byte {
	from := uint64(0)
	if i > 0 {
		from = d.ends[i-1]
	}
	return d.bytes[from:d.ends[i]]
}

// add is the number of a key, and says whether it is new.
func (d *dict) add(key []byte, hash uint64) (n uint32, isNew bool) {
	if 2*len(d.hashes) >= len(d.slots) {
		d.grow()
	}
	mask := uint64(len(d.slots) - 1)
	at := hash & mask
	for ; d.slots[at] != 0; at = (at + 1) & mask {
		n := d.slots[at] - 1
		if d.hashes[n] == hash && string(d.key(n)) == string(key) {
			return n, false
		}
	}
	n = uint32(len(d.hashes))
	d.slots[at] = n + 1
	d.hashes = append(d.hashes, hash)
	d.bytes = append(d.bytes, key...)
	d.ends = append(d.ends, uint64(len(d.bytes)))
	return n, true
}

// find is the number of a key.
func (d *dict) find(key []byte, hash uint64) (n uint32, ok bool) {
	if len(d.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(d.slots) - 1)
	for at := hash & mask; d.slots[at] != 0; at = (at + 1) & mask {
		n := d.slots[at] - 1
		if d.hashes[n] == hash && string(d.key(n)) == string(key) {
			return n, true
		}
	}
	return 0, false
}

func (d *dict) grow() {
	d.slots = make([]uint32, max(4*len(d.hashes), 1<<10))
	mask := uint64(len(d.slots) - 1)
	for i, h := range d.hashes {
		at := h & mask
		for d.slots[at] != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = uint32(i) + 1
	}
}

// hash is the hash of the index of ids, which chooses the bucket of a key by its first bits.
func hash(key []byte) uint64 { return store.HashID(key) }
