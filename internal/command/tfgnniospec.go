package command

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/options"
)

func newTFGNNIOSpec(t *cli.Terminal) *cobra.Command {
	var asJSON, python bool
	cmd := &cobra.Command{
		Use:   "io-spec SCHEMA",
		Short: "Print the keys, dtypes and ragged partitions that a parser of the Examples needs",
		Long: `Lists the keys of the Examples of a schema as tf.io parses them: dense keys of a fixed
length, and ragged keys with a partition per dimension, which is a key of row lengths
or a fixed length. The content is that of tfgnn.get_io_spec.`,
		Example: `  graphmill tfgnn io-spec schema.pbtxt
  graphmill tfgnn io-spec schema.pbtxt --json
  graphmill tfgnn io-spec schema.pbtxt --python > features.py  # for tf.io.parse_example, without TF-GNN`,
		Args: cli.OneArg("one SCHEMA"),
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON && python {
				return cli.Usagef("found --json and --python, expected one of them")
			}
			codec, err := openCodec(t, args[0])
			if err != nil {
				return err
			}
			spec := codec.IOSpec()
			switch {
			case asJSON:
				return printJSON(t, ioKeys(spec))
			case python:
				return writeIOSpecPython(t.Stdout, spec)
			}
			return writeIOSpec(t.Stdout, spec)
		},
	}
	addJSON(cmd, &asJSON, "print JSON on stdout")
	cmd.Flags().BoolVar(&python, "python", false, "print the features argument of tf.io.parse_single_example, as Python")
	cli.Group(cmd.Flags(), options.GroupOutput, "python")
	return cmd
}

// ioKey is one key, as JSON.
type ioKey struct {
	Key        string        `json:"key"`
	DType      string        `json:"dtype"`
	Kind       string        `json:"kind"` // "fixed" or "ragged"
	Shape      []int         `json:"shape,omitempty"`
	Default    *int          `json:"default,omitempty"`
	RowSplits  string        `json:"row_splits_dtype,omitempty"`
	Partitions []ioPartition `json:"partitions,omitempty"`
}

type ioPartition struct {
	RowLengths string `json:"row_lengths,omitempty"`        // key of the row lengths; "" with Uniform
	Uniform    int    `json:"uniform_row_length,omitempty"` // fixed length of every row
}

func ioKeys(spec []example.IOFeature) []ioKey {
	keys := []ioKey{}
	for _, f := range spec {
		k := ioKey{Key: f.Key, DType: f.DType.String(), Kind: "ragged"}
		if f.Fixed {
			k.Kind, k.Shape = "fixed", f.Shape
			if f.Zero {
				k.Default = new(int)
			}
		} else {
			k.RowSplits = f.RowSplits.String()
		}
		for _, p := range f.Partitions {
			k.Partitions = append(k.Partitions, ioPartition{p.Key, p.Length})
		}
		keys = append(keys, k)
	}
	return keys
}

func writeIOSpec(out io.Writer, spec []example.IOFeature) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tDTYPE\tKIND\tSHAPE OR PARTITIONS")
	for _, f := range spec {
		kind, what := "ragged", ""
		if f.Fixed {
			kind, what = "fixed", fmt.Sprint(f.Shape)
			if f.Zero {
				what += ", 0 where absent"
			}
		}
		var parts []string
		for _, p := range f.Partitions {
			if p.Key == "" {
				parts = append(parts, fmt.Sprint(p.Length))
			} else {
				parts = append(parts, p.Key)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", human.Printable(f.Key), f.DType, kind, what+human.Printable(strings.Join(parts, ", ")))
	}
	return w.Flush()
}

// writeIOSpecPython prints the spec as an expression of tf.io.
func writeIOSpecPython(out io.Writer, spec []example.IOFeature) error {
	var b strings.Builder
	b.WriteString("# The features argument of tf.io.parse_single_example.\nimport tensorflow as tf\n\nFEATURES = {\n")
	for _, f := range spec {
		fmt.Fprintf(&b, "    %s: ", pythonString(f.Key))
		if f.Fixed {
			var dims strings.Builder
			for _, d := range f.Shape {
				fmt.Fprintf(&dims, "%d, ", d)
			}
			fmt.Fprintf(&b, "tf.io.FixedLenFeature((%s), %s", strings.TrimSuffix(dims.String(), " "), pythonType(f.DType))
			if f.Zero {
				b.WriteString(", [0]")
			}
		} else {
			fmt.Fprintf(&b, "tf.io.RaggedFeature(%s, value_key=%s, partitions=[", pythonType(f.DType), pythonString(f.Key))
			for i, p := range f.Partitions {
				if i > 0 {
					b.WriteString(", ")
				}
				if p.Key == "" {
					fmt.Fprintf(&b, "tf.io.RaggedFeature.UniformRowLength(%d)", p.Length)
				} else {
					fmt.Fprintf(&b, "tf.io.RaggedFeature.RowLengths(%s)", pythonString(p.Key))
				}
			}
			fmt.Fprintf(&b, "], row_splits_dtype=%s, validate=True", pythonType(f.RowSplits))
		}
		b.WriteString("),\n")
	}
	b.WriteString("}\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// pythonString returns a string literal. Keys are UTF-8.
func pythonString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r > '~':
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// pythonType returns the Python name of a dtype that tf.io parses.
func pythonType(d tfgnnpb.DataType) string {
	switch d {
	case tfgnnpb.DataType_DT_FLOAT:
		return "tf.float32"
	case tfgnnpb.DataType_DT_STRING:
		return "tf.string"
	case tfgnnpb.DataType_DT_INT32:
		return "tf.int32"
	}
	return "tf.int64"
}
