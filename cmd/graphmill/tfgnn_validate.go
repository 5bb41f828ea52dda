package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/internal/human"
)

// validateFlags are the flags of tfgnn validate.
type validateFlags struct {
	spec, dataPath          string
	tables, outside, asJSON bool
}

func newTFGNNValidate(t *terminal) *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate SCHEMA",
		Short: "Find every fault of a schema, a sampling spec, and the names of tables",
		Long: `Checks a GraphSchema, text or binary, or that of a folder: all that TF-GNN
refuses, and what it lets pass though Examples cannot hold it, such as sizes of
0 or features whose keys are the same. Prints the features and their keys.
Each fault names its field, and its line where the schema is text.`,
		Example: `  graphmill tfgnn validate schema.pbtxt
  graphmill tfgnn validate graph/ --tables                     also: are all tables and shards there?
  graphmill tfgnn validate schema.pbtxt --spec sampling_spec.pbtxt
  graphmill tfgnn validate schema.pb --json | jq .faults`,
		Args: oneArg("one SCHEMA"),
		RunE: func(_ *cobra.Command, args []string) error { return t.validate(args[0], &f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.spec, "spec", "", "sampling spec to check against the schema")
	fs.BoolVar(&f.tables, "tables", false, "check that the tables that the schema names exist, all shards of them")
	fs.StringVar(&f.dataPath, "data-path", "", "folder of the tables (default: that of the schema)")
	fs.BoolVar(&f.outside, "allow-outside", false, "allow tables outside of the folder")
	fs.BoolVar(&f.asJSON, "json", false, "print one JSON object on stdout")
	return cmd
}

// validated is what tfgnn validate prints.
type validated struct {
	Schema   string          `json:"schema"`
	Binary   bool            `json:"binary"`
	Valid    bool            `json:"valid"`
	Faults   []*tfgnn.Fault  `json:"faults"`
	Warnings []*tfgnn.Fault  `json:"warnings"`
	Features []tfgnn.Feature `json:"features"`
	Tables   []tfgnn.Table   `json:"tables,omitempty"`

	message *tfgnnpb.GraphSchema
}

func (t *terminal) validate(path string, f *validateFlags) error {
	schema, err := tfgnn.OpenSchema(fsx.OS, path)
	if err != nil {
		return err
	}
	v := validated{Schema: schema.Name, Binary: schema.Binary, Features: tfgnn.Features(schema.Message), message: schema.Message}
	if f.tables {
		v.Tables = tfgnn.OpenTables(fsx.OS, schema, f.dataPath, f.outside)
	}
	v.Faults, v.Warnings = append([]*tfgnn.Fault{}, schema.Faults...), append([]*tfgnn.Fault{}, schema.Warnings...)
	if f.spec != "" {
		spec, err := tfgnn.OpenSpec(fsx.OS, f.spec, schema.Message)
		if err != nil {
			return err
		}
		v.Faults, v.Warnings = append(v.Faults, spec.Faults...), append(v.Warnings, spec.Warnings...)
	}
	v.Valid = len(v.Faults) == 0
	if f.asJSON {
		e := json.NewEncoder(t.stdout)
		e.SetIndent("", " ")
		e.SetEscapeHTML(false)
		err = e.Encode(v)
	} else {
		err = t.printValidated(&v)
	}
	if err == nil && !v.Valid {
		return errTold
	}
	return err
}

func (t *terminal) printValidated(v *validated) error {
	for _, w := range v.Warnings {
		t.warn("warning: %s", human.Printable(w.Error()))
	}
	for _, f := range v.Faults {
		t.warn("%s", human.Printable(f.Error()))
	}
	w := tabwriter.NewWriter(t.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SET\tFEATURE\tDTYPE\tSHAPE\tKEYS")
	row := func(set, feature, dtype, shape string, keys ...string) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", human.Printable(set), human.Printable(feature), dtype, shape, human.Printable(strings.Join(keys, " ")))
	}
	features := v.Features
	list := func(kind, set string) {
		for ; len(features) > 0 && features[0].Kind == kind && features[0].Set == set; features = features[1:] {
			f := features[0]
			row("", f.Name, f.DType, fmt.Sprint(f.Shape), append([]string{f.Key}, f.Lengths...)...)
		}
	}
	if len(v.message.GetContext().GetFeatures()) > 0 {
		row("context", "", "", "")
	}
	list("context", "")
	for _, set := range tfgnn.Sets(v.message.NodeSets) {
		row("nodes "+set, "", "", "", tfgnn.FeatureKey("nodes", set, tfgnn.SizeName))
		list("nodes", set)
	}
	for _, set := range tfgnn.Sets(v.message.EdgeSets) {
		e := v.message.EdgeSets[set]
		row(fmt.Sprintf("edges %s (%s to %s)", set, e.GetSource(), e.GetTarget()), "", "", "", tfgnn.FeatureKey("edges", set, tfgnn.SizeName),
			tfgnn.FeatureKey("edges", set, tfgnn.SourceName), tfgnn.FeatureKey("edges", set, tfgnn.TargetName))
		list("edges", set)
	}
	if len(v.Tables) > 0 {
		fmt.Fprintln(w, "\nTABLE OF\tFILES\tNAME")
	}
	for _, table := range v.Tables {
		fmt.Fprintf(w, "%s\t%s\t%s\n", human.Printable(strings.TrimSpace(table.Kind+" "+table.Set)), human.Exact(int64(len(table.Files))), human.Printable(table.Filename))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	verdict := "valid"
	if !v.Valid {
		verdict = fmt.Sprintf("found %d %s", len(v.Faults), plural(len(v.Faults), "fault"))
	}
	_, err := fmt.Fprintf(t.stdout, "\n%s: %s\n", human.Printable(v.Schema), verdict)
	return err
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
