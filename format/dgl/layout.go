package dgl

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Formats is the set of sparse matrix formats that a graph is stored in.
type Formats uint8

// COO lists the ends of each edge, CSR the edges by source, and CSC the edges by destination.
const (
	COO Formats = 1 << iota
	CSR
	CSC
)

var formatNames = []string{"coo", "csr", "csc"} // in the order of the bits

// ParseFormats parses a list such as "coo,csc".
func ParseFormats(s string) (Formats, error) {
	var f Formats
	for _, name := range strings.Split(s, ",") {
		i := slices.Index(formatNames, strings.ToLower(strings.TrimSpace(name)))
		if i < 0 {
			return 0, fmt.Errorf("found graph format %q, expected one or several of coo, csr and csc, separated by commas", name)
		}
		f |= 1 << i
	}
	return f, nil
}

// String returns a list such as "coo,csc".
func (f Formats) String() string {
	var names []string
	for i, name := range formatNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// Layout says where each part of a file is.
type Layout struct {
	size     int64
	literals []literal
	slots    map[string]Slot
}

// literal is a run of bytes outside the slots.
type literal struct {
	offset int64
	bytes  []byte
}

// Size is the size of the file in bytes.
func (l *Layout) Size() int64 { return l.size }

// Slot returns the place of the data of an array. It panics for a name that the layout does not have.
func (l *Layout) Slot(name string) Slot {
	s, ok := l.slots[name]
	if !ok {
		panic("dgl: no slot " + name)
	}
	return s
}

// WriteLiterals writes all bytes of the file that are outside the slots.
func (l *Layout) WriteLiterals(w io.WriterAt) error {
	for _, x := range l.literals {
		if _, err := w.WriteAt(x.bytes, x.offset); err != nil {
			return err
		}
	}
	return nil
}

// DictLayout is the layout of a tensor dict. Slots have the names of the tensors.
func DictLayout(tensors []Tensor) *Layout {
	l := &Layout{slots: map[string]Slot{}}
	l.u64(magicDict, uint64(len(tensors)), uint64(len(tensors)))
	for _, t := range tensors {
		l.text(t.Name)
		l.array(t.Name, t)
	}
	return l
}

// GraphSpec describes a homogeneous graph, in the form in which a part is stored. The types are node and edge data.
type GraphSpec struct {
	Nodes, Edges       int64
	Formats            Formats
	NodeData, EdgeData []Tensor
}

// The offset of the first graph in a file without labels. All bytes before it are constant.
const (
	reserved   = 4096
	firstGraph = reserved + 16
)

// versionFlag marks formats that are stored as bits; in older files they are one number.
const versionFlag = 1 << 32

// GraphLayout is the layout of a file of one graph without labels. The slots, of int64 except for the data:
//
//	coo/src coo/dst                      one entry per edge
//	csr/indptr csr/indices csr/eids      rows are sources
//	csc/indptr csc/indices csc/eids      rows are destinations
//	ndata/NAME edata/NAME                one row per node or edge
func GraphLayout(s GraphSpec) *Layout {
	l := &Layout{slots: map[string]Slot{}}
	l.u64(magicFile, 2, 2, 1)
	l.put(make([]byte, reserved-32))
	l.u64(firstGraph, 0)
	l.u64(magicHetero)
	l.meta()
	l.u64(1, magicUnitGraph, uint64(s.Formats)|versionFlag, uint64(COO|CSR|CSC)|versionFlag)
	n := uint64(s.Nodes)
	if s.Formats&COO != 0 {
		l.meta()
		l.u64(magicCOO, n, n)
		l.ids("coo/src", s.Edges)
		l.ids("coo/dst", s.Edges)
		l.ids("", 0)        // the id of an edge is its index
		l.put([]byte{0, 0}) // not marked as sorted
	}
	for _, f := range []struct {
		bit  Formats
		name string
	}{{CSR, "csr/"}, {CSC, "csc/"}} {
		if s.Formats&f.bit == 0 {
			continue
		}
		l.meta()
		l.u64(magicCSR, n, n)
		l.ids(f.name+"indptr", s.Nodes+1)
		l.ids(f.name+"indices", s.Edges)
		l.ids(f.name+"eids", s.Edges)
		l.put([]byte{0})
	}
	l.u64(1, n)
	l.data("ndata/", s.NodeData)
	l.data("edata/", s.EdgeData)
	l.u64(1)
	l.text("_N")
	l.u64(1)
	l.text("_E")
	l.u64(16, 1, firstGraph, 16)
	return l
}

// meta writes the graph of types: one node type, one edge type.
func (l *Layout) meta() {
	l.u64(magicMeta, magicCSR, 1, 1)
	for _, v := range [][]uint64{{0, 1}, {0}, {0}} {
		l.header(Tensor{DType: Int64, Shape: []int64{int64(len(v))}})
		l.u64(v...)
	}
	l.put([]byte{0})
}

func (l *Layout) data(prefix string, tensors []Tensor) {
	l.u64(1, uint64(len(tensors)))
	for _, t := range tensors {
		l.text(t.Name)
		l.array(prefix+t.Name, t)
	}
}

func (l *Layout) ids(slot string, n int64) {
	l.array(slot, Tensor{DType: Int64, Shape: []int64{n}})
}

// array writes the header of an array and leaves room for its data.
func (l *Layout) array(slot string, t Tensor) {
	l.header(t)
	l.slots[slot] = Slot{l.size, t.bytes()}
	l.size += t.bytes()
}

func (l *Layout) header(t Tensor) {
	l.u64(magicArray, 0)
	l.u32(1, 0, uint32(len(t.Shape))) // on the CPU
	l.put([]byte{t.DType.code(), t.DType.bits(), 1, 0})
	for _, d := range t.Shape {
		l.u64(uint64(d))
	}
	l.u64(uint64(t.bytes()))
}

func (l *Layout) text(s string) {
	l.u64(uint64(len(s)))
	l.put([]byte(s))
}

func (l *Layout) u64(values ...uint64) {
	for _, v := range values {
		l.put(binary.LittleEndian.AppendUint64(nil, v))
	}
}

func (l *Layout) u32(values ...uint32) {
	for _, v := range values {
		l.put(binary.LittleEndian.AppendUint32(nil, v))
	}
}

func (l *Layout) put(b []byte) {
	if n := len(l.literals); n > 0 && l.literals[n-1].offset+int64(len(l.literals[n-1].bytes)) == l.size {
		l.literals[n-1].bytes = append(l.literals[n-1].bytes, b...)
	} else {
		l.literals = append(l.literals, literal{l.size, b})
	}
	l.size += int64(len(b))
}
