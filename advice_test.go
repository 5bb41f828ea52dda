package graphmill_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// advised are the folders whose errors TestAdvice reads: operations, stages, stores and commands.
var advised = []string{".", "cmd", "internal/cli", "internal/command", "internal/dispatch", "internal/export", "internal/feed", "internal/ingest", "internal/database", "internal/objects", "internal/operation", "internal/pack", "internal/partition",
	"internal/sample", "internal/store", "internal/subset", "internal/walk", "option"}

// unadvised are files and folders whose errors need no advice of their own, and why.
var unadvised = map[string]string{
	"internal/feed/accept.go":              "between the Python client and its own process",
	"internal/feed/conn.go":                "between the Python client and its own process",
	"internal/feed/protocol.go":            "between the Python client and its own process",
	"internal/feed/server.go":              "between the Python client and its own process",
	"internal/feed/stream.go":              "between the Python client and its own process",
	"internal/feed/sweep.go":               "between the Python client and its own process",
	"internal/dispatch/cluster":            "between workers of one job",
	"internal/sample/cluster":              "between workers of one job",
	"internal/dispatch/gather.go":          "between workers of one job",
	"internal/sample/outofcore":            "spill files of the same process",
	"internal/sample/fetch.go":             "the executor adds which executor to take",
	"internal/ingest/assemble/model.go":    "for those who build an input: the formats say what their files lack",
	"internal/ingest/assemble/piece.go":    "spill files of the same process",
	"internal/ingest/assemble/unite.go":    "spill files of the same process",
	"internal/ingest/cluster":              "between workers of one job",
	"internal/ingest/table/tabletest":      "for tests",
	"internal/store/opencollection.go":     "a manifest or header that graphmill did not write so",
	"internal/store/open.go":               "files of a store that graphmill did not write so: the command adds how to find all damage",
	"internal/store/opengraph.go":          "files of a store that graphmill did not write so: the command adds how to find all damage",
	"internal/store/append.go":             "for writers of segments within this module",
	"internal/store/merge.go":              "files of a store that graphmill did not write so: the command adds how to find all damage",
	"internal/store/places.go":             "files of a store that graphmill did not write so: the command adds how to find all damage",
	"internal/store/segment":               "files of a store that graphmill did not write so: the command adds how to find all damage",
	"internal/store/segments.go":           "files of a store that graphmill did not write so: the command adds how to find all damage",
	"internal/store/manifest.go":           "files of a store that graphmill did not write so: the command adds how to find all damage",
	"internal/store/checkpoint.go":         "a checkpoint that is not whole is left, and the run begins again",
	"internal/store/column.go":             "for writers of columns within this module",
	"internal/store/resume.go":             "for writers of files within this module",
	"internal/store/writer.go":             "for writers of files within this module",
	"internal/store/shards/shards.go":      "for writers of shards within this module",
	"internal/sample/adjacency.go":         "arrays of a store that graphmill did not write so",
	"internal/sample/range.go":             "arrays of a store that graphmill did not write so",
	"internal/sample/sampletest":           "for tests",
	"internal/sample/output/collection.go": "a checkpoint of another version",
	"internal/sample/output/piece.go":      "between workers of one job",
	"internal/pack/layout/layout.go":       "files of a pack layout that graphmill did not write so",
}

// optional matches a text about an option: its "expected Y" already says what to give.
var optional = regexp.MustCompile("^--%s: found|^(%s: )?found (no |both |the |an? )?(`[A-Z%]|--)")

// values matches an expectation that already says what to write: a field of a plan or spec, a number.
var values = regexp.MustCompile(`, expected (at (least|most) |fewer than |one of |a? ?(number|probability|tolerance|integer)|[0-9%]+d? to |[a-z]+, [a-z]+|.*such as )`)

// TestAdvice checks the form of the errors of operations: "found X, expected Y; do Z". An error may end with Y where Y already says what
// to give: it is about an option, or it lists the values.
func TestAdvice(t *testing.T) {
	set := token.NewFileSet()
	texts, with := 0, 0
	sufficient, met := map[string]bool{}, map[string]bool{}
	for _, list := range enough {
		for _, text := range list {
			sufficient[text] = true
		}
	}
	read := func(file string) {
		for place := range unadvised {
			if file == place || strings.HasPrefix(file, place) {
				return
			}
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !makesError(call.Fun) {
				return true
			}
			for _, arg := range call.Args {
				l, ok := arg.(*ast.BasicLit)
				if !ok || l.Kind != token.STRING {
					continue
				}
				text, err := strconv.Unquote(l.Value)
				found, after, two := strings.Cut(text, ", expected ")
				if err != nil || !two || !strings.Contains(found, "found ") {
					continue
				}
				texts++
				met[text] = true
				if _, advice, ok := strings.Cut(after, "; "); ok {
					with++
					if len(strings.Fields(advice)) < 2 && advice[0] != '%' {
						t.Errorf("%s: %q: found the advice %q, expected one that says more", set.Position(l.Pos()), text, advice)
					}
				} else if !optional.MatchString(text) && !values.MatchString(text) && !sufficient[text] {
					t.Errorf("%s: %q: found no advice after a semicolon, expected one, as what is expected is nothing to give; say what to do", set.Position(l.Pos()), text)
				}
			}
			return true
		})
	}
	for _, dir := range advised {
		err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && file != dir && (dir == "." || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
				read(filepath.ToSlash(file))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for place := range unadvised {
		if m, err := filepath.Glob(place + "*"); err != nil || len(m) == 0 {
			t.Errorf("found no %s, expected the files that need no advice; remove it from the list", place)
		}
	}
	for text := range sufficient {
		if !met[text] {
			t.Errorf("found no error %q, expected those that need no advice; remove it from the list", text)
		}
	}
	if texts < 900 || 100*with < 60*texts {
		t.Errorf("found %d texts, %d of them with advice, expected 900 and 60 %%", texts, with)
	}
}

// makesError says whether a function makes an error of a text.
func makesError(f ast.Expr) bool {
	name := ""
	switch f := f.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if x, ok := f.X.(*ast.Ident); ok && name == "New" {
			return x.Name == "errors"
		}
	}
	return slices.Contains([]string{"Errorf", "usagef", "Usagef", "sourcef", "badf", "errorf"}, name)
}

// enough are texts that need no advice, and why.
var enough = map[string][]string{
	"a stage asks for a column that the format does not have": {
		"%s: found a request for %q, expected a column of the edges",
		"found a request for another column, expected the counts as uint64",
		"%s: found a request for %q as %s, expected its categories",
		"found dtype %s, expected a valid one",
		"%s: found a request for the ids %q as %s, expected uint64",
		"%s: found a request for %q, expected a column of the tables",
		"%s: found a request for %q as %s %v, expected a column of the file as string",
		"%s: found a request for %q as %s %v, expected a column of the file as uint32",
		"%s: found a request for %q as %s, expected int64 or float64",
		"%s: found a request for %[4]q of shape %[5]v, expected the column %[2]s of %[3]d values",
		"column %q: found categories that are not known, expected Collect before a scan",
	},
	"the expectation says what to write": {
		"found type %q, expected datetime[%s], or a shape in brackets after it",
		"found the file %q, expected an .npy array, an archive .npz with the key array, or numbers as .csv, .tsv or .txt without a header",
		"found ends %q, expected local (counted from the first node of the graph) or global (of all graphs)%s",
		"found no ends of %s, expected ends: local (counted from the first node of the graph) or ends: global (of all graphs)",
		"found a source that is no address of a database, expected sqlite:FILE or postgres://USER@HOST/DATABASE",
		"%s: found the columns %s, expected %s",
		"`Missing`: found %q, expected VALUE, or WHAT=VALUE, where WHAT is a dtype, one of %s, or a column",
		"found %s, expected a mapping of %s",
		"found %s, expected %s",
		"found %q, expected %s",
		"found %s, expected true or false",
		"found a password in the address of the database, expected it in PGPASSWORD or in ~/.pgpass: an address is seen by others, in the list of processes",
		"found sslpassword in the address of the database, expected it in PGSSLPASSWORD: an address is seen by others, in the list of processes",
		"%s: found an address that cannot be read, expected postgres://USER@HOST/DATABASE",
		"%s: found an address without a bucket, expected s3://BUCKET/KEY, gs://BUCKET/KEY or https://HOST/PATH",
		"%s:%d: found %s, expected a %s in 0..%d%s",
		"`Joined`: found %q, expected a node type, or an edge type by its three names",
		"%s: found a file, expected an output folder of graphmill, or the configuration of a partitioned graph (GRAPH_NAME.json)",
		"`Against` %s: found a collection, expected a store",
		"found benchmark %q, expected sample or batches",
		"found graph %q, expected rmat, community or like:NAME",
		"found no arguments, expected histograms (.csv) or collections",
		"found %d arguments, expected a SCHEMA and FILES",
		"found no arguments, expected a SCHEMA, and optionally FILES of Examples",
		"found %d arguments, expected %s",
		"found argument %q, expected none",
		"found no files, expected TFRecords of the schema",
		"found %q in `%s`, expected TYPE=COLUMN, separated by semicolons",
		"found features as %q, expected numpy or parquet",
		"found graph name %q, expected one that is not empty",
		"found component %q, expected one type among %s%s",
		"found component %q, expected num_nodes, num_edges, num_nodes:TYPE, num_edges:TYPE or an integer column of the context: %s%s",
		"found at most %d graphs per pack, expected 0 (no cap) to 2^31 - 1",
		"found alignments %v and costs %v, expected one positive number for each of %q",
		"multilevel: found preset %q, expected %s, %s or %s",
		"multilevel: found objective %q, expected %s or %s",
		"multilevel: found %d imbalances, expected 1, or one for each of %d constraints",
		"found %q in fanout, expected an edge type before =",
		"found half_life %v, expected an age above 0, in units of the column",
		"before: found window %v, expected a length above 0, in units of the columns",
		"found %s in %s, expected %s",
		"found seed_type %s, expected a node type, or a list of two",
		"found hops %d, expected as many as the ops have",
		"found hop %d, expected one from 1",
		"found value %q, expected true or false",
		"sampling op %q: found strategy %v, expected TOP_K, RANDOM_UNIFORM, RANDOM_WEIGHTED or LATEST_K",
		"found %s %g, expected chances from 0 to 1, together at most 1",
	},
	"what is expected has the advice, or the caller adds it": {
		"%s: found %s in column %q, expected %s",
		"found shape %v, expected one value per row",
		"found categories, expected times or numbers",
		"found dtype %s, expected int32, int64, uint32, float32 or float64",
	},
	"damage of a store, to which the command adds how to find all of it": {
		"%s: %s: %w: found offsets of %d edges, expected %d",
		"%s: %w: found %d edges, expected %d",
		"%w: found the neighbour %d at %d, expected one below %d",
		"%s: %w: found %d bytes with checksum %s, expected %d with %s",
		"seed_local: found ids of 64 bits, expected 32",
		"%s: found local ids of 64 bits, expected 32",
		"%s: found %d ids, expected %d of 32 bits",
		"example_form: found %d bytes per graph, expected %d for the %d keys of the schema",
		"edge type %s: found %d neighbours, expected %d",
		"edge type %s: found node %d, expected less than %d",
		"%s: found %d bytes in column %q, expected %d",
	},
	"no caller of a public function can get it": {
		"option rank: found %q, expected RANK/RANKS",
		"found no times of seeds and a plan with before, expected one time per seed",
		"found columns of %s %q, expected a type of the graph",
		"found an order of %d items, expected the %d seeds",
		"found %d sizes of %d shapes, expected %d each",
		"found %d limits, expected one for each of %q",
		"shape %v: found %d graphs in packs, expected %d",
		"graph %d: found %d sizes, expected %d",
		"found %d seeds, expected one for scope seed",
		"found epochs of %d batches of %d ids, expected batches of seeds",
		"found %d times for %d seeds, expected one per seed",
		"found %d records, expected the %d that the shards were planned for",
		"found scope %d and expand %d, expected named values",
		"op %d: found dir %d, expected a named value",
		"found how %d, expected a named value",
		"found subgraph %d, expected a named value",
	},
}
