package textfiles

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestLineEnds checks carriage returns and blanks around cells. Line ends are as pandas 3.0 reads them, except that it reads CR alone as
// one, which is an error here. pandas, polars and DuckDB read numbers with blanks around them as numbers, or as texts; in columns of ids
// blanks outside quotes do not count, as documented.
func TestLineEnds(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string // by row, of the columns a (an id) and b
		bad  string
	}{
		"CRLF":                      {"a,b\r\n1,2\r\n", []string{"1|2"}, ""},
		"CR CR LF":                  {"a,b\r\r\n1,2\r\r\n3,x\r\r\r\n", []string{"1|2", "3|x"}, ""},
		"empty lines of CR":         {"a,b\n\r\n\r\r\n1,2\n", []string{"1|2"}, ""},
		"CR at the end":             {"a,b\n1,2\r", []string{"1|2"}, ""},
		"CR in quotes":              {"a,b\n\"1\r\",\"x\ry\"\n", []string{"1\r|x\ry"}, ""},
		"CR in a cell":              {"a,b\n1\r,2\n", nil, `t.csv:2:2: found a carriage return within a cell, expected one only before a line end`},
		"CR alone":                  {"a,b\r1,2\r2,3\r", nil, `t.csv:1: found line ends that are carriage returns alone, expected LF or CRLF; convert the file: tr '\r' '\n' < FILE`},
		"control characters":        {"a,b\nx\x00\v\by,\tz\f\n\x01\x0d\n", nil, `found 1 fields, expected 2`},
		"control characters, cells": {"a,b\nx\x00\v\by,\tz\f\n\x01,\x02\x0d\n", []string{"x\x00\v\by|\tz\f", "\x01|\x02"}, ""},
		"blanks around ids":         {"a, b\n 1,2\n2 ,\t3\n\"4 \", 5 \n", []string{"1|2", "2|\t3", "4 | 5 "}, ""},
		"blanks that are an id":     {"a,b\n  ,2\n", nil, `found "  " in column "a", expected an id`},
		"blanks of a file of runs":  {"", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.csv")
			if test.text == "" {
				path = filepath.Join(t.TempDir(), "t.txt")
				test.text, test.want = "a b\n x  y \n", []string{"x|y"}
			}
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var got []string
			tab, err := OpenCSV(vfs.OS, []string{path}, CSVOptions{})
			if err == nil {
				got, err = tabletest.Rows(tab, []table.Column{{Name: "a", DType: graph.String, ID: true}, {Name: "b", DType: graph.String}}, 1)
			}
			if test.bad != "" {
				if err == nil || !strings.Contains(err.Error(), test.bad) || len(err.Error()) > 300 {
					t.Errorf("found %v, expected a short error with %s", err, test.bad)
				}
				return
			}
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("found %q and %v, expected %q", got, err, test.want)
			}
		})
	}
}
