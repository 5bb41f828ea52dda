package store

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/graph"
)

// The index that finds an original id: nodes are listed by bucket, and ascend within a bucket. id_buckets (2^bits + 1
// offsets) bounds the buckets in id_slots (one type-wise id per node). The bucket of an id is the top bits of its hash.

// BucketBits is the number of bits of the index of n ids.
func BucketBits(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// HashID is the hash of an original id: of the bytes of a string, or of the eight little-endian bytes of an integer.
func HashID(id []byte) uint64 { return xxh3.Hash(id) }

// Bucket is the bucket of a hash.
func Bucket(hash uint64, bits int) uint64 {
	return hash >> (64 - bits) // a shift by 64 gives 0
}

// IDs finds the nodes of one type by their original ids.
type IDs struct {
	nodes *graph.Nodes
	parts []idsPart
}

// idsPart is the index of the nodes that the base or a segment has, from node first on.
type idsPart struct {
	first, count int
	bits         int
	buckets      graph.Index
	slots        graph.Index
}

// IDs opens the index of node type number t. The ids of a type without original ids are its type-wise ids in decimal.
func (s *Store) IDs(t int) (*IDs, error) {
	x := &IDs{nodes: s.Graph.Nodes[t]}
	if x.nodes.IDs == nil {
		return x, nil
	}
	metas := []*NodesMeta{s.Meta.Nodes[x.nodes.Type]}
	if s.merged != nil {
		metas = []*NodesMeta{s.merged.base.Nodes[x.nodes.Type]}
		for i := range s.Meta.Segments {
			metas = append(metas, s.Meta.Segments[i].Nodes[x.nodes.Type])
		}
	}
	at := 0
	for _, m := range metas {
		if m == nil || m.Open() {
			continue
		}
		if err := s.openIDs(x, m, at); err != nil {
			return nil, fmt.Errorf("node type %s: %w", x.nodes.Type, err)
		}
		at += m.Count
	}
	return x, nil
}

// openIDs adds the index of the nodes of the base or of a segment.
func (s *Store) openIDs(x *IDs, m *NodesMeta, first int) (err error) {
	p := idsPart{first: first, count: m.Count, bits: BucketBits(m.Count)}
	if p.buckets, err = s.need(m.Arrays, "id_buckets", 1<<p.bits+1); err != nil {
		return err
	}
	if p.slots, err = s.need(m.Arrays, "id_slots", m.Count); err != nil {
		return err
	}
	x.parts = append(x.parts, p)
	return nil
}

// Find is the type-wise id of an original id. It costs about two random reads.
func (x *IDs) Find(id []byte) (node uint64, ok bool) {
	if x.Integers() {
		v, err := strconv.ParseUint(string(id), 10, 64)
		if err != nil {
			return 0, false
		}
		return x.FindInteger(v)
	}
	return x.find(id)
}

// Integers says whether the ids are integers.
func (x *IDs) Integers() bool { return x.nodes.IDs == nil || x.nodes.IDs.DType != graph.String }

// FindInteger is Find for an id of IDs that are integers.
func (x *IDs) FindInteger(id uint64) (node uint64, ok bool) {
	if x.nodes.IDs == nil {
		return id, id < uint64(x.nodes.Count)
	}
	var text [8]byte
	binary.LittleEndian.PutUint64(text[:], id)
	return x.find(text[:])
}

// find is Find for the bytes that are hashed.
func (x *IDs) find(id []byte) (node uint64, ok bool) {
	hash := HashID(id)
	for i := range x.parts {
		p := &x.parts[i]
		b := int(Bucket(hash, p.bits))
		// A damaged index can hold any numbers, so bounds are checked.
		w := wanted{lo: p.buckets.At(b), hi: min(p.buckets.At(b+1), uint64(p.slots.Len()))}
		if v, ok := x.findIn(p, w, id); ok {
			return v, true
		}
	}
	return 0, false
}

// Text is the original id of a node, as Find takes it.
func (x *IDs) Text(node uint64) string {
	switch ids := x.nodes.IDs; {
	case ids == nil:
		return strconv.FormatUint(node, 10)
	case x.Integers():
		return strconv.FormatUint(binary.LittleEndian.Uint64(ids.Row(int(node))), 10)
	default:
		return string(ids.Text(int(node)))
	}
}

func (x *IDs) text(v int) []byte {
	if x.nodes.IDs.DType == graph.String {
		return x.nodes.IDs.Text(v)
	}
	return x.nodes.IDs.Row(v)
}
