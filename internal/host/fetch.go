package host

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/graphmill/graphmill/graph"
)

// Rows fetches the rows of columns that a batch has. It serves one goroutine at a time.
type Rows struct {
	client  *Client
	session *Session
	tables  []*Table
	posts   []rowPost // by host
}

// Table has the rows of the columns of a type that a batch has, each once.
type Table struct {
	kind, typ uint32
	idBytes   int
	owners    *owners
	wanted    keySet
	columns   []*fetchedColumn
	rowBytes  int
	fetched   int // rows that were asked for
}

// fetchedColumn is a column whose values are the rows of a table.
type fetchedColumn struct {
	stand  graph.Column
	buf    []byte
	values func([]byte)
}

// rowPost is a frame to a host, and the places of the rows that it asks for.
type rowPost struct {
	frame  []byte
	parts  []rowPart
	places []uint32
	bytes  int // of the answer
}

type rowPart struct {
	table *Table
	n     int
}

// NewRows returns the rows of batches.
func NewRows(c *Client) *Rows {
	return &Rows{client: c, session: c.NewSession(), posts: make([]rowPost, c.Hosts())}
}

// Until is Session.Until.
func (r *Rows) Until(ctx context.Context) { r.session.Until(ctx) }

// NodeTable adds the table of a node type, given by number. Its columns must be in the order of the Hello.
func (r *Rows) NodeTable(t int) *Table {
	return r.add(&Table{kind: ofNodes, typ: uint32(t), idBytes: 4, owners: &r.client.nodes[t]})
}

// EdgeTable is NodeTable of an edge type, whose ids have 64 bits where wide is set.
func (r *Rows) EdgeTable(t int, wide bool) *Table {
	x := &Table{kind: ofEdges, typ: uint32(t), idBytes: 4, owners: &r.client.edges[t]}
	if wide {
		x.idBytes = 8
	}
	return r.add(x)
}

func (r *Rows) add(t *Table) *Table {
	r.tables = append(r.tables, t)
	return t
}

// Column adds a column of the graph, for which IsServed is true, and returns one whose rows are the table's; of one that was added before, the same. Fetch
// sets its values, which are valid until the next Fetch, and calls the function of OnFetch with them.
func (t *Table) Column(c *graph.Column) *graph.Column {
	for _, has := range t.columns {
		if has.stand.Name == c.Name {
			return &has.stand
		}
	}
	x := &fetchedColumn{stand: *c, values: func([]byte) {}}
	x.stand.Rows, x.stand.Values = 0, make([]byte, 0, 1) // an address of its own
	t.columns, t.rowBytes = append(t.columns, x), t.rowBytes+c.RowBytes()
	return &x.stand
}

// OnFetch sets the function that gets the values of a column of the table at each Fetch.
func (t *Table) OnFetch(c *graph.Column, values func([]byte)) {
	for _, x := range t.columns {
		if &x.stand == c {
			x.values = values
		}
	}
}

// Begin removes the rows of the batch before.
func (r *Rows) Begin() {
	for _, t := range r.tables {
		t.wanted.reset()
		t.fetched = 0
	}
}

// Want adds rows that a batch has, and appends their places in the table to places.
func (t *Table) Want(places []uint32, ids graph.Index) []uint32 {
	for _, id := range ids.U32 {
		places = append(places, t.wanted.add(uint64(id)))
	}
	for _, id := range ids.U64 {
		places = append(places, t.wanted.add(id))
	}
	return places
}

// answerBytes is about the most bytes of rows that a frame asks for.
const answerBytes = 16 << 20

// Fetch asks the hosts for the rows that were wanted since Begin.
func (r *Rows) Fetch() error {
	for _, t := range r.tables {
		for _, c := range t.columns {
			n := len(t.wanted.keys) * c.stand.RowBytes()
			if cap(c.buf) < n {
				c.buf = make([]byte, n, n+n/8)
			}
			c.buf = c.buf[:n]
			c.stand.Rows, c.stand.Values = len(t.wanted.keys), c.buf
			c.values(c.buf)
		}
	}
	for more := true; more; {
		var err error
		if more, err = r.ask(); err != nil {
			return err
		}
	}
	return nil
}

// ask asks for the next rows, and says whether there are more.
func (r *Rows) ask() (more bool, err error) {
	for i := range r.posts {
		p := &r.posts[i]
		p.frame, p.parts, p.places, p.bytes = newFrame(p.frame, kindRows), p.parts[:0], p.places[:0], 0
	}
	for i := 0; i < len(r.tables) && !more; i++ {
		more = r.post(r.tables[i])
	}
	frames := make([][]byte, len(r.posts))
	for i := range r.posts {
		if p := &r.posts[i]; len(p.places) > 0 {
			frames[i] = endFrame(p.frame)
		}
	}
	got, err := r.session.Ask(kindRows, frames)
	if err != nil {
		return false, err
	}
	for i := range r.posts {
		if frames[i] == nil {
			continue
		}
		if err := r.posts[i].take(got[i]); err != nil {
			return false, fmt.Errorf("host %s: %w; use the same version of graphmill on all machines", r.client.addresses[i], err)
		}
	}
	return more, nil
}

// post adds the rows of a table that were not asked for to the frames. It says whether a frame is full.
func (r *Rows) post(t *Table) (full bool) {
	if len(t.columns) == 0 {
		return false
	}
	heads := make([]int, len(r.posts))
	for ; t.fetched < len(t.wanted.keys); t.fetched++ {
		id := t.wanted.keys[t.fetched]
		host := t.owners.of(id)
		p := &r.posts[host]
		if p.bytes += t.rowBytes; p.bytes > answerBytes && len(p.places) > 0 {
			return true
		}
		if heads[host] == 0 {
			heads[host] = len(p.frame)
			for _, x := range []uint32{t.kind, t.typ, 0, uint32(t.idBytes)} {
				p.frame = binary.LittleEndian.AppendUint32(p.frame, x)
			}
			p.parts = append(p.parts, rowPart{table: t})
		}
		if t.idBytes == 8 {
			p.frame = binary.LittleEndian.AppendUint64(p.frame, id)
		} else {
			p.frame = binary.LittleEndian.AppendUint32(p.frame, uint32(id))
		}
		p.places = append(p.places, uint32(t.fetched))
		part := &p.parts[len(p.parts)-1]
		part.n++
		binary.LittleEndian.PutUint32(p.frame[heads[host]+8:], uint32(part.n))
	}
	return false
}

// take takes the answer to a post.
func (p *rowPost) take(answer []byte) error {
	in, places := reader{b: answer}, p.places
	for _, part := range p.parts {
		for _, c := range part.table.columns {
			row := c.stand.RowBytes()
			rows := in.take(uint64(part.n) * uint64(row))
			if in.failed {
				return fmt.Errorf("found an answer of %d bytes, expected more: %w", len(answer), errProtocol)
			}
			for i, place := range places[:part.n] {
				copy(c.buf[int(place)*row:][:row], rows[i*row:])
			}
		}
		places = places[part.n:]
	}
	if len(in.b) > 0 {
		return fmt.Errorf("found %d bytes after an answer, expected none: %w", len(in.b), errProtocol)
	}
	return nil
}
