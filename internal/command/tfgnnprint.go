package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/surveying"
	"github.com/graphmill/graphmill/internal/options"
)

func newTFGNNPrint(t *cli.Terminal) *cobra.Command {
	var (
		asJSON      bool
		skip, count uint64
	)
	cmd := &cobra.Command{
		Use:   "print FILES...",
		Short: "Print the Examples of TFRecords, as text or JSON",
		Long: `Prints tf.train.Examples without a schema. FILES are paths, globs, base@N for N
shards, or - for standard input. Files may be compressed with gzip.

The text is in protobuf's text format, with an empty line between Examples. JSON is one
line per Example: an object that maps each feature name, in sorted order, to
{"int64" | "float" | "bytes": [values]}. Bytes are in base64, NaN and infinities are
strings, a feature without a list is null, and uint64 values are printed as int64.`,
		Example: `  graphmill tfgnn print samples.tfrecord --count 1
  graphmill tfgnn print samples.tfrecord@8 --json | jq '."nodes/paper.#size".int64'
  graphmill tfgnn print 'samples.tfrecord-*' --skip 1000 --count 10
  curl -s URL | graphmill tfgnn print -`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("count") {
				count = math.MaxUint64
			}
			next, closing, err := surveying.OpenRecords(args, t.Stdin, t.Warn)
			if err != nil {
				return err
			}
			return errors.Join(printExamples(cmd.Context(), t.Stdout, next, asJSON, skip, count), closing())
		},
	}
	f := cmd.Flags()
	addJSON(cmd, &asJSON, "print one line of JSON per Example")
	f.Uint64Var(&skip, "skip", 0, "number of Examples to skip at the start")
	f.Uint64Var(&count, "count", 0, "most Examples to print (default: all)")
	cli.Group(f, options.GroupSource, "skip", "count")
	return cmd
}

// needFiles checks a command that reads files.
func needFiles(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("found no files, expected paths, globs, base@N, or - for standard input")
	}
	return nil
}

func printExamples(ctx context.Context, out io.Writer, next surveying.NextRecord, asJSON bool, skip, count uint64) error {
	w := bufio.NewWriterSize(out, 64<<10)
	var (
		d   example.Decoder
		buf []byte
	)
	for printed := uint64(0); printed < count; {
		record, at, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(err, w.Flush())
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if skip > 0 {
			skip--
			continue
		}
		if err := d.Decode(record); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", at, err), w.Flush())
		}
		buf = buf[:0]
		if asJSON {
			buf = append(example.AppendJSON(buf, &d), '\n')
		} else {
			if printed > 0 {
				buf = append(buf, '\n')
			}
			buf = example.AppendText(buf, &d)
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		printed++
	}
	return w.Flush()
}
