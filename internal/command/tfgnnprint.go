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
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/ingest/records"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/vfs"
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
			next, closing, err := openRecords(t, args)
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
	cli.Group(f, cli.GroupSource, "skip", "count")
	return cmd
}

// needFiles checks a command that reads files.
func needFiles(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("found no files, expected paths, globs, base@N, or - for standard input")
	}
	return nil
}

// nextRecord returns one record after the other, then io.EOF.
type nextRecord func() ([]byte, recordfiles.Place, error)

// openRecords reads the records of files, or of standard input.
func openRecords(t *cli.Terminal, args []string) (next nextRecord, closing func() error, err error) {
	if len(args) == 1 && args[0] == "-" {
		r, err := tfrecord.Open(t.Stdin, "standard input", -1)
		if err != nil {
			return nil, nil, err
		}
		number := uint64(0)
		return func() ([]byte, recordfiles.Place, error) {
			record, err := r.Next()
			number++
			return record, recordfiles.Place{File: "standard input", Number: number - 1, Offset: r.Offset()}, err
		}, func() error { return nil }, nil
	}
	names, warnings, err := records.Files(vfs.OS, args)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range warnings {
		t.Warn(w)
	}
	files := recordfiles.New(vfs.OS, names, nil)
	return files.Next, files.Close, nil
}

func printExamples(ctx context.Context, out io.Writer, next nextRecord, asJSON bool, skip, count uint64) error {
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
