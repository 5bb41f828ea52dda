package dgl

import (
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrFormat is the kind of errors about the content of a file, for errors.Is.
var ErrFormat = errors.New("bad DGL file")

// bad is fmt.Errorf for errors of kind ErrFormat.
func bad(format string, a ...any) error { return tagged.Errorf(ErrFormat, format, a...) }

// DType is the type of one value: DLPack's code in the high byte, bits in the low one. DGL writes a bool as Uint8: it
// reads files with Bool, but its server cannot map bools. Versions of PyTorch that DGL runs on do not have Uint16,
// Uint32 and Uint64.
type DType uint16

// The value types that files can have.
const (
	Int8     DType = 0<<8 | 8
	Int16    DType = 0<<8 | 16
	Int32    DType = 0<<8 | 32
	Int64    DType = 0<<8 | 64
	Uint8    DType = 1<<8 | 8
	Uint16   DType = 1<<8 | 16
	Uint32   DType = 1<<8 | 32
	Uint64   DType = 1<<8 | 64
	Float16  DType = 2<<8 | 16
	Float32  DType = 2<<8 | 32
	Float64  DType = 2<<8 | 64
	BFloat16 DType = 4<<8 | 16
	Bool     DType = 6<<8 | 8
)

// Size is the number of bytes of a value.
func (d DType) Size() int64 { return int64(d&0xff) / 8 }

func (d DType) code() byte { return byte(d >> 8) }
func (d DType) bits() byte { return byte(d) }

// valid says whether d is one of the constants.
func (d DType) valid() bool {
	switch d {
	case Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Float16, Float32, Float64, BFloat16, Bool:
		return true
	}
	return false
}

// String is NumPy's name of the dtype, such as "float32".
func (d DType) String() string {
	if d == Bool {
		return "bool"
	}
	kind := map[byte]string{0: "int", 1: "uint", 2: "float", 4: "bfloat"}[d.code()]
	if kind == "" {
		return fmt.Sprintf("dtype(%d, %d bits)", d.code(), d.bits())
	}
	return fmt.Sprint(kind, d.bits())
}

// Tensor is a named array of a file.
type Tensor struct {
	Name  string
	DType DType
	Shape []int64
}

// bytes is the number of bytes of the tensor's data.
func (t Tensor) bytes() int64 {
	n := t.DType.Size()
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Slot is a run of bytes of a file.
type Slot struct{ Offset, Size int64 }

// Array is a tensor and the place of its data, which are little-endian and row-major.
type Array struct {
	Tensor
	Slot
}

// Rows is the first dimension, or 1 for a scalar.
func (a Array) Rows() int64 {
	if len(a.Shape) == 0 {
		return 1
	}
	return a.Shape[0]
}

// RowShape is the shape of a row.
func (a Array) RowShape() []int64 { return a.Shape[min(1, len(a.Shape)):] }

// RowBytes is the number of bytes of a row.
func (a Array) RowBytes() int64 {
	n := a.DType.Size()
	for _, d := range a.RowShape() {
		n *= d
	}
	return n
}

// The magic numbers of the files.
const (
	magicArray     = 0xDD5E40F096B4A13F
	magicDict      = 0xDD5A9FBE3FA2443F
	magicFile      = 0xDD2E4FF046B4A13F
	magicHetero    = 0xDD589FBE35224ABF
	magicMeta      = 0xDD3C5FFE20046ABF
	magicUnitGraph = 0xDD2E60F0F6B4A127
	magicCSR       = 0xDD6CD31205DFF127
	magicCOO       = 0xDD61FFD305DFF127
)
