package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/generate"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/option"
)

// optionsOf are the options of commands.
var optionsOf = map[string]any{
	"bench sample": option.Measure{}, "chunk": option.Chunk{}, "column add": option.Column{}, "column replace": option.Column{}, "dispatch": option.Dispatch{}, "export": option.Export{}, "export predictions": option.Predictions{}, "feed": option.Batches{},
	"forecast": option.Sample{}, "generate": option.Like{}, "generate community": option.Community{}, "generate rmat": option.RMAT{}, "import": option.Import{}, "pack": option.PackStream{},
	"pack fill": option.Fill{}, "pack hist": option.PackHistogram{}, "pack materialise": option.Materialise{}, "pack tables": option.ComparePacks{}, "pack tune": option.TunePacks{},
	"partition": option.Partition{}, "partition-graph": option.PartitionGraph{}, "sample": option.Unigraph{}, "tfgnn convert": option.UnigraphTables{},
	"tfgnn from-store": option.UnigraphTables{}, "tfgnn random": option.RandomRecords{}, "tfgnn stats": option.Statistics{}, "verify": option.Verify{}, "walk": option.Walk{},
}

// flagless are fields of options that commands have no flag of their own for, with what sets them.
var flagless = map[string]string{
	"Progress": "the terminal", "Warn": "the terminal", "Note": "the terminal", "CommandLine": "the arguments",
	"FanoutByType": "--fanout", "Ranks": "--rank", "Input": "the standard input", "More": "the arguments", "In": "the standard input", "Lines": "the standard output",
	"InEdgesOnly": "--out-edges", "Name": "the argument like:NAME",
}

// lacking are fields of the options of a command that it does not take, because they change nothing there.
var lacking = map[string][]string{
	"bench sample": {"Overwrite", "NoReport", "Epochs", "Shuffle", "Rank", "Ranks", "Ops", "NoEdgeIDs", "Executor"},
	"feed":         {"Overwrite", "NoReport", "Epoch", "Epochs", "Rank", "Ranks", "Texts"}, // the client asks for epochs and batches, and has the store
	"forecast":     {"Overwrite", "NoReport", "Shards", "Name", "Gzip", "IDs", "GraphSchema", "Resume", "CheckpointEvery"},
	"pack hist":    {"Threads", "Memory", "Overwrite", "NoReport"},
	"pack tables":  {"Memory", "Overwrite", "NoReport"}, "verify": {"Memory", "Overwrite", "NoReport"},
	"pack fill": {"Memory"}, "pack materialise": {"Memory"}, "pack tune": {"Memory", "NoReport"}, "tfgnn random": {"Memory"}, "tfgnn stats": {"Memory", "NoReport"},
	"export predictions": {"NoReport"}, "column add": {"Memory", "Overwrite"}, "column replace": {"Memory", "Overwrite"},
	"chunk": {"Memory"}, "tfgnn convert": {"Memory"}, "tfgnn from-store": {"Memory", "Missing", "AllowOutside"},
}

// otherNames are the flags of a command that have another name than elsewhere.
var otherNames = map[string]map[string]string{"tfgnn from-store": {"To": "format"}}

// flagOf is the flag of a field, nil for none.
func flagOf(flags *pflag.FlagSet, command, name string) *pflag.Flag {
	if flag := otherNames[command][name]; flag != "" {
		return flags.Lookup(flag)
	}
	flag := options.Flags("`"+name+"`", func(string) bool { return true })
	flag, _, _ = strings.Cut(strings.TrimPrefix(flag, "--"), "=")
	return flags.Lookup(flag)
}

// optionDocs are what the comments of package option say about its fields and choices.
type optionDocs struct {
	defaults map[string]string   // of fields, by "Struct.Field"
	choices  map[string][]string // by type; the default is the first
}

var defaultText = regexp.MustCompile(`(?:^|[;.:] )(?:0|"") is (?:about )?("?)([A-Za-z0-9.,:-]+?)("?)(?:[,;.]? |[,;.]?$)`)

func readOptions(t *testing.T) optionDocs {
	d := optionDocs{map[string]string{}, map[string][]string{}}
	set := token.NewFileSet()
	entries, err := os.ReadDir("../../option")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, "../../option/"+e.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				s, ok := n.Type.(*ast.StructType)
				if !ok {
					return true
				}
				for _, f := range s.Fields.List {
					m := defaultText.FindStringSubmatch(strings.ReplaceAll(f.Doc.Text()+f.Comment.Text(), "\n", " "))
					for _, name := range f.Names {
						if m != nil && len(f.Names) == 1 && m[2] != "no" && (m[1] != "" || m[2][0] >= '0' && m[2][0] <= '9') {
							d.defaults[n.Name.Name+"."+name.Name] = strings.TrimSuffix(m[2], ",")
						}
					}
				}
			case *ast.ValueSpec:
				of, ok := n.Type.(*ast.Ident)
				if !ok || len(n.Values) != 1 {
					return true
				}
				if v, ok := n.Values[0].(*ast.BasicLit); ok {
					all, value := d.choices[of.Name], strings.Trim(v.Value, `"`)
					if strings.Contains(n.Doc.Text()+n.Comment.Text(), "The default") {
						all = slices.Insert(all, 0, value)
					} else {
						all = append(all, value)
					}
					d.choices[of.Name] = all
				}
			}
			return true
		})
	}
	return d
}

// Each field of options has a flag in the commands that take the options; its choices are constants of package option, and the default that
// its help shows is the one that package option documents.
func TestFlagsOfOptions(t *testing.T) {
	d := readOptions(t)
	compared := 0
	cli.Walk(newRoot(&cli.Terminal{Stdout: io.Discard, Stderr: io.Discard}), func(cmd *cobra.Command) {
		_, command, _ := strings.Cut(cmd.CommandPath(), " ")
		o := optionsOf[command]
		if o == nil {
			return
		}
		for _, f := range reflect.VisibleFields(reflect.TypeOf(o)) {
			if f.Type.Kind() == reflect.Struct || flagless[f.Name] != "" || slices.Contains(lacking[command], f.Name) {
				continue
			}
			flag := flagOf(cmd.Flags(), command, f.Name)
			if flag == nil {
				t.Errorf("%s: found no flag for %s", command, f.Name)
				continue
			}
			compared++
			if known := d.choices[f.Type.Name()]; f.Type.PkgPath() != "" && known != nil {
				choices := cli.ChoicesOf(flag)
				for _, c := range choices {
					if !slices.Contains(known, c) {
						t.Errorf("%s --%s: found the choice %s, expected one of %s %v", command, flag.Name, c, f.Type.Name(), known)
					}
				}
				if len(choices) == 0 {
					t.Errorf("%s --%s: found no choices, expected some of %v", command, flag.Name, known)
				}
			}
			owner := reflect.TypeOf(o)
			for _, i := range f.Index[:len(f.Index)-1] {
				owner = owner.Field(i).Type
			}
			if want := d.defaults[owner.Name()+"."+f.Name]; want != "" {
				text := flag.Usage + " (default: " + strings.Trim(flag.DefValue, "[]") + ")"
				if flag.DefValue == want || strings.Contains(text, want) {
					continue
				}
				t.Errorf("%s --%s: found the default %q in the help, expected %q of %s.%s", command, flag.Name, flag.DefValue, want, owner.Name(), f.Name)
			}
		}
	})
	if compared < 300 {
		t.Errorf("found %d flags of options, expected more", compared)
	}
}

// The rows of options name the choices that the library lists.
func TestListedChoices(t *testing.T) {
	root := newRoot(&cli.Terminal{Stdout: io.Discard, Stderr: io.Discard})
	cmd, _, err := root.Find([]string{"pack"})
	if err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string][]string{"method": pack.Methods, "heuristic": append(slices.Clone(pack.HeuristicNames), "weighted:")} {
		if got := cli.ChoicesOf(cmd.Flags().Lookup(flag)); !slices.Equal(got, want) {
			t.Errorf("found the choices %v of pack --%s, expected %v", got, flag, want)
		}
	}
	if want := generate.Shapes(); !slices.Equal(options.LikeNames, want) {
		t.Errorf("found the data sets %v of generate, expected %v", options.LikeNames, want)
	}
}

// ofClient are keywords of NodeLoader that its feed has no flag for: the client does these things itself.
var ofClient = []string{"as_", "cache", "coverage", "device", "drop_last", "edge_label", "label", "pin_memory", "rank", "share", "store", "tail", "transform", "words", "world_size"}

// ofFeed are the flags of feed that other keywords give.
var ofFeed = map[string]string{"x": "joined", "edge_attr": "joined", "edge_ids": "no-edge-ids", "subgraph_type": "subgraph"}

// clientless are flags of feed that the loaders of the Python client set by themselves, or that are for people.
var clientless = []string{"color", "help", "help-all", "joining", "json", "kept", "lifeline", "narrow-ids", "ops", "quiet", "seeds-alone", "verbose"}

// Each keyword of NodeLoader is a flag of feed, and each flag of feed a keyword.
func TestKeywordsOfFlags(t *testing.T) {
	root := newRoot(&cli.Terminal{Stdout: io.Discard, Stderr: io.Discard})
	feed, _, err := root.Find([]string{"feed"})
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../python/src/graphmill/_loader.py")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(source), "def __init__(\n        self,\n")
	text, _, found := strings.Cut(text, ") -> None:")
	if !found {
		t.Fatal("found no NodeLoader.__init__ in _loader.py")
	}
	flags := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^        \**(\w+):`).FindAllStringSubmatch(text, -1) {
		if name := m[1]; !slices.Contains(ofClient, name) {
			flag := strings.ReplaceAll(name, "_", "-")
			if other := ofFeed[name]; other != "" {
				flag = other
			}
			if flags[flag] = true; feed.Flags().Lookup(flag) == nil {
				t.Errorf("found the keyword %s=, and no flag --%s of feed", name, flag)
			}
		}
	}
	feed.Flags().VisitAll(func(f *pflag.Flag) {
		if !flags[f.Name] && !slices.Contains(clientless, f.Name) {
			t.Errorf("found the flag --%s of feed, and no keyword of NodeLoader", f.Name)
		}
	})
	if len(flags) < 45 {
		t.Errorf("found %d keywords, expected more", len(flags))
	}
}
