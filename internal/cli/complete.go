package cli

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Kind says which names complete the value of a flag. A shell takes them from the graph.json of the store that is the first argument.
type Kind string

// The kinds of values.
const (
	NodeTypes         Kind = "node types"
	EdgeTypes         Kind = "edge types"              // a list
	Types             Kind = "types"                   // of nodes or edges
	NodeColumns       Kind = "node columns"            // a list
	EdgeColumns       Kind = "edge columns"            // a list
	EdgeColumn        Kind = "edge column"             // a numeric one
	Fanouts           Kind = "fanouts"                 // RELATION=N,N;RELATION=N,N
	NodeAssignments   Kind = "TYPE=COLUMN of nodes"    // a list
	EdgeAssignments   Kind = "TYPE=COLUMN of edges"    // a list
	Reverses          Kind = "reverse:RELATION"        // of one
	Orders            Kind = "weighted:COLUMN"         // and others
	Components        Kind = "components"              // of packs, a list
	ComponentsAmounts Kind = "components with amounts" // COMPONENT=N
)

// Choices declares the values that a flag takes: its completions and, where the list is short, the name of its value in the help.
func Choices[T ~string](fs *pflag.FlagSet, name string, values ...T) {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	annotate(fs, choiceNote, texts, name)
}

// ChoicesOf returns the values that a flag takes, or none where they are not known.
func ChoicesOf(f *pflag.Flag) []string {
	if choices := f.Annotations[choiceNote]; len(choices) > 0 {
		return choices
	}
	if kind := f.Value.Type(); strings.Contains(kind, "|") {
		return strings.Split(kind, "|")
	}
	return nil
}

// Values declares flags whose values name something in the store, and the name of the value in the help.
func Values(fs *pflag.FlagSet, kind Kind, value string, names ...string) {
	annotate(fs, kindNote, []string{string(kind)}, names...)
	Named(fs, value, names...)
}

// Named declares the name of the value of flags in the help.
func Named(fs *pflag.FlagSet, value string, names ...string) {
	annotate(fs, valueNote, []string{value}, names...)
}

// Folders declares flags whose values are folders.
func Folders(fs *pflag.FlagSet, names ...string) {
	annotate(fs, cobra.BashCompSubdirsInDir, []string{}, names...)
	Named(fs, "FOLDER", names...)
}

// Files declares flags whose values are files.
func Files(fs *pflag.FlagSet, names ...string) { Named(fs, "FILE", names...) }

// folders are the words for arguments that are folders.
var folders = []string{"STORE", "FOLDER", "COLLECTION", "LAYOUT", "DIR", "CHUNKED", "PARTS"}

// complete registers the completions of a command: for its flags, and folders for arguments that are folders.
func complete(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		choices, kind := ChoicesOf(f), Kind(noted(f, kindNote))
		if f.Value.Type() == "bool" || len(choices) == 0 && kind == "" {
			return
		}
		err := cmd.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			next := cobra.ShellCompDirectiveNoFileComp
			before, separators := "", kind.separators()
			if at := strings.LastIndexAny(typed, separators); at >= 0 {
				before = typed[:at+1]
			}
			values := choices
			if before != "" {
				values = nil // a choice is no element of a list
			}
			if kind != "" && len(args) > 0 {
				if meta := readMeta(args[0]); meta != nil {
					values = append(slices.Clone(values), kind.values(meta)...)
				}
			}
			given := strings.FieldsFunc(before, func(r rune) bool { return strings.ContainsRune(separators, r) })
			var out []string
			for _, v := range values {
				if strings.HasPrefix(before+v, typed) && !slices.Contains(given, v) {
					out = append(out, before+v)
				}
			}
			if kind == Fanouts || kind == ComponentsAmounts || kind == Orders {
				next |= cobra.ShellCompDirectiveNoSpace // a number or name follows
			}
			if f.Name == "seeds" && len(out) == 0 {
				next = cobra.ShellCompDirectiveDefault // a file
			}
			return out, next
		})
		if err != nil { // a flag twice
			panic(err)
		}
	})
	if _, arguments, has := strings.Cut(cmd.Use, " "); has && cmd.ValidArgsFunction == nil {
		for word := range strings.FieldsFuncSeq(arguments, func(r rune) bool { return r == ' ' || r == '|' }) {
			if !slices.Contains(folders, word) {
				return
			}
		}
		cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	}
}

// separators are the characters that may separate the values of a list.
func (k Kind) separators() string {
	switch k {
	case EdgeTypes, NodeColumns, EdgeColumns, Components:
		return ","
	case Fanouts, NodeAssignments, EdgeAssignments:
		return ";"
	}
	return ""
}

// mostCompleted bounds the size of a graph.json that is read for completions.
const mostCompleted = 16 << 20

// readMeta reads the graph.json of a store or collection in a folder of this machine. It returns nil if it cannot.
func readMeta(dir string) *store.Meta {
	if vfs.Scheme(dir) != "" {
		return nil
	}
	b, err := vfs.ReadFile(vfs.OS, filepath.Join(dir, store.MetaFile), mostCompleted)
	if err != nil {
		return nil
	}
	return parseMeta(b)
}

// parseMeta is the metadata in a graph.json. It returns nil if there are none.
func parseMeta(b []byte) *store.Meta {
	var m store.Meta
	if json.Unmarshal(b, &m) != nil {
		return nil
	}
	maps.DeleteFunc(m.Nodes, func(_ string, n *store.NodesMeta) bool { return n == nil })
	maps.DeleteFunc(m.Edges, func(_ string, e *store.EdgesMeta) bool { return e == nil })
	return &m
}

// values are the values of the kind in a store, in byte order.
func (k Kind) values(m *store.Meta) []string {
	nodes, edges := slices.Sorted(maps.Keys(m.Nodes)), slices.Sorted(maps.Keys(m.Edges))
	relations := relationsOf(edges)
	switch k {
	case NodeTypes:
		return nodes
	case EdgeTypes:
		return relations
	case Types:
		return append(nodes, edges...)
	case NodeColumns:
		return columnsOf(m, false, true)
	case EdgeColumns:
		return columnsOf(m, true, true)
	case EdgeColumn:
		return columnsOf(m, true, false)
	case Fanouts:
		return each(relations, "", "=")
	case Reverses:
		return each(relations, "reverse:", "")
	case Orders:
		names := columnsOf(m, false, false)
		return append(each(names, "weighted:", ""), each(names, "stratified:", "")...)
	case Components:
		return componentsOf(m)
	case ComponentsAmounts:
		return each(componentsOf(m), "", "=")
	case NodeAssignments:
		var out []string
		for _, t := range nodes {
			out = append(out, each(visible(m.Nodes[t].Columns, false), t+"=", "")...)
		}
		return out
	case EdgeAssignments:
		var out []string
		for _, t := range edges {
			out = append(out, each(visible(m.Edges[t].Columns, false), t+"=", "")...)
		}
		return out
	}
	return nil
}

// relationsOf returns the shortest names of edge types: REL where one type has it, else SRC:REL:DST.
func relationsOf(edges []string) []string {
	short := func(t string) string {
		if parts := strings.Split(t, ":"); len(parts) == 3 {
			return parts[1]
		}
		return t
	}
	of := map[string]int{}
	for _, t := range edges {
		of[short(t)]++
	}
	out := make([]string, len(edges))
	for i, t := range edges {
		out[i] = t
		if of[short(t)] == 1 {
			out[i] = short(t)
		}
	}
	slices.Sort(out)
	return out
}

// visible returns the names of columns that a user named. Without texts, only columns of numbers.
func visible(columns map[string]store.ColumnMeta, texts bool) []string {
	var out []string
	for name, c := range columns {
		if !strings.HasPrefix(name, "#") && (texts || c.DType != "string") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// columnsOf returns the names of the columns of all edge types, or of all node types.
func columnsOf(m *store.Meta, edges, texts bool) []string {
	all := map[string]bool{}
	if edges {
		for _, t := range m.Edges {
			for _, name := range visible(t.Columns, texts) {
				all[name] = true
			}
		}
	} else {
		for _, t := range m.Nodes {
			for _, name := range visible(t.Columns, texts) {
				all[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// componentsOf returns the components of packs of a collection.
func componentsOf(m *store.Meta) []string {
	out := []string{"num_nodes", "num_edges"}
	if len(m.Nodes) > 1 || len(m.Edges) > 1 {
		out = append(out, each(slices.Sorted(maps.Keys(m.Nodes)), "num_nodes:", "")...)
		out = append(out, each(slices.Sorted(maps.Keys(m.Edges)), "num_edges:", "")...)
	}
	if m.Context != nil {
		out = append(out, visible(m.Context.Columns, false)...)
	}
	return out
}

// each puts texts around names.
func each(names []string, before, after string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = before + name + after
	}
	return out
}
