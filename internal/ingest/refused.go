package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// refused is a kind of file that is not imported, although people have graphs in it.
type refused struct {
	what string // "a Python pickle"
	// exts are lower-case extensions, without compression. sure says that no file with one of them is anything else.
	exts []string
	sure bool
	// magic is what a file of the kind has at offset at. It counts whatever the extension is.
	magic []string
	at    int
	is    func(first []byte) bool // besides magic
	do    string
}

// byPython names the client, which has the kinds that it reads in python/src/graphmill/_files/kinds.py.
const byPython = "read it in Python: python -m graphmill import FILE --out STORE"

const fromPyG = "load it in Python and give the object to `graphmill.from_pyg(data, path)`"

const (
	firstCX     = "a network of the first version of Cytoscape Exchange (CX)"
	fromFirstCX = "convert it in Python: ndex2.create_nice_cx_from_file(FILE).to_networkx(), and give the graph to `graphmill.from_networkx(graph, path)`"
)

// refusals are in the order in which they are tried: a kind within another comes before it.
var refusals = []refused{
	{what: "a Python pickle, which can run any code when it is read", exts: []string{".pkl", ".pickle", ".joblib"}, sure: true, magic: []string{"\x80\x02", "\x80\x03", "\x80\x04", "\x80\x05"},
		do: "load it in Python and give the object to `graphmill.from_pyg(data, path)` or `graphmill.from_networkx(graph, path)`, or write a data frame with to_parquet"},
	{what: "a PyTorch file, which is a pickle", exts: []string{".pt", ".pth", ".ckpt"}, sure: true, do: fromPyG},
	{what: "an Excel workbook", exts: []string{".xlsx", ".xls", ".ods"}, sure: true, magic: []string{"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"}, do: "save each sheet as CSV"},
	{what: "a DuckDB database", exts: []string{".duckdb", ".ddb"}, is: isDuckDB, do: "write each table with COPY t TO 'x.parquet'"},
	{what: "an SQLite database", exts: []string{".sqlite", ".sqlite3", ".db"}, magic: []string{"SQLite format 3\x00"}, do: "name it as sqlite:FILE, and its tables become a graph by their keys"},
	{what: "an HDF5 file", exts: []string{".h5", ".hdf5", ".hdf", ".h5ad"}, sure: true, magic: []string{"\x89HDF\r\n\x1a\n"}, do: byPython},
	{what: "a MATLAB file", exts: []string{".mat"}, sure: true, magic: []string{"MATLAB 5.0", "MATLAB 7.3"}, do: byPython},
	{what: "an Avro file", exts: []string{".avro"}, sure: true, magic: []string{"Obj\x01"}, do: byPython},
	{what: "an ORC file", exts: []string{".orc"}, sure: true, do: byPython},
	{what: "an R data file", exts: []string{".rda", ".rdata", ".rds"}, sure: true, magic: []string{"RDX2\n", "RDX3\n", "RDA2\n", "RDA3\n"}, do: "write its tables in R with write.csv(x, 'x.csv', row.names = FALSE)"},
	{what: "a Feather file of version 1", magic: []string{"FEA1"}, do: "convert it: pyarrow.feather.write_feather(pyarrow.feather.read_table(FILE), 'x.arrow')"},
	{what: "a GEXF file", exts: []string{".gexf"}, sure: true, do: byPython},
	{what: "a GML file", exts: []string{".gml"}, sure: true, do: byPython},
	{what: "a multi-line adjacency list of networkx", exts: []string{".multiline_adjlist"}, sure: true, is: isMultilineAdjacency, do: "write it with networkx.write_adjlist or write_edgelist: networkx.read_multiline_adjlist(FILE)"},
	{what: "a Graphviz file", exts: []string{".dot", ".gv"}, sure: true, do: byPython},
	{what: "a Pajek file", exts: []string{".paj"}, sure: true, is: isPajek, do: byPython},
	{what: "a UCINET DL file", exts: []string{".dl"}, sure: true, do: byPython},
	{what: "a GDF file", exts: []string{".gdf"}, sure: true, do: byPython},
	{what: "a VNA file", exts: []string{".vna"}, sure: true, do: "open it in Gephi and export the graph as GraphML"},
	{what: firstCX, exts: []string{".cx"}, sure: true, do: fromFirstCX},
	{what: "a file of graph6 or sparse6", exts: []string{".g6", ".s6"}, sure: true, do: byPython},
	{what: "a LEDA file", exts: []string{".lgr", ".leda", ".gw"}, sure: true, do: byPython},
	{what: "RDF in XML, Turtle or JSON", exts: []string{".ttl", ".trig", ".rdf", ".owl", ".n3", ".jsonld"}, sure: true, do: byPython},
	{what: "an ontology in OBO", exts: []string{".obo"}, sure: true, do: byPython},
	{what: "a list of SMILES", exts: []string{".smi", ".smiles"}, sure: true, do: byPython},
	{what: "a file of molecules", exts: []string{".sdf", ".mol", ".xyz"}, sure: true, do: byPython},
	{what: "a map of OpenStreetMap", exts: []string{".osm", ".pbf"}, sure: true, do: byPython},
	{what: "statements of Cypher", exts: []string{".cypher", ".cypherl", ".cql"}, sure: true, do: "name the folder of an export of Kùzu; of Neo4j and Memgraph, export CSV or JSON: apoc.export.csv.all, or export_util.json"},
	{what: "a tar archive", exts: []string{".tar", ".tgz", ".tbz2", ".txz"}, sure: true, magic: []string{"ustar"}, at: 257, do: "unpack it, and import what is in it"},
	{what: "a zip archive", exts: []string{".zip"}, sure: true, do: "unpack it, and import what is in it"},
	{what: "a 7-Zip or RAR archive", exts: []string{".7z", ".rar"}, sure: true, magic: []string{"7z\xbc\xaf\x27\x1c", "Rar!\x1a\x07"}, do: "unpack it, and import what is in it"},
	{what: "bzip2 compression", exts: []string{".bz2"}, sure: true, magic: []string{"BZh91AY&SY"}, do: "unpack it, or compress it with gzip or zstd"},
	{what: "xz compression", exts: []string{".xz", ".lzma"}, sure: true, magic: []string{"\xfd7zXZ\x00"}, do: "unpack it, or compress it with gzip or zstd"},
}

// zip files are of many kinds, which the name of the first member tells.
var zipMembers = []struct{ part, what, do string }{
	{"data.pkl", "a PyTorch file, which is a pickle", fromPyG},
	{"[Content_Types].xml", "an Excel workbook", "save each sheet as CSV"},
	{".npy", "", ""},
	{"", "a zip archive", "unpack it, and import what is in it"},
}

// refuse returns the error for a file that is of a known kind and not imported, which its first bytes or its extension
// tell, and for an empty file.
func refuse(fsys vfs.FS, path string, size int64, o Options) error {
	if size == 0 {
		if o.Columns != "" { // the names of the columns make it a table without rows
			return nil
		}
		return sourcef("%s: found an empty file, expected a graph; write the file again, or name its columns with `Columns` for a table without rows", path)
	}
	first, err := startOf(fsys, path)
	if err != nil {
		return err
	}
	is := func(what, do string) error {
		return notImported(path, what, do)
	}
	ext := strings.ToLower(filepath.Ext(path))
	inner := table.Extension(path)
	for _, r := range refusals {
		named := slices.Contains(r.exts, ext) || slices.Contains(r.exts, inner)
		if named && r.sure || r.is != nil && r.is(first) || slices.ContainsFunc(r.magic, func(m string) bool { return len(first) > r.at && bytes.HasPrefix(first[r.at:], []byte(m)) }) {
			if r.what == "a tar archive" && inner != ext {
				return is("a compressed tar archive", r.do)
			}
			return is(r.what, r.do)
		}
	}
	if bytes.HasPrefix(first, []byte("PK\x03\x04")) && len(first) > 30 {
		name := first[30:min(len(first), 30+int(first[26])+int(first[27])<<8)]
		for _, m := range zipMembers {
			if !bytes.Contains(name, []byte(m.part)) {
				continue
			}
			if m.what == "" {
				return nil
			}
			return is(m.what, m.do)
		}
	}
	return nil
}

// notImported is the error for a file of a kind that is not imported.
func notImported(path, what, do string) error {
	return sourcef("%s: found %s, expected a format of graphs or tables; %s", path, what, do)
}

// isPajek recognises a Pajek network: its first line that is no comment begins with *Network or *Vertices.
func isPajek(b []byte) bool {
	for line := range bytes.Lines(bytes.TrimPrefix(b, []byte(table.ByteOrderMark))) {
		if line = bytes.ToLower(bytes.TrimSpace(line)); len(line) == 0 || line[0] == '%' {
			continue
		}
		return bytes.HasPrefix(line, []byte("*vertices")) || bytes.HasPrefix(line, []byte("*network"))
	}
	return false
}

// isMultilineAdjacency recognises networkx's write_multiline_adjlist: a node and the number of its neighbours, and then a line for
// each with its attributes as a dictionary. As an adjacency list or a table the dictionaries would be nodes.
func isMultilineAdjacency(b []byte) bool {
	rows := 0
	for line := range bytes.Lines(b) {
		cells := bytes.Fields(line)
		if len(cells) == 0 || cells[0][0] == '#' {
			continue
		}
		if rows++; rows == 2 {
			return len(cells) >= 2 && cells[1][0] == '{'
		}
		if len(cells) != 2 || len(bytes.Trim(cells[1], "0123456789")) > 0 || string(cells[1]) == "0" {
			return false
		}
	}
	return false
}

// isDuckDB recognises a DuckDB database: a checksum, the letters, and the version of the format in 8 bytes, which text
// does not have.
func isDuckDB(b []byte) bool {
	return len(b) >= 20 && string(b[8:12]) == "DUCK" && string(b[15:20]) == "\x00\x00\x00\x00\x00"
}

// startOf returns the first bytes of a file as they are on the disk.
func startOf(fsys vfs.FS, path string) (_ []byte, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := make([]byte, 512)
	n, err := f.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

func isPattern(path string) bool { return strings.ContainsAny(path, "*?[@") }

// known are extensions of files that some format reads, for hints.
var known = []string{".csv", ".tsv", ".txt", ".edgelist", ".edges", ".edge", ".el", ".wel", ".dat", ".ungraph", ".ncol", ".lgl", ".sif", ".parquet", ".arrow", ".feather", ".ipc", ".jsonl", ".ndjson", ".npy", ".npz", ".mtx", ".yaml", ".pbtxt", ".bin", ".dgl", ".graph", ".metis", ".nt", ".nq", ".graphml", ".adjlist", ".json", ".jgf", ".cyjs", ".cx2"}

// cutLast cuts a text at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// unrecognised is the error for a path of no known format. names are the files in it if it is a folder.
func unrecognised(path string, names []string) error {
	const list = "`ListFormats` shows them, and `Format` names one"
	if names == nil {
		ext := table.Extension(path)
		hint := ""
		if w := suggest.Word(ext, known); w != "" && ext != "" && w[1] == ext[1] { // .cvs, but not .bin for .sif
			hint = fmt.Sprintf("; did you mean %s?", w)
		}
		_, version, isVersion := cutLast(filepath.Base(path), "@")
		scheme := vfs.Scheme(path)
		switch {
		case isVersion && strings.Contains(version, "="):
			hint = "; the version of a table of a lake is @version=N, @time=T or @ref=NAME"
		case ext == "" && (scheme == "http" || scheme == "https"):
			hint = "; a web server lists no folders: give the address of a file, such as the graph.yaml of a folder"
		}
		return sourcef("%s: found a file of no known format, expected one of those that are imported; %s%s", path, list, hint)
	}
	if len(names) == 0 {
		return sourcef("%s: found an empty folder, expected a graph; correct the path", path)
	}
	if slices.Contains(names, "graph.json") {
		return sourcef("%s: found a folder that graphmill wrote, expected the source of a graph; use it as it is", path)
	}
	var tables []string
	for _, n := range names {
		if k := table.KindByName(n); k != table.Unknown && k != table.Array && k != table.TFRecords && !textfiles.IsList(n) {
			tables = append(tables, n)
		}
	}
	if len(tables) > 1 {
		return sourcef("%s: found a folder of several tables, such as %s and %s, expected a graph.yaml that lists them; draft one: graphmill draft %s > %s", path, tables[0], tables[1], path, filepath.Join(path, "graph.yaml"))
	}
	for _, n := range names {
		if slices.Contains(known, table.Extension(n)) {
			return sourcef("%s: found a folder of no known format, expected one file, or a graph.yaml that lists the tables; import a file of it, such as %s, or write a graph.yaml", path, n)
		}
	}
	return sourcef("%s: found a folder of no known format, expected one of those that are imported; %s", path, list)
}
