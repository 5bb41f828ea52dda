package cli

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
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
func ChoicesOf(f *pflag.Flag) []string { return f.Annotations[choiceNote] }

// Named declares the name of the value of flags in the help.
func Named(fs *pflag.FlagSet, value string, names ...string) {
	annotate(fs, valueNote, []string{value}, names...)
}

// Folders declares flags whose values are folders.
func Folders(fs *pflag.FlagSet, names ...string) {
	annotate(fs, cobra.BashCompSubdirsInDir, []string{}, names...)
	Named(fs, "FOLDER", names...)
}

// folders are the words for arguments that are folders.
var folders = []string{"STORE", "FOLDER", "COLLECTION", "LAYOUT", "DIR", "CHUNKED", "PARTS"}

// complete registers the completions of a command: for its flags, and folders for arguments that are folders.
func complete(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		v := values{flag: f.Name, choices: ChoicesOf(f), kind: options.Kind(noted(f, kindNote))}
		if f.Value.Type() == "bool" || len(v.choices) == 0 && v.kind == "" {
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, v.complete); err != nil { // a flag twice
			panic(err)
		}
	})
	_, arguments, has := strings.Cut(cmd.Use, " ")
	if !has || cmd.ValidArgsFunction != nil {
		return
	}
	for word := range strings.FieldsFuncSeq(arguments, func(r rune) bool { return r == ' ' || r == '|' }) {
		if !slices.Contains(folders, word) {
			return
		}
	}
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
}

// values are the values that a flag completes to.
type values struct {
	flag    string
	choices []string
	kind    options.Kind
}

// complete lists the values that begin with what is typed. Where the values are a list, it completes the last element, by none that is
// there.
func (v *values) complete(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	before, marks := "", separators(v.kind)
	if at := strings.LastIndexAny(typed, marks); at >= 0 {
		before = typed[:at+1]
	}
	given := strings.FieldsFunc(before, func(r rune) bool { return strings.ContainsRune(marks, r) })
	var out []string
	for _, name := range v.names(before, args) {
		if strings.HasPrefix(before+name, typed) && !slices.Contains(given, name) {
			out = append(out, before+name)
		}
	}
	switch {
	case v.flag == "seeds" && len(out) == 0:
		return out, cobra.ShellCompDirectiveDefault // a file
	case v.kind == options.Fanouts || v.kind == options.ComponentsAmounts || v.kind == options.Orders:
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace // a number or name follows
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// names are the choices, and the names in the store that is the first argument. before is the list up to the element that is typed.
func (v *values) names(before string, args []string) (names []string) {
	if before == "" { // a choice is no element of a list
		names = slices.Clone(v.choices)
	}
	if v.kind == "" || len(args) == 0 {
		return names
	}
	if meta := readMeta(args[0]); meta != nil {
		names = append(names, namesOf(v.kind, meta)...)
	}
	return names
}

// separators are the characters that may separate the values of a list.
func separators(k options.Kind) string {
	switch k {
	case options.EdgeTypes, options.NodeColumns, options.EdgeColumns, options.Components:
		return ","
	case options.Fanouts, options.NodeAssignments, options.EdgeAssignments, options.Assignments:
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

// namesOf are the values of a kind in a store, in byte order.
func namesOf(k options.Kind, m *store.Meta) []string {
	nodes, edges := slices.Sorted(maps.Keys(m.Nodes)), slices.Sorted(maps.Keys(m.Edges))
	relations := relationsOf(edges)
	switch k {
	case options.NodeTypes:
		return nodes
	case options.EdgeTypes:
		return relations
	case options.Types:
		return append(nodes, edges...)
	case options.NodeColumns:
		return columnsOf(m, false, true)
	case options.EdgeColumns:
		return columnsOf(m, true, true)
	case options.EdgeColumn:
		return columnsOf(m, true, false)
	case options.Fanouts:
		return framed(relations, "", "=")
	case options.Reverses:
		return framed(relations, "reverse:", "")
	case options.Orders:
		names := columnsOf(m, false, false)
		return append(framed(names, "weighted:", ""), framed(names, "stratified:", "")...)
	case options.Components:
		return componentsOf(m)
	case options.ComponentsAmounts:
		return framed(componentsOf(m), "", "=")
	case options.Assignments:
		return append(namesOf(options.NodeAssignments, m), namesOf(options.EdgeAssignments, m)...)
	case options.NodeAssignments:
		var out []string
		for _, t := range nodes {
			out = append(out, framed(visible(m.Nodes[t].Columns, false), t+"=", "")...)
		}
		return out
	case options.EdgeAssignments:
		var out []string
		for _, t := range edges {
			out = append(out, framed(visible(m.Edges[t].Columns, false), t+"=", "")...)
		}
		return out
	}
	return nil
}

// TypesOf returns the node and edge types of a store that begin with what is typed.
func TypesOf(dir, typed string) (out []string) {
	meta := readMeta(dir)
	if meta == nil {
		return nil
	}
	return slices.DeleteFunc(namesOf(options.Types, meta), func(name string) bool { return !strings.HasPrefix(name, typed) })
}

// ColumnsOf returns the columns of a type of a store that begin with what is typed.
func ColumnsOf(dir, typ, typed string) (out []string) {
	meta := readMeta(dir)
	if meta == nil {
		return nil
	}
	var columns map[string]store.ColumnMeta
	if n := meta.Nodes[typ]; n != nil {
		columns = n.Columns
	} else if e := meta.Edges[typ]; e != nil {
		columns = e.Columns
	}
	return slices.DeleteFunc(visible(columns, true), func(name string) bool { return !strings.HasPrefix(name, typed) })
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
		out = append(out, framed(slices.Sorted(maps.Keys(m.Nodes)), "num_nodes:", "")...)
		out = append(out, framed(slices.Sorted(maps.Keys(m.Edges)), "num_edges:", "")...)
	}
	if m.Context != nil {
		out = append(out, visible(m.Context.Columns, false)...)
	}
	return out
}

// framed puts texts around names.
func framed(names []string, before, after string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = before + name + after
	}
	return out
}
