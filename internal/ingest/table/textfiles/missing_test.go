package textfiles

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// missingCase opens a table of text with texts for missing values.
func missingCase(t *testing.T, name, text string, missing ...string) table.Table {
	t.Helper()
	paths := []string{tabletest.WriteText(t, t.TempDir(), name, text)}
	if strings.HasPrefix(name, "a.jsonl") {
		tab, err := OpenJSONLines(vfs.OS, paths, nil, missing)
		if err != nil {
			t.Fatal(err)
		}
		return tab
	}
	tab, err := OpenCSV(vfs.OS, paths, CSVOptions{Missing: missing})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// readCells reads two columns of a table, x as integers in which an empty cell is -1, and s as texts.
func readCells(t *testing.T, tab table.Table, empty table.Empty) (string, error) {
	t.Helper()
	var b strings.Builder
	x := table.Column{Name: "x", DType: graph.Int64, Empty: empty, Fill: "-1"}
	_, err := tab.Scan(t.Context(), []table.Column{x, {Name: "s", DType: graph.String}}, 1, func(_ int, c *table.Chunk) error {
		start := uint32(0)
		for i, end := range c.Columns[1].Ends {
			fmt.Fprintf(&b, "%d=%s ", graph.View[int64](c.Columns[0].Data)[i], c.Columns[1].Data[start:end])
			start = end
		}
		return nil
	})
	return b.String(), err
}

// Texts for missing values are empty cells in every column, in quotes or not, also where they are digits.
func TestMissingTexts(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.csv", "x,s\n1,a\n-,-\n 7 , ? \n\"?\",\"-\"\n999,9990\n9990,b\n", "1=a -1= 7= -1= -1=9990 9990=b "},
		{"a.tsv", "x\ts\n-\t?\n2\tx - y\n", "-1= 2=x - y "},
		{"a.csv.gz", "x,s\n-,a\n3,-\n", "-1=a 3= "},
		{"a.jsonl", "{\"x\": 1, \"s\": \"a\"}\n{\"x\": \"-\", \"s\": \"-\"}\n{\"x\": 999, \"s\": \"?\"}\n{\"x\": 9990}\n", "1=a -1= -1= 9990= "},
	} {
		got, err := readCells(t, missingCase(t, c.name, c.text, "-", "?", "999"), table.EmptyFill)
		if err != nil || got != c.want {
			t.Errorf("%s: found %q, %v, expected %q", c.name, got, err, c.want)
		}
		if _, err := readCells(t, missingCase(t, c.name, c.text, "-", "?", "999"), table.EmptyError); !errors.Is(err, table.ErrFormat) {
			t.Errorf("%s: found %v, expected an empty cell as an error", c.name, err)
		}
	}
	// A text that is not listed is an error with its place, and shown as it is.
	_, err := readCells(t, missingCase(t, "a.csv", "x,s\n-,a\n--,b\n", "-"), table.EmptyFill)
	if err == nil || !strings.Contains(err.Error(), "a.csv:3:1: found \"--\" in column \"x\"") {
		t.Errorf("found %v, expected the place of the text", err)
	}
	_, err = readCells(t, missingCase(t, "a.csv", "x,s\n-,a\n", "-"), table.EmptyError)
	if err == nil || !strings.Contains(err.Error(), "a.csv:2:1: found \"-\" in column \"x\"") {
		t.Errorf("found %v, expected the text of the empty cell", err)
	}
	_, err = readCells(t, missingCase(t, "a.jsonl", "{\"x\": 1, \"s\": \"a\"}\n{\"x\": \"n/a\", \"s\": \"b\"}\n", "-"), table.EmptyFill)
	if err == nil || !strings.Contains(err.Error(), "a.jsonl:2:") {
		t.Errorf("found %v, expected the place of the text", err)
	}
}

// Guesses ignore texts for missing values, as they ignore empty cells.
func TestMissingGuess(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"a.csv", "x,s\n1,-\n-,a\n"}, {"a.jsonl", "{\"x\": 1, \"s\": \"-\"}\n{\"x\": \"-\", \"s\": \"a\"}\n"},
	} {
		g, err := missingCase(t, c.name, c.text, "-").(interface{ Guess() ([]table.Guess, error) }).Guess()
		if err != nil || !g[0].Integer || !g[0].Empty || !g[0].Seen || !g[1].Empty || g[1].Number {
			t.Errorf("%s: found %+v, %v, expected integers and texts with empty cells", c.name, g, err)
		}
	}
}

// A table with texts for missing values is the table in which their cells are empty.
func TestMissingIsEmpty(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		missing := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"-", "?", "NA", "0", "12", "null", "--", "x y"}), 1, 4, rapid.ID[string]).Draw(r, "missing")
		text, plain := "x,s\n", "x,s\n"
		for range rapid.IntRange(1, 30).Draw(r, "rows") {
			for i := range 2 {
				cell := rapid.SampledFrom([]string{"1", "120", "7", ""}).Draw(r, "cell")
				end := []string{",", "\n"}[i]
				plain += cell + end
				if cell == "" {
					cell = rapid.SampledFrom(append([]string{""}, missing...)).Draw(r, "text")
					if rapid.Bool().Draw(r, "quoted") {
						cell = `"` + cell + `"`
					}
				}
				text += cell + end
			}
		}
		want, err := readCells(t, missingCase(t, "a.csv", plain), table.EmptyFill)
		if err != nil {
			r.Fatal(err)
		}
		got, err := readCells(t, missingCase(t, "a.csv", text, missing...), table.EmptyFill)
		if err != nil || got != want {
			r.Fatalf("%q: found %q, %v, expected %q", text, got, err, want)
		}
	})
}
