package ingest

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// zipped is a zip file with an empty member.
func zipped(t *testing.T, member string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if _, err := w.Create(member); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A file of a kind that is not imported gives one line that names the kind and what to do. The first bytes decide where
// the extension says something else.
func TestRefused(t *testing.T) {
	pickle := "\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00]\x94."
	sqlite := "SQLite format 3\x00\x10\x00\x01\x01"
	for _, c := range []struct{ name, text, want, do string }{
		{"g.pkl", pickle, "a Python pickle, which can run any code when it is read, expected a format of graphs or tables; load it", "graphmill.from_pyg(data, path)"},
		{"g.csv", pickle, "a Python pickle", "graphmill.from_networkx"},
		{"g.bin", pickle, "a Python pickle", "graphmill.from_pyg"},
		{"g.joblib", "x\x9c", "a Python pickle", "graphmill.from_pyg"},
		{"g.pt", zipped(t, "g/data.pkl"), "a PyTorch file", "graphmill.from_pyg(data, path)"},
		{"g.pth", "anything", "a PyTorch file, which is a pickle, expected a format of graphs or tables; load it", "graphmill.from_pyg(data, path)"},
		{"g", zipped(t, "archive/data.pkl"), "a PyTorch file", "graphmill.from_pyg(data, path)"},
		{"g.gexf", "<gexf/>", "a GEXF file", "python -m graphmill import FILE --out STORE"},
		{"g.gml", "graph [\n]\n", "a GML file", "python -m graphmill import FILE --out STORE"},
		{"g.multiline_adjlist", "#x.py\n# \na 2\nb {}\nc {}\n", "a multi-line adjacency list of networkx", "networkx.read_multiline_adjlist(FILE)"},
		{"g.adjlist", "a 1\nb {'weight': 3}\nb 0\n", "a multi-line adjacency list of networkx", "networkx.write_adjlist"},
		{"g.txt", "1 2\n2 {}\n", "a multi-line adjacency list of networkx", "networkx.write_adjlist"},
		{"g.dot", "graph {}", "a Graphviz file", "python -m graphmill import FILE --out STORE"},
		{"g.net", "*Vertices 1", "a Pajek file", "python -m graphmill import FILE --out STORE"},
		{"g.net", "\xef\xbb\xbf% x\r\n\r\n *network a\r\n", "a Pajek file", "python -m graphmill import FILE --out STORE"},
		{"g.txt", "*Vertices 1", "a Pajek file", "python -m graphmill import FILE --out STORE"},
		{"g.paj", "x", "a Pajek file", "python -m graphmill import FILE --out STORE"},
		{"g.dl", "DL n=5", "a UCINET DL file", "python -m graphmill import FILE --out STORE"},
		{"g.vna", "*Node data", "a VNA file", "export the graph as GraphML"},
		{"g.g6", "D", "a file of graph6 or sparse6", "python -m graphmill import FILE --out STORE"},
		{"g.gdf", "nodedef>name", "a GDF file", "python -m graphmill import FILE --out STORE"},
		{"g.obo", "[Term]", "an ontology in OBO", "python -m graphmill import FILE --out STORE"},
		{"g.smi", "CCO", "a list of SMILES", "python -m graphmill import FILE --out STORE"},
		{"g.sdf", "x", "a file of molecules", "python -m graphmill import FILE --out STORE"},
		{"g.osm.pbf", "x", "a map of OpenStreetMap", "python -m graphmill import FILE --out STORE"},
		{"g.osm.gz", "x", "a map of OpenStreetMap", "python -m graphmill import FILE --out STORE"},
		{"g.lgr", "LEDA.GRAPH", "a LEDA file", "python -m graphmill import FILE --out STORE"},
		{"g.duckdb", "01234567DUCK@\x00\x00\x00\x00\x00\x00\x00", "a DuckDB database", "COPY t TO 'x.parquet'"},
		{"g.csv", "01234567DUCK@\x00\x00\x00\x00\x00\x00\x00", "a DuckDB database", "COPY t TO 'x.parquet'"},
		{"g.duckdb", "01234567DUCK\xe7\x03\x00\x00\x00\x00\x00\x00", "a DuckDB database", "COPY t TO 'x.parquet'"},
		{"g.db", sqlite, "an SQLite database", "name it as sqlite:FILE"},
		{"g.txt", sqlite, "an SQLite database", "name it as sqlite:FILE"},
		{"g.xlsx", zipped(t, "[Content_Types].xml"), "an Excel workbook", "save each sheet as CSV"},
		{"g.csv", zipped(t, "[Content_Types].xml"), "an Excel workbook", "save each sheet as CSV"},
		{"g.h5", "\x89HDF\r\n\x1a\n", "an HDF5 file", "python -m graphmill import FILE --out STORE"},
		{"g.zip", zipped(t, "edges.csv"), "a zip archive", "unpack it"},
		{"g.csv", zipped(t, "edges.csv"), "a zip archive", "unpack it"},
		{"g.tgz", "\x1f\x8b\x08", "a tar archive", "unpack it"},
		{"g.tar.gz", "\x1f\x8b\x08", "a compressed tar archive", "unpack it"},
		{"g.csv", strings.Repeat("\x00", 257) + "ustar", "a tar archive", "unpack it"},
		{"g.csv.bz2", "BZh91AY&SY", "bzip2 compression", "compress it with gzip or zstd"},
		{"g.avro", "Obj\x01", "an Avro file", "python -m graphmill import FILE --out STORE"},
		{"g.orc", "ORC", "an ORC file", "python -m graphmill import FILE --out STORE"},
		{"g.rds", "\x1f\x8b\x08", "an R data file", "write.csv"},
		{"g.mat", "MATLAB 5.0 MAT-file", "a MATLAB file", "python -m graphmill import FILE --out STORE"},
		{"g.feather", "FEA1", "a Feather file of version 1", "pyarrow.feather.write_feather"},
		{"g.ttl", "@prefix a: <b> .", "RDF in XML, Turtle or JSON", "python -m graphmill import FILE --out STORE"},
		{"g.csv", "", "an empty file", "expected a graph"},
		{"g.cvs", "src,dst\n", "a file of no known format", "did you mean .csv?"},
		{"g.foo", "x", "a file of no known format", "`ListFormats` shows them"},
	} {
		path := filepath.Join(folder(t, map[string]string{c.name: c.text}), c.name)
		_, err := Open(t.Context(), vfs.OS, path, Options{})
		if !errors.Is(err, ErrSource) || !strings.HasPrefix(err.Error(), path+": found "+c.want) || !strings.Contains(err.Error(), c.do) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %.12q: found %v, expected an ErrSource about %q with %q in one line", c.name, c.text, err, c.want, c.do)
		}
		if n := len(err.Error()) - len(path); n > 300 {
			t.Errorf("%s: found an error of %d bytes, expected a short one: %v", c.name, n, err)
		}
	}
}

// Text that only looks like one of those kinds is a table.
func TestNotRefused(t *testing.T) {
	for name, text := range map[string]string{
		"a.csv": "ORCID,dst,src\n1,2,3\n",
		"b.csv": "src,dst\nDUCK,DUCK\n",
		"c.csv": "PK,src,dst\n1,2,3\n",
		"d.csv": "BZh,src,dst\n1,2,3\n",
	} {
		if _, err := Open(t.Context(), vfs.OS, filepath.Join(folder(t, map[string]string{name: text}), name), Options{}); err != nil {
			t.Errorf("%q: found %v, expected a table", text, err)
		}
	}
}

func TestRefusedPlaces(t *testing.T) {
	for _, address := range []string{"ftp://example.org/edges.csv", "hdfs://host/edges.csv"} {
		if _, err := Open(t.Context(), vfs.OS, address, Options{}); !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "download it first") {
			t.Errorf("%s: found %v, expected an ErrSource that says to download it", address, err)
		}
	}
	for address, meant := range map[string]string{"bolts://h": "bolt", "iceberg://h/api#a.b": "iceberg+https", "S3://b/e.csv": "s3", "htps://h/e.csv": "https"} {
		if _, err := Open(t.Context(), vfs.OS, address, Options{}); !errors.Is(err, ErrSource) || !strings.HasSuffix(err.Error(), `; did you mean "`+meant+`"?`) {
			t.Errorf("%s: found %v, expected an ErrSource that asks for %s", address, err, meant)
		}
	}
	for _, address := range []string{"bolt://localhost:7687", "neo4j+s://db.example.com", "bolt+s://me:secret-word@db.example.com"} {
		if _, err := Open(t.Context(), vfs.OS, address, Options{}); !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "python -m graphmill import") || strings.Contains(err.Error(), "word") {
			t.Errorf("%s: found %v, expected an ErrSource that names the Python client, without a password", address, err)
		}
	}
	if _, err := Open(t.Context(), vfs.OS, t.TempDir(), Options{}); !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "found an empty folder") {
		t.Errorf("found %v, expected an ErrSource about an empty folder", err)
	}
	dir := folder(t, map[string]string{"users.csv": "id\n1\n", "follows.csv": "src,dst\n1,1\n"})
	if _, err := Open(t.Context(), vfs.OS, dir, Options{}); !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "draft one: graphmill draft") {
		t.Errorf("found %v, expected an ErrSource that says to draft one: graphmill draft", err)
	}
	if _, err := Open(t.Context(), vfs.OS, filepath.Join(dir, "none.csv"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("found %v, expected that there is no such file", err)
	}
}

// Each format has what the list of formats shows.
func TestList(t *testing.T) {
	for i, f := range List() {
		if f.Name != Formats()[i] || f.About == "" || f.Becomes == "" {
			t.Errorf("found %+v, expected a name, what a source is and what it becomes", f)
		}
	}
}

// A folder of a web server, which lists none, is an error that asks for a file.
func TestWebFolder(t *testing.T) {
	for path, hint := range map[string]bool{"http:/h/folder": true, "https:/h/folder": true, "http:/h/file.foo": false, "folder": false} {
		if err := unrecognised(path, nil); strings.Contains(err.Error(), "a web server lists no folders: give the address of a file") != hint {
			t.Errorf("%s: found %v, expected the hint: %v", path, err, hint)
		}
	}
}
