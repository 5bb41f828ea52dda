package demands

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/torture/internal/command"
)

// mostBytes is the resident set that a refusal may take. The largest that a demand needs is two lists of 80 MB of counts, with a copy while
// one grows; the sources ask for far more. GOGC makes the collector run often, so that little of the set is garbage, also on a busy machine.
const mostBytes = 512 << 20

// demand is a small source and what is said about it.
type demand struct {
	name  string
	files map[string]string // by path; the first by name is the source unless from is given
	from  string
	args  []string
	want  string
}

func compressed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// damaged is an archive of an array whose checksum is wrong.
func damaged() string {
	const header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 1), }\n"
	array := "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), 0}) + header + strings.Repeat("\x00", 16)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "edge_index.npy", Method: zip.Store})
	if err == nil {
		_, err = w.Write([]byte(array))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err)
	}
	return strings.Replace(b.String(), array, array[:len(array)-1]+"\x01", 1)
}

// numbered is n texts with their numbers, with a separator between.
func numbered(n int, format, separator string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(separator)
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func graphML(keys, node string) string {
	return "<graphml>" + keys + `<graph edgedefault="directed">` + node + "</graph></graphml>"
}

func demands() []demand {
	const edge = "src,dst\n0,1\n"
	const mtx = "%%%%MatrixMarket matrix coordinate pattern general\n%s 1\n1 2\n"
	half := strings.Repeat("1\n", 10<<20)
	return []demand{
		{name: "Matrix Market", files: map[string]string{"a.mtx": fmt.Sprintf(mtx, "4000000000 4000000000")}, want: "a.mtx: found 4000000000 nodes"},
		{name: "Matrix Market, as many as can be", files: map[string]string{"a.mtx": fmt.Sprintf(mtx, "9223372036854775807 9223372036854775807")}, want: "a.mtx: found 9223372036854775807 nodes"},
		{name: "count", files: map[string]string{"graph.yaml": "nodes: {a: {count: 4000000000}}\nedges: {\"a:r:a\": {table: e.csv}}\n", "e.csv": edge}, from: "graph.yaml", want: "graph.yaml: found 4000000000 nodes"},
		{name: "KONECT", files: map[string]string{"out.a": "% asym unweighted\n% 1 4000000000 4000000000\n1 2\n"}, want: "out.a: found 4000000000 nodes"},
		{name: "OGB, graphs", files: map[string]string{"d/num-node-list.csv.gz": compressed(half), "d/num-edge-list.csv.gz": compressed(half), "d/edge.csv.gz": compressed("0,0\n"), "d/graph-label.csv.gz": compressed("1\n")},
			from: "d", want: "csv.gz: found "},
		{name: "OGB, columns", files: map[string]string{"d/num-node-list.csv.gz": compressed("1" + strings.Repeat(",1", 500_000)), "d/num-edge-list.csv.gz": compressed("1\n"), "d/edge.csv.gz": compressed("0,0\n")},
			from: "d", want: "num-node-list.csv.gz:1: found 500001 columns, expected at most 65536"},
		{name: "columns", files: map[string]string{"e.csv": "src,dst," + numbered(20_000, "c%d", ",") + "\n0,1," + numbered(20_000, "%d", ",") + "\n"}, want: "e.csv: found 20002 types and columns, expected at most 10000"},
		{name: "keys", files: map[string]string{"g.graphml": graphML(numbered(20_000, `<key id="%d" for="node" attr.name="a%[1]d" attr.type="int"/>`, ""), "")}, want: "g.graphml:1: found more than 10000 keys"},
		{name: "attributes", files: map[string]string{"g.graphml": graphML("", "<node id='a' "+strings.Repeat("x='' ", 500_000)+"/>")}, want: "g.graphml:1: found more than 1048576 bytes in one piece of markup"},
		{name: "names", files: map[string]string{"g.json": `{"nodes": [{"id": 0, ` + numbered(20_000, `"a%d": 1`, ",") + `}], "links": []}`}, want: "g.json:1: found more than 10000 names"},
		{name: "relations", files: map[string]string{"g.tsv": numbered(20_000, "a\tr%d\tb", "\n")}, args: []string{"--format", "triples", "--relations", "types"}, want: "g.tsv: found more than 10000 relations"},
		{name: "bytes that are not UTF-8", files: map[string]string{"g.json": "{\"nodes\": [{\"id\": \"a\xff\"}, {\"id\": \"a\xfe\"}], \"links\": []}"}, want: "g.json:1: found the byte 0xff, expected UTF-8"},
		{name: "triples that are not UTF-8", files: map[string]string{"g.nt": "<a> <b> <c\xff> .\n"}, want: "g.nt:1:11: found the byte 0xff, expected UTF-8"},
		{name: "a wrong checksum", files: map[string]string{"g.npz": damaged()}, want: `g.npz: not a usable .npz file: "edge_index.npy": found damaged data`},
	}
}

func TestDemands(t *testing.T) {
	t.Parallel()
	graphmill := command.Build(t, "graphmill")
	for _, d := range demands() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			source := d.from
			for name, text := range d.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				if d.from == "" {
					source = name
				}
			}
			r := command.Call{Program: graphmill, Args: append([]string{"import", source, "--out", "o"}, d.args...), Dir: dir, Env: []string{"GOGC=20"}}.Run(t)
			if r.Status != 1 || strings.Count(r.Stderr, "\n") != 1 || !strings.Contains(r.Stderr, d.want) {
				t.Errorf("found status %d and\n%s\nexpected 1 and a line with %q", r.Status, r.Stderr, d.want)
			}
			if r.Peak > mostBytes {
				t.Errorf("found a resident set of %d bytes, expected at most %d", r.Peak, int64(mostBytes))
			}
			for _, left := range []string{"o", ".o.partial"} {
				if _, err := os.Lstat(filepath.Join(dir, left)); !os.IsNotExist(err) {
					t.Errorf("found %s, expected nothing left", left)
				}
			}
		})
	}
}
