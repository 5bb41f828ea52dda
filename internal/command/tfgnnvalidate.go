package command

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation/surveying"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// validateFlags has the flags of tfgnn validate.
type validateFlags struct {
	CommonFlags
	spec, dataPath  string
	tables, outside bool
}

func newTFGNNValidate(t *cli.Terminal) *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate SCHEMA [FILES...]",
		Short: "Find every fault of a schema, of a sampling spec, and of Examples",
		Long: `Checks a GraphSchema, in text or binary form, or the schema in a folder. It finds all
faults that TF-GNN refuses, and also those that TF-GNN accepts although Examples cannot
hold them, such as sizes of 0 or two features with the same key. It prints the features
and their keys. Each fault names its field and, in a text schema, its line.

With FILES (paths, globs, base@N) it reads TFRecords, and lists the Examples that are
not valid GraphTensors of the schema: sources or destinations out of range, sizes that
disagree, values of another kind.`,
		Example: `  graphmill tfgnn validate schema.pbtxt
  graphmill tfgnn validate graph/ --tables  # also check that all tables and shards exist
  graphmill tfgnn validate schema.pbtxt --spec sampling_spec.pbtxt
  graphmill tfgnn validate schema.pbtxt samples.tfrecord@8  # also check every Example of these files
  graphmill tfgnn validate schema.pb --json | jq .faults`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("found no arguments, expected a SCHEMA, and optionally FILES of Examples")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			return validateFiles(cmd.Context(), t, args[0], args[1:], &f)
		},
	}
	f.AddThreads(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.spec, "spec", "", "sampling spec to check against the schema")
	fs.BoolVar(&f.tables, "tables", false, "check that all tables that the schema names exist, with all their shards")
	fs.StringVar(&f.dataPath, "data-path", "", "folder of the tables (default: folder of the schema)")
	fs.BoolVar(&f.outside, "allow-outside", false, "let the schema name files outside its folder")
	cli.Named(fs, "FILE", "spec")
	cli.Folders(fs, "data-path")
	cli.Group(fs, options.GroupCheck, "spec", "tables", "data-path", "allow-outside")
	return cmd
}

// validation is the result of tfgnn validate.
type validation struct {
	Schema   string                   `json:"schema"`
	Binary   bool                     `json:"binary"`
	Valid    bool                     `json:"valid"`
	Faults   []*tfgnn.Fault           `json:"faults"`
	Warnings []*tfgnn.Fault           `json:"warnings"`
	Features []tfgnn.Feature          `json:"features"`
	Tables   []tfgnn.Table            `json:"tables,omitempty"`
	Examples *surveying.ValidExamples `json:"examples,omitempty"`

	message *tfgnnpb.GraphSchema
}

func validateFiles(ctx context.Context, t *cli.Terminal, path string, args []string, f *validateFlags) error {
	schema, err := tfgnnfiles.OpenSchema(vfs.OS, path)
	if err != nil {
		return err
	}
	v := validation{Schema: schema.Name, Binary: schema.Binary, Features: tfgnn.Features(schema.Message), message: schema.Message}
	if f.tables {
		v.Tables = tfgnnfiles.OpenTables(vfs.OS, schema, f.dataPath, f.outside)
	}
	v.Faults, v.Warnings = append([]*tfgnn.Fault{}, schema.Faults...), append([]*tfgnn.Fault{}, schema.Warnings...)
	if f.spec != "" {
		spec, err := tfgnnfiles.OpenSpec(vfs.OS, f.spec, schema.Message)
		if err != nil {
			return err
		}
		v.Faults, v.Warnings = append(v.Faults, spec.Faults...), append(v.Warnings, spec.Warnings...)
	}
	v.Valid = len(v.Faults) == 0
	if len(args) > 0 && schema.Err() == nil {
		if v.Examples, err = surveying.ValidateExamples(ctx, schema.Message, args, f.Run(t)); err != nil {
			return err
		}
		v.Valid = v.Valid && v.Examples.Refused == 0
	}
	if f.AsJSON {
		err = printJSON(t, v)
	} else {
		err = printValidation(t, &v)
	}
	if err == nil && !v.Valid {
		return cli.ErrTold
	}
	return err
}

func printValidation(t *cli.Terminal, v *validation) error {
	for _, w := range v.Warnings {
		t.Warn(human.Printable(w.Error()))
	}
	for _, f := range v.Faults {
		t.Say("%s", human.Printable(f.Error()))
	}
	if e := v.Examples; e != nil {
		for _, r := range e.Refusals {
			t.Say("%s", human.Printable(r))
		}
		if len(e.UnknownKeys) > 0 {
			t.Say("warning: found keys that the schema does not have: %s", human.Printable(strings.Join(e.UnknownKeys, ", ")))
		}
	}
	w := tabwriter.NewWriter(t.Stdout, 0, 0, 2, ' ', 0)
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
	if n := len(v.Faults); n > 0 {
		verdict = fmt.Sprintf("found %d %s", n, plural(n, "fault"))
	}
	if _, err := fmt.Fprintf(t.Stdout, "\n%s: %s\n", human.Printable(v.Schema), verdict); err != nil || v.Examples == nil {
		return err
	}
	_, err := fmt.Fprintf(t.Stdout, "Examples: %s valid, %s refused\n", human.Exact(int64(v.Examples.Valid)), human.Exact(int64(v.Examples.Refused)))
	return err
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
