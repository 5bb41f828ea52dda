package bench_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A result with a race that a peer wins, and one that was disturbed.
const bookResult = `{
 "machine": {"cpus": 2, "cpu": "A <processor>", "system": "Linux"}, "versions": {"polars": "1.0"}, "repeat": 3,
 "races": [
  {"race": "csv", "what": "import & read", "unit": "edges/s", "ours": "graphmill", "ratios": {"polars": 0.5, "DuckDB": 2.0}, "disturbed": false, "contestants": {
   "graphmill": {"best": 2e6, "all": [1e6, 2e6], "peak_rss_bytes": 1048576, "others": [0.5, 0.01], "command": "graphmill import x.csv", "found": {"random_reads_per_second": 8e6, "random_read_bytes": 2097152}},
   "polars": {"best": 4e6, "all": [4e6, 3e6], "peak_rss_bytes": 2097152, "others": [0.0, 0.0], "command": "python polars"},
   "DuckDB": {"best": 1e6, "all": [1e6], "peak_rss_bytes": 2097152, "others": [0.0], "command": "python duckdb"}}},
  {"race": "csv", "what": "again", "unit": "edges/s", "ours": "graphmill", "ratios": {"polars": 7.25}, "disturbed": true, "contestants": {
   "graphmill": {"best": 29e6, "all": [29e6], "peak_rss_bytes": 1048576, "others": [0.25], "command": "graphmill import x.csv"},
   "polars": {"best": 4e6, "all": [4e6], "peak_rss_bytes": 2097152, "others": [null], "command": "python polars"}}}]}`

// A result of the race profiles.
const profilesResult = `{
 "machine": {"cpus": 2, "cpu": "A <processor>", "system": "Linux"}, "versions": {"graphmill": "1.0"}, "repeat": 3, "races": [],
 "profiles": [{"parts": 8, "seeds": 3, "disturbed": false, "command": "python profiles", "versions": {"kaminpar": "3.7"},
  "profiles": {"graphmill": {"1.0": 1.0, "2.0": 1.0}, "KaMinPar": {"1.0": 0.5, "2.0": 0.75}},
  "ratios": {"default by KaMinPar": {"mean": 0.5, "most": 0.75, "on": "mesh", "above": {}}},
  "graphs": {"mesh": {"graphmill": {"cut": 1234, "seconds": 0.5}, "KaMinPar": {"cut": 2345.5, "seconds": 0.25}}}}]}`

// The page of profiles has the shares, the ratios and each graph, and a plot with a line for each contestant.
func TestBookOfProfiles(t *testing.T) {
	files := written(t, profilesResult)
	if len(files) != 4 {
		t.Errorf("found %d files, expected a page, an index, the figures and a plot of them", len(files))
	}
	for _, want := range []string{"| KaMinPar | 50% | 75% |", "| default by KaMinPar | 0.500 | 0.750 | mesh | 0 |", "| mesh | **1,234** / 500 | 2,346 / 250 |", "python profiles", "kaminpar 3.7"} {
		if !strings.Contains(files["profiles.md"], want) {
			t.Errorf("found no %q\n%s", want, files["profiles.md"])
		}
	}
	if index := files["README.md"]; !strings.Contains(index, "(profiles.md)") {
		t.Errorf("found no link to the page\n%s", index)
	}
	if lines := strings.Count(files["profiles-1.svg"], `<path class="line `); lines != 4 {
		t.Errorf("found %d lines, expected one in the plot and one in the legend for each contestant", lines)
	}
	wellFormed(t, "profiles-1.svg", files["profiles-1.svg"])
}

// The book names first where a peer is faster, gives no ratio of a disturbed race, and is the same for the same result.
func TestBook(t *testing.T) {
	every := `import bench, book, pathlib; rows = book.rows_of(pathlib.Path("../docs/benchmarks.md").read_text()); print(*(r for r in bench.RACES if r != "scaling" and not (r in rows and r in book.BETTER)))`
	if out, err := exec.Command("python3", "-c", every).CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "" {
		t.Errorf("found races without a row in docs/benchmarks.md or a word on what the peers do better: %s, %v", out, err)
	}
	files, again := written(t, bookResult), written(t, bookResult)
	if len(files) != 5 {
		t.Errorf("found %d files, expected a page, an index, the figures and two plots of them", len(files))
	}
	for name, text := range files {
		if again[name] != text {
			t.Errorf("%s: found other bytes of the same result", name)
		}
		if strings.HasSuffix(name, ".svg") {
			wellFormed(t, name, text)
		}
	}
	page := files["csv.md"]
	faster := strings.Index(page, "**polars is faster**: Graphmill has 0.5 of its rate")
	if table := strings.Index(page, "| Graphmill |"); faster < 0 || table < faster {
		t.Errorf("found the faster peer at %d and the table at %d, expected it first\n%s", faster, table, page)
	}
	for _, want := range []string{"| DuckDB | 1 M | 1 M | 1 M | **2 x** |", "| polars | 4 M | 3.5 M | 3 M | **0.5 x** |", "**Disturbed**: other programs took an unknown share", "graphmill import X.csv --memory 256MiB",
		"**Limit**: as many threads read 8 M values of 4 bytes per second at random places of 2 MiB of neighbours.", "Edges per such read: graphmill 0.25, polars 0.50, DuckDB 0.12."} {
		if !strings.Contains(page, want) {
			t.Errorf("found no %q\n%s", want, page)
		}
	}
	for name, text := range files {
		if strings.HasSuffix(name, ".md") && strings.Contains(text, "7.25") {
			t.Errorf("%s: found the ratio of a disturbed race", name)
		}
	}
	if all := files["README.md"]; strings.Index(all, "Where a peer is faster") > strings.Index(all, "Where Graphmill is faster") || !strings.Contains(all, "Disturbed, to be run again") {
		t.Errorf("found an index in another order\n%s", all)
	}
}

// The links in rows of docs/benchmarks.md lead to the same pages from a page of the book.
func TestBookLinks(t *testing.T) {
	links := `import book, pathlib, re; rows = book.rows_of(pathlib.Path("../docs/benchmarks.md").read_text()); print(*{l for cells in rows.values() for c in cells for l in re.findall(r"\]\(([^)]+)\)", c)})`
	out, err := exec.Command("python3", "-c", links).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := strings.Fields(string(out))
	if len(found) == 0 {
		t.Error("found no link in a row, expected some")
	}
	for _, link := range found {
		if strings.HasPrefix(link, "https:") {
			continue
		}
		page, _, _ := strings.Cut(link, "#")
		if _, err := os.Stat(filepath.Join("../docs/bench", page)); !strings.HasPrefix(link, "../") || err != nil {
			t.Errorf("found link %q, expected one to a page of docs: %v", link, err)
		}
	}
}

// makeBook writes the book of the result on stdin into a folder, with the plots of its pages.
const makeBook = `
import json, pathlib, sys, book
folder = pathlib.Path(sys.argv[1])
book.write(folder, json.load(sys.stdin), book.rows_of(pathlib.Path("../docs/benchmarks.md").read_text()))
for figures in list(folder.glob("*.json")):
    page = figures.with_suffix(".md").read_text()
    for name, title, svg in book.plots(figures):
        assert title and f"<!-- plot {name} -->" in page, name
        (folder / name).write_text(svg)
`

// written returns the files that the book has of a result, and the plots that the site makes of them.
func written(t *testing.T, result string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("python3", "-c", makeBook, dir)
	cmd.Stdin = strings.NewReader(result)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(b)
	}
	return files
}

// wellFormed checks the XML of a plot.
func wellFormed(t *testing.T, name, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}
