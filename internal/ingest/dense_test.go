package ingest

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// denseArray is an .npy file.
func denseArray(descr, order, shape string, values any) string {
	text := "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }"
	text += strings.Repeat(" ", 117-len(text)) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8))
	b = append(b, text...)
	var err error
	if strings.HasPrefix(descr, ">") {
		b, err = binary.Append(b, binary.BigEndian, values)
	} else {
		b, err = binary.Append(b, binary.LittleEndian, values)
	}
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Entries that are not 0 are edges from their row to their column, in the order of the file.
func TestDenseMatrix(t *testing.T) {
	dense := Options{Format: "dense-matrix"}
	e := func(name, file, text, want string, o Options) importCase {
		return importCase{name: name, files: map[string]string{file: text}, path: file, opts: o, want: want}
	}
	bad := func(name, file, text, want string) importCase {
		c := e(name, file, text, want, dense)
		c.fails = true
		return c
	}
	const three = "_N 3:\n_N:_E:_N: 0>1 weight=2 2>0 weight=-1 2>2 weight=7"
	entries := []int32{0, 2, 0, 0, 0, 0, -1, 0, 7}
	names := "_N 3: a b c\n_N:_E:_N: 0>1 weight=2 2>0 weight=-1 2>2 weight=7"
	runImports(t, []importCase{
		e("a square array", "a.npy", denseArray("<i4", "False", "(3, 3)", entries), three, Options{}),
		e("the other order of bytes", "a.npy", denseArray(">i4", "False", "(3, 3)", entries), three, Options{}),
		e("columns first", "a.npy", denseArray("<i4", "True", "(3, 3)", entries), "_N 3:\n_N:_E:_N: 1>0 weight=2 0>2 weight=-1 2>2 weight=7", Options{}),
		e("float32", "a.npy", denseArray("<f4", "False", "(3, 3)", []float32{0, 0.1, 0, 0, float32(math.Copysign(0, -1)), 0, 0, 0, 3e38}), "_N 3:\n_N:_E:_N: 0>1 weight=0.10000000149011612 2>2 weight=3.0000000054977558e+38", Options{}),
		e("bools", "a.npy", denseArray("|b1", "False", "(3, 3)", []bool{false, true, false, true, false, false, false, false, true}), "_N 3:\n_N:_E:_N: 0>1 1>0 2>2", Options{}),
		e("0 and 1", "a.npy", denseArray("|u1", "False", "(3, 3)", []byte{0, 1, 0, 0, 0, 0, 0, 0, 1}), "_N 3:\n_N:_E:_N: 0>1 weight=1 2>2 weight=1", Options{}),
		e("int8", "a.npy", denseArray("|i1", "False", "(3, 3)", []int8{0, -128, 0, 0, 0, 0, 0, 0, 127}), "_N 3:\n_N:_E:_N: 0>1 weight=-128 2>2 weight=127", Options{}),
		e("int16", "a.npy", denseArray(">i2", "False", "(3, 3)", []int16{0, -2, 0, 0, 0, 0, 0, 0, 256}), "_N 3:\n_N:_E:_N: 0>1 weight=-2 2>2 weight=256", Options{}),
		e("uint64", "a.npy", denseArray("<u8", "False", "(3, 3)", []uint64{0, 1 << 52, 0, 0, 0, 0, 0, 0, 3}), "_N 3:\n_N:_E:_N: 0>1 weight=4.503599627370496e+15 2>2 weight=3", Options{}),
		e("not square", "a.npy", denseArray("<i4", "False", "(1, 3)", []int32{0, 2, 1}), "column 3:\nrow 1:\nrow:_E:column: 0>1 weight=2 0>2 weight=1", dense),
		e("two by two, named", "a.npy", denseArray("<i4", "False", "(2, 2)", []int32{0, 2, 1, 0}), "_N 2:\n_N:_E:_N: 0>1 weight=2 1>0 weight=1", dense),
		e("two by two is pairs", "a.npy", denseArray("<i4", "False", "(2, 2)", []int32{0, 2, 1, 0}), "_N 3:\n_N:_E:_N: 0>1 2>0", Options{}),
		e("zeros", "a.npy", denseArray("<i4", "False", "(3, 3)", make([]int32, 9)), "_N 3:\n_N:_E:_N:", Options{}),
		e("more nodes", "a.npy", denseArray("<i4", "False", "(3, 3)", entries), "_N 5:\n_N:_E:_N: 0>1 weight=2 2>0 weight=-1 2>2 weight=7", Options{NumNodes: 5}),
		bad("NaN", "a.npy", denseArray("<f8", "False", "(3, 3)", []float64{0, 0, 0, 0, 0, math.NaN(), 0, 0, 0}), "a.npy: found NaN in row 1 and column 2, expected a finite number"),
		bad("float16", "a.npy", denseArray("<f2", "False", "(1, 1)", uint16(1)), "a.npy: found an array f2 of shape [1 1], expected a matrix of two dimensions of integers, float32, float64 or bools"),
		bad("one dimension", "a.npy", denseArray("<i4", "False", "(3,)", []int32{1, 2, 3}), "found an array i4 of shape [3], expected a matrix"),
		bad("cut", "a.npy", denseArray("<i4", "False", "(3, 3)", []int32{1}), "found 4 bytes of data, expected 36"),

		e("commas", "a.csv", "0,2,0\n0, 0 ,0\n-1,0,7", three, dense),
		e("blanks and comments", "a.txt", "# of numpy.savetxt\n0  2 0\n0\t0 0\r\n\n-1 0 7\n", "_N 3:\n_N:_E:_N: 0>1 weight=2 2>0 weight=-1 2>2 weight=7", Options{Format: "dense-matrix", Delimiter: ' '}),
		e("numbers with a point", "a.txt", "0.0 1.5e+00\n0.00 -0.0\n", "_N 2:\n_N:_E:_N: 0>1 weight=1.5", dense),
		e("names above and beside", "a.csv", " ,a,b,c\na,0,2,0\nb,0,0,0\nc,-1,0,7\n", names, dense),
		e("names in quotes", "a.csv", "\"\";\"a\";\"b\";\"c\"\n\"a\";0;2;0\n\"b\";0;0;0\n\"c\";-1;0;7\n", names, dense),
		e("names of R", "a.txt", "a b c\na 0 2 0\nb 0 0 0\nc -1 0 7\n", names, dense),
		e("names above", "a.csv", "a,b,c\n0,2,0\n0,0,0\n-1,0,7\n", names, dense),
		e("numbers as names", "a.csv", ",7,5\n7,0,1\n5,0,0\n", "_N 2: 7 5\n_N:_E:_N: 0>1 weight=1", dense),
		e("not square", "a.csv", "0,1,0\n2,0,0\n", "column 3:\nrow 2:\nrow:_E:column: 0>1 weight=1 1>0 weight=2", dense),
		e("zeros", "a.csv", "0,0\n0,0\n", "_N 2:\n_N:_E:_N:", dense),
		bad("rows of other names", "a.csv", ",a,b\nb,0,1\na,0,0\n", "a.csv:2: found the row \"b\", expected the names of the columns, in their order"),
		bad("names, and not square", "a.csv", "a,b,c\n0,1,0\n0,1,0\n", "a.csv: found 2 rows and the names of 3 columns, expected as many"),
		bad("names of rows alone", "a.csv", "a,0,1\nb,1,0\n", "found"),
		bad("a name twice", "a.csv", "a,a\n0,1\n0,0\n", "a.csv:1: found id \"a\""),
		bad("an empty cell above", "a.csv", "0,,1\n0,0,0\n0,0,0\n0,0,0\n", "a.csv:1: found an empty cell in column 2"),
		bad("an empty cell", "a.csv", "0,1\n,0\n", "a.csv:2: found \"\" in column 1, expected a number; write 0"),
		bad("infinity", "a.csv", "0,inf\n0,0\n", "a.csv:1: found inf in row 0 and column 1, expected a finite number"),
		bad("a number out of range", "a.csv", "0,1e999\n0,0\n", "a.csv:1: found 1e999 in row 0 and column 1"),
		bad("a short line", "a.csv", "0,1\n0\n", "a.csv:2: found 1 cells, expected 2"),
		bad("nothing", "a.csv", "# x\n", "a.csv: found no row of numbers"),
		bad("names alone", "a.csv", "a,b\n", "a.csv: found no row of numbers"),
	})
}

// Dense files of Matrix Market list their values column by column.
func TestMatrixMarketArray(t *testing.T) {
	e := func(name, text, want string) importCase {
		return importCase{name: name, files: map[string]string{"a.mtx": "%%MatrixMarket matrix array " + text}, path: "a.mtx", want: want}
	}
	bad := func(name, text, want string) importCase {
		c := e(name, text, want)
		c.fails = true
		return c
	}
	runImports(t, []importCase{
		e("general", "real general\n% x\n2 2\n0\n2.5\n\n0.0\n-7\n", "_N 2:\n_N:_E:_N: 1>0 weight=2.5 1>1 weight=-7"),
		e("integers, not square", "integer general\n2 3\n1\n0\n0\n2\n3\n0\n", "column 3:\nrow 2:\nrow:_E:column: 0>0 weight=1 1>1 weight=2 0>2 weight=3"),
		e("symmetric", "integer symmetric\n2 2\n1\n2\n0\n", "_N 2:\n_N:_E:_N: 0>0 weight=1 1>0 weight=2 0>1 weight=2"),
		e("skew-symmetric", "real skew-symmetric\n3 3\n1\n0\n-2\n", "_N 3:\n_N:_E:_N: 1>0 weight=1 0>1 weight=-1 2>1 weight=-2 1>2 weight=2"),
		e("one row, skew-symmetric", "real skew-symmetric\n1 1\n", "_N 1:\n_N:_E:_N:"),
		e("nothing", "real general\n0 0\n", "_N 0:\n_N:_E:_N:"),
		bad("no rows and many columns", "real general\n0 1000000000\n", "found 1000000000 nodes of type column without features, expected at most"),
		bad("too few", "real general\n2 2\n1\n2\n3\n", "a.mtx: found the end of the file before row 2 of column 2, expected 2 rows and 2 columns"),
		bad("too many", "real general\n1 1\n1\n2\n", "a.mtx:4: found a value after the last, expected 1 rows and 1 columns"),
		bad("a word", "real general\n1 1\nx\n", "a.mtx:3: found \"x\", expected a number"),
		bad("NaN", "real general\n1 1\nNaN\n", "a.mtx:3: found NaN in row 0 and column 0"),
		bad("a number with a point among integers", "integer general\n1 1\n1.5\n", "a.mtx:3: found \"1.5\" in column \"weight\", expected an integer"),
		bad("pattern", "pattern general\n1 1\n1\n", "found a dense matrix (array) of the values pattern"),
		bad("three sizes", "real general\n1 1 1\n1\n", "a.mtx:2: found \"1 1 1\", expected the numbers of rows and columns"),
	})
}

// FuzzDense reads any bytes as a matrix, as an array and as text.
func FuzzDense(f *testing.F) {
	f.Add([]byte(denseArray("<i4", "False", "(2, 2)", []int32{0, 2, 1, 0})), true)
	f.Add([]byte(denseArray(">f8", "True", "(1, 2)", []float64{0, 2})), true)
	f.Add([]byte(",a,b\na,0,1\nb,2.5,0\n"), false)
	f.Add([]byte("# x\n0 1\n\n1 0\n"), false)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte, isArray bool) {
		fuzzing.Check(t, len(b), func() {
			name := "a.csv"
			if isArray {
				name = "a.npy"
			}
			opens(t, filepath.Join(dir, name), b, Options{Format: "dense-matrix"})
		})
	})
}
