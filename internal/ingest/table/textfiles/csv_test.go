package textfiles

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openText(t testing.TB, name, text string, o CSVOptions) *CSV {
	t.Helper()
	c, err := OpenCSV(vfs.OS, []string{tabletest.WriteText(t, t.TempDir(), name, text)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCSV(t *testing.T) {
	u := func(n string) table.Column { return table.Column{Name: n, DType: graph.Uint64} }
	for _, c := range []struct {
		name, file, text string
		opts             CSVOptions
		columns          []table.Column
		want             []string
	}{
		{"integers", "e.csv", "src,dst\n0,1\n12345678,2\n123456781234567,1234567812345678\n18446744073709551615,00000000000000000007\n", CSVOptions{}, []table.Column{u("dst"), u("src")}, []string{"1|0", "2|12345678", "1234567812345678|123456781234567", "7|18446744073709551615"}},
		{"CRLF, BOM, no last line end", "e.csv", "\xef\xbb\xbfsrc,dst\r\n1,2\r\n3,4", CSVOptions{}, []table.Column{u("src"), u("dst")}, []string{"1|2", "3|4"}},
		{"blank lines", "e.csv", "\n\nsrc,dst\n\n1,2\n\r\n\n3,4\n\n", CSVOptions{}, []table.Column{u("src"), u("dst")}, []string{"1|2", "3|4"}},
		{"header only", "e.csv", "src,dst", CSVOptions{}, []table.Column{u("src")}, nil},
		{"names", "e.csv", "1,2\n3,4\n", CSVOptions{Names: []string{"a", "b"}}, []table.Column{u("b")}, []string{"2", "4"}},
		{"names, empty file", "e.csv", "", CSVOptions{Names: []string{"a", "b"}}, []table.Column{u("b")}, nil},
		{"header of numbers", "e.csv", "id,2020\n1,2\n", CSVOptions{Header: true}, []table.Column{u("2020")}, []string{"2"}},
		{"SNAP", "e.txt", "# Nodes: 4 \"\n# FromNodeId\tToNodeId\n0\t 1\n 2   3  \n", CSVOptions{Names: []string{"src", "dst"}}, []table.Column{u("src"), u("dst")}, []string{"0|1", "2|3"}},
		{"SNAP, CRLF", "e.txt", "% x\r\n0 1\r\n2 3 \r\n", CSVOptions{Names: []string{"src", "dst"}}, []table.Column{u("src"), u("dst")}, []string{"0|1", "2|3"}},
		{"text with tabs", "e.txt", "name\tn\nNew York\t1\n", CSVOptions{}, tabletest.Strings("name", "n"), []string{"New York|1"}},
		{"#id is a name in .csv", "n.csv", "#id,x\n1,2\n", CSVOptions{}, tabletest.Strings("#id"), []string{"1"}},
		{"semicolons", "e.csv", "a;b\n\"1;2\";3,4\n", CSVOptions{}, tabletest.Strings("a", "b"), []string{"1;2|3,4"}},
		{"delimiter", "e.tsv", "a|b\n1|2\n", CSVOptions{Delimiter: '|'}, tabletest.Strings("b"), []string{"2"}},
		{"tsv", "e.tsv", "a\tb\n1, 2\t3\n", CSVOptions{}, tabletest.Strings("a", "b"), []string{"1, 2|3"}},
		{"quotes", "n.csv", "a,\"b,\nc\"\n\"x \"\"y\"\"\",\"1\n2\"\n\"\",\"\"\"\"\n", CSVOptions{}, tabletest.Strings("a", "b,\nc"), []string{"x \"y\"|1\n2", "|\""}},
		{"quoted numbers and spaces", "e.csv", "src,dst\n\"1\", 2 \n 3,\"4\"\n", CSVOptions{}, []table.Column{u("src"), u("dst")}, []string{"1|2", "3|4"}},
		{"one column twice", "e.csv", "src,dst\n7,8\n", CSVOptions{}, []table.Column{u("src"), {Name: "src", DType: graph.String}, {Name: "src", DType: graph.Int8}}, []string{"7|7|7"}},
		{"dtypes", "n.csv", "a,b,c,d,e,f\n-128,-32768,-2147483648,-9223372036854775808,true,1.5\n127,32767,2147483647,9223372036854775807,0,-1e30\n", CSVOptions{},
			[]table.Column{{Name: "a", DType: graph.Int8}, {Name: "b", DType: graph.Int16}, {Name: "c", DType: graph.Int32}, {Name: "d", DType: graph.Int64}, {Name: "e", DType: graph.Bool}, {Name: "f", DType: graph.Float32}},
			[]string{"-128|-32768|-2147483648|-9223372036854775808|1|1.5", "127|32767|2147483647|9223372036854775807|0|-1e+30"}},
		{"small dtypes, fast", "n.csv", "a,b,c\n255,65535,4294967295\n0,1,2\n", CSVOptions{},
			[]table.Column{{Name: "a", DType: graph.Uint8}, {Name: "b", DType: graph.Uint16}, {Name: "c", DType: graph.Uint32}}, []string{"255|65535|4294967295", "0|1|2"}},
		{"halves", "n.csv", "a,b\n1,1\n65504,3.3895313892515355e38\n-5.960464477539063e-08,-0\n0.1,nan\n1e-9,inf\n2049,1.00390625\n", CSVOptions{},
			[]table.Column{{Name: "a", DType: graph.Float16}, {Name: "b", DType: graph.BFloat16}}, []string{"0x3c00|0x3f80", "0x7bff|0x7f7f", "0x8001|0x8000", "0x2e66|0x7fc0", "0x0000|0x7f80", "0x6800|0x3f80"}},
		{"vectors", "n.csv", "a,b,c\n1 2,[1; 2],x;y z\n\"[3, 4]\",,\"['p', \"\"q\"\"]\"\n", CSVOptions{},
			[]table.Column{{Name: "a", DType: graph.Float32, Shape: []int{2}}, {Name: "b", DType: graph.Int32, Shape: []int{-1}}, {Name: "c", DType: graph.String, Shape: []int{2}}},
			[]string{"1 2|1 2|x y z", "3 4||p q"}},
		{"matrices", "n.csv", "a;b\n[[1,2],[3,4]];[[1, 2] [3, 4]]\n1 2 3 4;[1,2]\n", CSVOptions{Delimiter: ';'},
			[]table.Column{{Name: "a", DType: graph.Uint8, Shape: []int{2, 2}}, {Name: "b", DType: graph.Uint8, Shape: []int{-1, 2}}}, []string{"[1 2][3 4]|[1 2][3 4]", "[1 2][3 4]|[1 2]"}},
		{"lists of lists", "n.csv", "a|b|c|d\n[[1 2] [], [3]]|[[1],[2 3]]|[['x]', it's], [y]]|[[[1], [2, 3]]]\n|||\n[]|[[] [4]]|[[]]|[[[],[]];[[5];[]]]\n", CSVOptions{Delimiter: '|'},
			[]table.Column{{Name: "a", DType: graph.Int16, Shape: []int{-1, -1}}, {Name: "b", DType: graph.Uint8, Shape: []int{2, -1}}, {Name: "c", DType: graph.String, Shape: []int{-1, -1}}, {Name: "d", DType: graph.Float32, Shape: []int{-1, 2, -1}}},
			[]string{"[1 2][][3]|[1][2 3]|[x] it's][y]|[[1][2 3]]", "[]|[][]|[]|[]", "[]|[][4]|[]|[[][]][[5][]]"}},
		{"one variable dimension", "n.csv", "a,b\n1 2,[]\n[[3]],1 2 3 4\n", CSVOptions{},
			[]table.Column{{Name: "a", DType: graph.Int16, Shape: []int{1, -1}}, {Name: "b", DType: graph.Uint8, Shape: []int{-1, 2}}}, []string{"[1 2]|[]", "[3]|[1 2][3 4]"}},
		{"empty cells", "n.csv", "a,b,c\n,,\n1,2,3\n5,,\n", CSVOptions{},
			[]table.Column{{Name: "a", DType: graph.Uint64, Empty: table.EmptyAbsent}, {Name: "b", DType: graph.Float32, Empty: table.EmptyFill, Fill: "nan"}, {Name: "c", DType: graph.String}}, []string{"-0|NaN|", "1|2|3", "5|NaN|"}},
		{"empty ids", "n.csv", "a,b\n,\nx,y\n", CSVOptions{},
			[]table.Column{{Name: "a", DType: graph.String, ID: true, Empty: table.EmptyAbsent}, {Name: "b", DType: graph.String, ID: true, Empty: table.EmptyFill, Fill: "none"}}, []string{"-|none", "x|y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, comp := range []string{"", ".gz", ".zst"} {
				tab := openText(t, c.file+comp, c.text, c.opts)
				for _, chunk := range []int{1, 5, table.ChunkSize} {
					tab.chunk, tab.margin = chunk, chunk
					got, err := tabletest.Rows(tab, c.columns, 2)
					if err != nil {
						t.Fatalf("chunks of %d: %v", chunk, err)
					}
					if d := cmp.Diff(c.want, got); d != "" {
						t.Fatalf("%q, chunks of %d: %s", comp, chunk, d)
					}
				}
			}
		})
	}
}

// TestCSVFirstLines checks which lines come before a header, and which columns have no name in it.
func TestCSVFirstLines(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		unnamed    []int
		want       string // the names, and the rows
	}{
		"index":                       {"e.csv", ",a,b\n0,x,y\n", []int{1}, "a|b x|y"},
		"index without values":        {"e.csv", ",a,b\n,x,y\n", nil, "a|b x|y"},
		"columns between":             {"e.csv", "a,,b,\nx,1,y,2\n", []int{2, 4}, "a|b x|y"},
		"names of rows":               {"e.csv", "a,b\nr,x,y\ns,z,\n", []int{1}, "a|b x|y z|"},
		"names of rows, spaces":       {"e.txt", "a b\n1 x y\n2 z w\n", []int{1}, "a|b x|y z|w"},
		"delimiters at the end":       {"e.csv", "a;b;\nx;y;\nz;w;\n", nil, "a|b x|y z|w"},
		"delimiters after rows":       {"e.csv", "a,b\n\nx,y,\nx,w,", nil, "a|b x|y x|w"},
		"separator":                   {"e.csv", "SEP=;\r\na,;b\r\n", nil, "a,|b"},
		"separator in quotes":         {"e.tsv", "\"sep=,\"\na,b\nx,y\n", nil, "a|b x|y"},
		"comments":                    {"e.csv", "#\n# p, q, r\n#\na,b\nx,y\n", nil, "a|b x|y"},
		"comments and a separator":    {"e.csv", "sep=|\n# p|q|r\na|b\nx|y\n", nil, "a|b x|y"},
		"a comment that is a header":  {"e.tsv", "# p\n#id\tb\nx\ty\n", nil, "#id|b x|y"},
		"names that begin with #":     {"e.csv", "#a,#b\n#x,#y\nz,w\n", nil, "#a|#b #x|#y z|w"},
		"a comment of the same cells": {"e.csv", "# p, q\na,b\nx,y\n", nil, "# p|q a|b x|y"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, comp := range []string{"", ".gz"} {
				tab, err := OpenCSV(vfs.OS, []string{tabletest.WriteText(t, t.TempDir(), c.file+comp, c.text)}, CSVOptions{})
				if err != nil {
					t.Fatal(err)
				}
				tab.chunk, tab.margin = 3, 3
				got, err := tabletest.Rows(tab, tabletest.Strings(tab.names()...), 2)
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(append([]string{strings.Join(tab.names(), "|")}, got...), " "); got != c.want {
					t.Errorf("found %s, expected %s", got, c.want)
				}
				if diff := cmp.Diff(c.unnamed, tab.Unnamed()); diff != "" {
					t.Error(diff)
				}
				if guesses, err := tab.Guess(); err != nil || len(guesses) != len(tab.Fields()) {
					t.Errorf("found %d guesses, %v, expected %d", len(guesses), err, len(tab.Fields()))
				}
			}
		})
	}
}

// A column without a name whose cells in the head are empty has no later values either.
func TestCSVLateValueWithoutName(t *testing.T) {
	text := "src,dst,\n" + strings.Repeat("1,2,\n", headSize/5) + "3,4, \n3,4,x\n"
	for _, threads := range []int{1, 3} {
		_, err := tabletest.Rows(openText(t, "e.csv", text, CSVOptions{}), tabletest.Strings("dst"), threads)
		if want := fmt.Sprintf(`e.csv:%d:5: found "x" in a column without a name, expected nothing`, headSize/5+3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

func TestCSVErrors(t *testing.T) {
	u := []table.Column{{Name: "src", DType: graph.Uint64}, {Name: "dst", DType: graph.Uint64}}
	deep := []table.Column{{Name: "a", DType: graph.Int8, Shape: []int{2, -1}}}
	many := strings.Repeat("1,2\n", 100)
	for _, c := range []struct {
		name, file, text string
		opts             CSVOptions
		columns          []table.Column
		want             string
	}{
		{"letters", "e.csv", "src,dst\n" + many + "1,x\n", CSVOptions{}, u, `e.csv:102:3: found "x" in column "dst", expected an integer`},
		{"the first of two", "e.csv", "src,dst\n" + many + "1,x\n" + many + "y,1\n", CSVOptions{}, u, `e.csv:102:3: found "x"`},
		{"negative", "e.csv", "src,dst\n-1,2\n", CSVOptions{}, u, `e.csv:2:1: found "-1" in column "src", expected an integer from 0`},
		{"too large", "e.csv", "src,dst\n1,18446744073709551616\n", CSVOptions{}, u, `e.csv:2:3: found "18446744073709551616"`},
		{"fast and too large", "e.csv", "src,dst\n1,2\n1,256\n", CSVOptions{}, []table.Column{u[0], {Name: "dst", DType: graph.Uint8}}, `e.csv:3:3: found "256" in column "dst", expected an integer from 0 to 255`},
		{"fraction", "e.csv", "src,dst\n1,2.0\n", CSVOptions{}, u, `found "2.0"`},
		{"float range", "e.csv", "src,dst\n1,1e39\n", CSVOptions{}, []table.Column{{Name: "dst", DType: graph.Float32}}, `found "1e39" in column "dst", expected a number in the range of float32`},
		{"half range", "e.csv", "src,dst\n1,65520\n", CSVOptions{}, []table.Column{{Name: "dst", DType: graph.Float16}}, "float16"},
		{"hexadecimal", "e.csv", "src,dst\n1,0x1p-2\n", CSVOptions{}, []table.Column{{Name: "dst", DType: graph.Float64}}, "0x1p-2"},
		{"empty", "e.csv", "src,dst\n1,\n", CSVOptions{}, u, `e.csv:2:3: found "" in column "dst"`},
		{"empty id", "e.csv", "src,dst\n,1\n", CSVOptions{}, []table.Column{{Name: "src", DType: graph.String, ID: true}}, "expected an id"},
		{"few fields", "e.csv", "src,dst\n1,2\n1\n", CSVOptions{}, u, "e.csv:3:2: found 1 fields, expected 2 (src, dst)"},
		{"many fields", "e.csv", "src,dst\n1,2,3\n", CSVOptions{}, u, "e.csv:2:5: found more than 2 fields"},
		{"bare quote", "e.csv", "src,dst\n1,a\"b\n", CSVOptions{}, tabletest.Strings("dst"), "e.csv:2:4: found a quote inside a field"},
		{"behind a quote", "e.csv", "src,dst\n1,\"a\"b\n", CSVOptions{}, tabletest.Strings("dst"), `e.csv:2:6: found "b" after a closing quote`},
		{"open quote", "e.csv", "src,dst\n1,\"a\n2,3\n4,5\n", CSVOptions{}, tabletest.Strings("dst"), "e.csv:2:3: found a quote that is never closed"},
		{"after a quoted line end", "e.csv", "src,dst\n\"1\n\",2\n1,x\n", CSVOptions{}, []table.Column{u[1]}, `e.csv:4:3: found "x"`},
		{"vector length", "e.csv", "src,dst\n1,1 2 3\n", CSVOptions{}, []table.Column{{Name: "dst", DType: graph.Uint8, Shape: []int{2}}}, "expected 2 values and not 3"},
		{"vector value", "e.csv", "src,dst\n1,1 300\n", CSVOptions{}, []table.Column{{Name: "dst", DType: graph.Uint8, Shape: []int{2}}}, "0 to 255"},
		{"ragged rows", "e.csv", "src,dst\n1,1 2 3\n", CSVOptions{}, []table.Column{{Name: "dst", DType: graph.Uint8, Shape: []int{-1, 2}}}, "a multiple of 2 values"},
		{"lists without brackets", "e.csv", "a\n1 2\n", CSVOptions{}, deep, `found "1 2" in column "a", expected values in brackets, one pair per dimension of [2 -1], each an integer`},
		{"lists in one pair", "e.csv", "a\n[1 2]\n", CSVOptions{}, deep, "values in brackets"},
		{"too few lists", "e.csv", "a\n[[1 2]]\n", CSVOptions{}, deep, "expected 2 and not 1 in a dimension of the shape [2 -1]"},
		{"open list", "e.csv", "a\n[[1 2] [3]\n", CSVOptions{}, deep, "values in brackets"},
		{"behind the list", "e.csv", "a\n[[1 2] [3]]]\n", CSVOptions{}, deep, `expected nothing after the last bracket and not "]"`},
		{"too deep", "e.csv", "a\n[[[1]] [3]]\n", CSVOptions{}, deep, "values in brackets"},
		{"fill", "e.csv", "src,dst\n1,1\n", CSVOptions{}, []table.Column{{Name: "dst", DType: graph.Uint8, Empty: table.EmptyFill, Fill: "x", Given: true}}, `found the fill value "x"`},
		{"no such column", "e.csv", "src,dst\n1,1\n", CSVOptions{}, tabletest.Strings("weight"), `found the columns src, dst, expected "weight"`},
		{"number in the header", "e.csv", "1,2\n", CSVOptions{}, nil, "e.csv:1: found the first line \"1 2\", which contains a number, expected a header"},
		{"no header", "e.csv", "", CSVOptions{}, nil, "e.csv:1: found no line, expected a header"},
		{"two of a name", "e.csv", "a,a\n", CSVOptions{}, nil, `e.csv:1: found two columns "a"`},
		{"bad cell after an index", "e.csv", ",src,dst\n0,1,x\n", CSVOptions{}, u, `e.csv:2:5: found "x" in column "dst"`},
		{"few fields with an index", "e.csv", ",src,dst\n0,1\n", CSVOptions{}, u, `e.csv:2:4: found 2 fields, expected 3 ("", src, dst)`},
		{"no names", "e.csv", ",\n1,2\n", CSVOptions{}, nil, "e.csv:1: found no name of a column, expected a header"},
		{"more cells, equal first ones", "e.csv", "src,dst\n1,2,3\n1,4,5\n", CSVOptions{}, u, "e.csv:2:5: found more than 2 fields"},
		{"more cells in some lines", "e.csv", "src,dst\n1,2,3\n4,5\n", CSVOptions{}, u, "e.csv:2:5: found more than 2 fields"},
		{"another separator line", "e.csv", "sep=:\na:b\n", CSVOptions{}, u, "expected \"src\""},
		{"names of several words", "e.csv", "the source,dést\n0,1\n", CSVOptions{}, tabletest.Strings("x"), `found the columns "the source", dést, expected "x" among them`},
		{"a long name", "e.csv", strings.Repeat("a", 100) + ",\"x\ny\"\n", CSVOptions{}, tabletest.Strings("x"), `found the columns "` + strings.Repeat("a", 60) + `"..., "x\ny", expected "x"`},
		{"the name of no column", "e.csv", ",src,dst\n0,1,2\n", CSVOptions{}, tabletest.Strings(""), `expected "" among them`},
		{"UTF-16", "e.csv", "\xff\xfea\x00", CSVOptions{}, nil, "found UTF-16, expected UTF-8; convert the file: iconv -f utf16 -t utf8 FILE"},
		{"Latin-1", "e.csv", "a,b\nx,y\nx,\u00e9\xe9\n", CSVOptions{}, nil, "e.csv:3:5: found the byte 0xe9, expected UTF-8; convert the file, for example with iconv -f latin1 -t utf8 FILE"},
		{"Latin-1 at the end", "e.csv", "a,b\nx,\xe9", CSVOptions{}, nil, "e.csv:2:3: found the byte 0xe9"},
		{"Latin-1 in the header", "e.csv", "\xe9,b\n", CSVOptions{}, nil, "e.csv:1:1: found the byte 0xe9"},
		{"open quote in the header", "e.csv", "a,\"b\n1,2\n", CSVOptions{}, nil, "never closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, comp := range []string{"", ".gz"} {
				path := tabletest.WriteText(t, t.TempDir(), c.file+comp, c.text)
				tab, err := OpenCSV(vfs.OS, []string{path}, c.opts)
				for _, chunk := range []int{3, table.ChunkSize} {
					if c.columns != nil {
						if tab == nil {
							t.Fatal(err)
						}
						tab.chunk, tab.margin = chunk, chunk
						_, err = tabletest.Rows(tab, c.columns, 2)
					}
					want := strings.Replace(c.want, c.file+":", c.file+comp+":", 1)
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Fatalf("%s, chunks of %d: error %v, want %q", comp, chunk, err, want)
					}
				}
			}
		})
	}
}

func TestCSVShards(t *testing.T) {
	dir := t.TempDir()
	paths := []string{tabletest.WriteText(t, dir, "a.csv", "x,y\n1,2\n"), tabletest.WriteText(t, dir, "b.csv.gz", "x,y\n"), tabletest.WriteText(t, dir, "c.csv.zst", "x,y\n3,\"4\n\"\n5,6"), tabletest.WriteText(t, dir, "d.csv", "x,y\n7,8\n")}
	tab, err := OpenCSV(vfs.OS, paths, CSVOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tabletest.Rows(tab, tabletest.Strings("x", "y"), 2)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"1|2", "3|4\n", "5|6", "7|8"}, got); d != "" {
		t.Fatal(d)
	}
	for row, want := range []string{"a.csv:2", "c.csv.zst:2", "c.csv.zst:4", "d.csv:2"} {
		if got := tab.Where(uint64(row), ""); got != filepath.Join(dir, want) {
			t.Errorf("row %d is at %s, want %s", row, got, want)
		}
	}
	for row, want := range []string{"a.csv:2:3", "c.csv.zst:2:3", "c.csv.zst:4:3", "d.csv:2:3"} {
		if got := tab.Where(uint64(row), "y"); got != filepath.Join(dir, want) {
			t.Errorf("y of row %d is at %s, want %s", row, got, want)
		}
	}
	if got := tab.Where(3, "x"); got != filepath.Join(dir, "d.csv:2:1") {
		t.Errorf("x of row 3 is at %s", got)
	}
	if got := tab.Where(99, "x"); !strings.Contains(got, "row 100") {
		t.Errorf("a row that there is not is at %s", got)
	}
	bad := tabletest.WriteText(t, dir, "e.csv", "y,x\n")
	if _, err := OpenCSV(vfs.OS, append(paths, bad), CSVOptions{}); err == nil || !strings.Contains(err.Error(), `found the header "y x", expected "x y"`) {
		t.Fatal(err)
	}
}

func TestLongRecords(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, name := range []string{"a.csv", "a.csv.zst"} {
		tab := openText(t, name, "a,b\n1,"+long+"\n2,\""+long+"\n\"\n3,4\n", CSVOptions{})
		for _, chunk := range []int{16, 100, 1 << 20} {
			tab.chunk, tab.margin = chunk, 7
			got, err := tabletest.Rows(tab, tabletest.Strings("a", "b"), 2)
			if err != nil || len(got) != 3 || got[1] != "2|"+long+"\n" {
				t.Fatal(len(got), err)
			}
		}
		tab.chunk, tab.record = 16, 1000
		if _, err := tabletest.Rows(tab, tabletest.Strings("a", "b"), 2); err == nil || !strings.Contains(err.Error(), "a record of more than 1000 bytes") {
			t.Fatal(err)
		}
	}
}

// Compressed files that are cut or damaged give errors, whatever their length.
func TestDamagedCompression(t *testing.T) {
	text := "a,b\n"
	for i := range 2000 {
		text += fmt.Sprintf("%d,%d\n", i*7919%1000, i)
	}
	for _, name := range []string{"a.csv.gz", "a.csv.zst"} {
		path := tabletest.WriteText(t, t.TempDir(), name, text)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(whole); n += len(whole)/23 + 1 {
			if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
				t.Fatal(err)
			}
			tab, err := OpenCSV(vfs.OS, []string{path}, CSVOptions{})
			if err == nil {
				_, err = tabletest.Rows(tab, tabletest.Strings("a"), 1)
			}
			if !errors.Is(err, table.ErrFormat) {
				t.Fatalf("%s of %d bytes, cut to %d: %v", name, len(whole), n, err)
			}
		}
	}
}

// Every call that fails ends the scan with its error, and no goroutine or open file remains.
func TestCSVFaults(t *testing.T) {
	dir := t.TempDir()
	paths := []string{tabletest.WriteText(t, dir, "a.csv", "x,y\n1,2\n3,4\n"), tabletest.WriteText(t, dir, "b.csv.gz", "x,y\n5,6\n")}
	boom := errors.New("boom")
	for at := int64(0); ; at++ {
		fault := &vfs.Fault{FS: vfs.OS, FailAt: at, Err: boom}
		tab, err := OpenCSV(fault, paths, CSVOptions{})
		if err == nil {
			tab.chunk, tab.margin = 3, 2
			_, err = tabletest.Rows(tab, tabletest.Strings("x"), 2)
		}
		if at == 0 && err != nil || at > 0 && at <= fault.Calls() && !errors.Is(err, boom) {
			t.Fatalf("call %d of %d: %v", at, fault.Calls(), err)
		}
		if at > 0 && at > fault.Calls() {
			break
		}
	}
}

func TestCSVEnds(t *testing.T) {
	tab := openText(t, "a.csv", "x\n"+strings.Repeat("1\n", 1000), CSVOptions{})
	tab.chunk = 10
	stop := errors.New("stop")
	_, err := tab.Scan(context.Background(), tabletest.Strings("x"), 3, func(_ int, c *table.Chunk) error {
		if c.First >= 100 {
			return fmt.Errorf("%d: %w", c.First, stop)
		}
		return nil
	})
	if !errors.Is(err, stop) || err.Error() != "100: stop" {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err = tab.Scan(ctx, tabletest.Strings("x"), 3, func(_ int, c *table.Chunk) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// The rows are the same for any chunk size, number of threads and compression, and equal those that encoding/csv
// reads.
func TestCSVAgreesWithOracle(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.OneOf(
			rapid.SampledFrom([]string{"", "0", "7", "12345678", "123456789012345", "1234567890123456", "99999999999999999999", "-5", " 3", "x", "[1,2]", "1\r"}),
			rapid.StringOfN(rapid.RuneFrom([]rune("ab1,;\n\r\" \té")), 0, 12, -1))
		width := rapid.IntRange(1, 4).Draw(t, "width")
		var text strings.Builder
		var records [][]string
		for range rapid.IntRange(0, 30).Draw(t, "rows") {
			record := rapid.SliceOfN(cell, width, width).Draw(t, "record")
			records = append(records, record)
			for i, c := range record {
				if i > 0 {
					text.WriteByte(',')
				}
				if strings.ContainsAny(c, ",\n\r\"") || rapid.Bool().Draw(t, "quote") {
					c = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
				} else if width == 1 && c == "" {
					c = `""`
				}
				text.WriteString(c)
			}
			text.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(t, "end"))
		}
		all := text.String()
		if rapid.Bool().Draw(t, "no last end") {
			all = strings.TrimRight(all, "\r\n")
		}
		names := []string{"a", "b", "c", "d"}[:width]
		var want []string
		for _, r := range records {
			want = append(want, strings.Join(r, "|"))
		}
		path := filepath.Join(dir, "t.csv")
		if err := os.WriteFile(path, []byte(all), 0o644); err != nil {
			t.Fatal(err)
		}
		tab, err := OpenCSV(vfs.OS, []string{path}, CSVOptions{Names: names, Delimiter: ','})
		if err != nil {
			t.Fatal(err)
		}
		tab.chunk = rapid.IntRange(1, 60).Draw(t, "chunk")
		tab.margin = rapid.IntRange(0, 20).Draw(t, "margin")
		got, err := tabletest.Rows(tab, tabletest.Strings(names...), rapid.IntRange(1, 4).Draw(t, "threads"))
		if err != nil {
			t.Fatalf("%q: %v", all, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%q: %s", all, d)
		}
	})
}

// unsigned is the number of a cell of a column of uint64: it may have a sign, and "-0" is 0.
func unsigned(cell string) (uint64, bool) {
	cell = strings.TrimSpace(cell)
	digits := strings.TrimPrefix(cell, "+")
	if digits == cell {
		digits = strings.TrimPrefix(cell, "-")
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil && (n == 0 || !strings.HasPrefix(cell, "-"))
}

// FuzzCSV compares with encoding/csv: rows that both accept are equal, and text that encoding/csv accepts with equal
// numbers of fields per line is accepted.
func FuzzCSV(f *testing.F) {
	f.Add("1,2\n3,4\n", byte(9))
	f.Add("\"a\"\"b\",c\r\nd,\"e\nf\"", byte(3))
	f.Add("1,2\n\n 3,00000000004\n-1,99999999999999999999\n", byte(2))
	f.Add("12345678,123456789\n1234567812345678,1\n", byte(200))
	f.Add("a\"b,1\n\"x\"y,2\n", byte(0))
	f.Fuzz(func(t *testing.T, text string, chunk byte) {
		fuzzing.Check(t, len(text), func() {
			if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
				return
			}
			first := strings.TrimLeft(strings.TrimPrefix(text, table.ByteOrderMark), "\r\n")
			if strings.HasPrefix(first, "#") || strings.HasPrefix(first, "sep=") {
				return // remarks and Excel's line are left out
			}
			path := filepath.Join(t.TempDir(), "t.csv")
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			tab, err := OpenCSV(vfs.OS, []string{path}, CSVOptions{Names: []string{"a", "b"}, Delimiter: ','})
			lone := strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") // encoding/csv keeps it
			if (err == nil) != utf8.ValidString(text) && !lone {
				t.Fatalf("error %v, expected one if %q is not UTF-8", err, text)
			}
			if err != nil {
				return
			}
			tab.chunk, tab.margin = int(chunk)+1, int(chunk)/2
			got, err := tabletest.Rows(tab, tabletest.Strings("a", "b"), 2)
			if lone {
				return
			}
			r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\xef\xbb\xbf")))
			r.FieldsPerRecord = 2
			records, oracle := r.ReadAll()
			if (err == nil) != (oracle == nil) {
				t.Fatalf("error %v, encoding/csv: %v", err, oracle)
			}
			if err != nil {
				return
			}
			var want []string
			numbers := true
			for _, rec := range records {
				want = append(want, rec[0]+"|"+rec[1])
				for _, c := range rec {
					_, ok := unsigned(c)
					numbers = numbers && ok
				}
			}
			// encoding/csv turns CRLF inside quotes into LF.
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], "\r\n", "\n")
			}
			if !slices.Equal(got, want) {
				t.Fatalf("rows %q, encoding/csv %q", got, want)
			}
			ints, err := tabletest.Rows(tab, []table.Column{{Name: "a", DType: graph.Uint64}, {Name: "b", DType: graph.Uint64}}, 2)
			if (err == nil) != numbers {
				t.Fatalf("integers %v: error %v", numbers, err)
			}
			for i := range ints {
				a, b, _ := strings.Cut(want[i], "|")
				x, _ := unsigned(a)
				y, _ := unsigned(b)
				if ints[i] != fmt.Sprintf("%d|%d", x, y) {
					t.Fatalf("row %d is %s, want %d|%d", i, ints[i], x, y)
				}
			}
		})
	})
}

// A character that the first MiB cuts is no error, and comments can have any bytes.
func TestEncoding(t *testing.T) {
	text := "ab,cd\n" + strings.Repeat("x,\u20ac\n", headSize/6)
	if utf8.ValidString(text[:headSize]) {
		t.Fatal("found whole characters in the head, expected the last one cut")
	}
	openText(t, "e.csv", text, CSVOptions{})
	openText(t, "e.txt", "# \xe9\na b\n", CSVOptions{})
}

// A quoted text in a column of integers is an error, whatever the first cell of the block is.
func TestQuotedTextAmongIntegers(t *testing.T) {
	for _, first := range []string{"plain", `",\nfoo"`, `",x"`} {
		x := openText(t, "e.csv", "a,b,c\n"+first+",5,x\ny,\"zz\",w\n", CSVOptions{})
		columns := []table.Column{{Name: "a", DType: graph.String}, {Name: "b", DType: graph.Uint64}, {Name: "c", DType: graph.String}}
		_, err := x.Scan(t.Context(), columns, 1, func(int, *table.Chunk) error { return nil })
		if err == nil || !strings.Contains(err.Error(), `found "zz" in column "b"`) {
			t.Errorf("first cell %s: found error %v, expected one about the text", first, err)
		}
	}
}
