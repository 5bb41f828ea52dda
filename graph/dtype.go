package graph

import "fmt"

// DType is the type of one value of a column.
type DType uint8

// The value types. Names in files are NumPy's. BFloat16, which NumPy does not have, is stored as uint16 and
// named in graph.json.
const (
	Invalid DType = iota
	Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float16
	BFloat16
	Float32
	Float64
	String
)

var dtypes = [...]struct {
	name string
	size int
}{
	Invalid: {"invalid", 0},
	Bool:    {"bool", 1},
	Int8:    {"int8", 1}, Int16: {"int16", 2}, Int32: {"int32", 4}, Int64: {"int64", 8},
	Uint8: {"uint8", 1}, Uint16: {"uint16", 2}, Uint32: {"uint32", 4}, Uint64: {"uint64", 8},
	Float16: {"float16", 2}, BFloat16: {"bfloat16", 2}, Float32: {"float32", 4}, Float64: {"float64", 8},
	String: {"string", 0},
}

// Size is the width of a value in bytes, 0 for String and Invalid.
func (d DType) Size() int {
	if int(d) < len(dtypes) {
		return dtypes[d].size
	}
	return 0
}

// String is the name that files use: "float32", "string".
func (d DType) String() string {
	if int(d) < len(dtypes) {
		return dtypes[d].name
	}
	return fmt.Sprintf("dtype(%d)", uint8(d))
}

// IsFloat says whether the values are floating point.
func (d DType) IsFloat() bool { return d >= Float16 && d <= Float64 }

// IsInt says whether the values are integers. Bool is not.
func (d DType) IsInt() bool { return d >= Int8 && d <= Uint64 }

// ParseDType is the inverse of String.
func ParseDType(name string) (DType, error) {
	for i := Bool; int(i) < len(dtypes); i++ {
		if dtypes[i].name == name {
			return i, nil
		}
	}
	return Invalid, fmt.Errorf("found dtype %q, expected one of bool, int8..int64, uint8..uint64, float16, bfloat16, float32, float64, string", name)
}
