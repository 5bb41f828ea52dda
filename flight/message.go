package flight

import (
	"bytes"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// message is a FlightData whose body is sent without a copy and returns to a pool after it was written. body is nil where there is none.
type message struct {
	head []byte // all fields except the bytes of the body
	body *[]byte
	pool mem.BufferPool
}

// Fields of FlightData in Flight.proto.
const (
	fieldHeader   = 2
	fieldMetadata = 3
	fieldBody     = 1000
)

// newMessage serialises a payload; most bounds the bytes of its body.
func newMessage(p *ipc.Payload, metadata []byte, most int, pool mem.BufferPool) (message, error) {
	body := pool.Get(most)
	b := bytes.NewBuffer((*body)[:0])
	if err := p.SerializeBody(b); err != nil {
		return message{}, err
	}
	*body = b.Bytes()
	meta := p.Meta()
	defer meta.Release()
	head := slices.Grow([]byte(nil), meta.Len()+len(metadata)+32)
	for _, f := range []struct {
		number protowire.Number
		bytes  []byte
	}{{fieldHeader, meta.Bytes()}, {fieldMetadata, metadata}} {
		head = appendField(head, f.number, f.bytes)
	}
	head = protowire.AppendVarint(protowire.AppendTag(head, fieldBody, protowire.BytesType), uint64(len(*body)))
	return message{head, body, pool}, nil
}

// appendField appends a field of bytes.
func appendField(b []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
}

// codec is gRPC's own codec, which also handles messages.
type codec struct{ encoding.CodecV2 }

func codecOption() grpc.ServerOption {
	return grpc.ForceServerCodecV2(codec{encoding.GetCodecV2("proto")})
}

// Marshal passes on the memory of a message; gRPC returns it to the pool.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if m, ok := v.(*message); ok {
		if m.body == nil {
			return mem.BufferSlice{mem.SliceBuffer(m.head)}, nil
		}
		return mem.BufferSlice{mem.SliceBuffer(m.head), mem.NewBuffer(m.body, m.pool)}, nil
	}
	return c.CodecV2.Marshal(v)
}

// bodies is the memory for the messages of a stream: as many bodies as are in flight at a time.
type bodies struct {
	mu   sync.Mutex
	free []*[]byte
}

// Get returns n bytes.
func (b *bodies) Get(n int) *[]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if last := len(b.free) - 1; last >= 0 {
		p := b.free[last]
		b.free = b.free[:last]
		if cap(*p) >= n {
			*p = (*p)[:n]
			return p
		}
	}
	p := make([]byte, n, n+n/8)
	return &p
}

// Put returns bytes to the pool.
func (b *bodies) Put(p *[]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = append(b.free, p)
}
