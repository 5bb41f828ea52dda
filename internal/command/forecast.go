package command

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/human"
)

// NewForecast makes the command forecast.
func NewForecast(t *cli.Terminal) *cobra.Command {
	var f workFlags
	cmd := &cobra.Command{
		Use:   "forecast STORE",
		Short: "Forecast the time, memory and reads of sample",
		Long: `Forecasts the time, memory and reads of graphmill sample with the same flags, for
each executor, and prints which executor sample would choose and why. It measures the
disk for less than a second and samples a few seeds. It writes nothing.

READ is the size of the neighbours and columns that are read; for the memory executor,
of those that are not in the page cache. WRITTEN is the size of the spill files.
MEMORY is the peak memory of the process, and LEAST the smallest --memory that is
enough. With --format tfrecord, READ and MEMORY of the stream executor are upper
bounds, and MEMORY of the memory executor is within 35 % where an Example is a whole
batch. TIME does not include the start of the program, nor writing the output.`,
		Example: `  graphmill forecast g.store --fanout 15,10,5 --epochs 10 --memory 2GiB
  graphmill forecast g.store --fanout 15,10,5 --scope epoch --epochs 10 --memory 2GiB
  graphmill forecast g.store --fanout 15,10 --format tfrecord --scope seed --memory 8GiB --json | jq .forecast.seconds`,
		Args: cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(t)
			if err != nil {
				return err
			}
			st, err := graphmill.Open(args[0])
			if err != nil {
				return err
			}
			defer st.Close()
			r, err := graphmill.Forecast(cmd.Context(), st, o.Sample)
			if err != nil {
				return err
			}
			if f.AsJSON {
				return t.PrintReport(r, true)
			}
			return printSampleForecast(t, r)
		},
	}
	f.Add(cmd)
	return cmd
}

func printSampleForecast(t *cli.Terminal, r *graphmill.Report) error {
	w := tabwriter.NewWriter(t.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "EXECUTOR\tDESIGN\tSWEEPS\tREAD\tWRITTEN\tMEMORY\tTIME\tLEAST\t")
	for _, f := range r.Forecasts {
		fmt.Fprintf(w, "%s\t%s\t", f.Executor, f.Design)
		if f.Refused != "" {
			fmt.Fprint(w, "refused\t\t\t\t\t")
		} else {
			about := human.Duration(time.Duration(f.Seconds * float64(time.Second)))
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t", human.Exact(f.Sweeps), human.Bytes(f.Bytes), human.Bytes(f.Written), human.Bytes(f.Memory), orDash(f.Seconds > 0, about))
		}
		fmt.Fprintf(w, "%s\t\n", orDash(f.Least > 0, human.Bytes(f.Least)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, n := range r.Notes {
		t.Println(n.Text)
	}
	return nil
}

// orDash returns s, or a dash if the value is not known.
func orDash(known bool, s string) string {
	if known {
		return s
	}
	return "-"
}
