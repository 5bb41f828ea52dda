package command

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/options"
)

// batchesResult is the result of bench batches, as printed with --json.
type batchesResult struct {
	RowsPerSecond float64 `json:"rows_per_second"`
	// CopyRowsPerSecond is the speed of copying the same rows in an order that is already computed.
	CopyRowsPerSecond float64 `json:"copy_rows_per_second"`
	// AgainstCopy is the time of an epoch of batches divided by the time of copying.
	AgainstCopy float64 `json:"against_copy"`
	Rows        int     `json:"rows"`
	Width       int     `json:"width"`
	BatchSize   int     `json:"batch_size"`
	Threads     int     `json:"threads"`
	Version     string  `json:"version"`
}

func newBenchBatches(t *cli.Terminal) *cobra.Command {
	var c CommonFlags
	rows, width, size, repeat := 0, 0, 0, 0
	cmd := &cobra.Command{
		Use:   "batches",
		Short: "Measure rows per second in shuffled batches",
		Long: `Measures epochs of shuffled batches of float32 rows, and copies of the same rows in an
order that is already computed. The ratio is the cost of computing the order. The two
take turns, and the best time of each counts.`,
		Example: `  graphmill bench batches --rows 500000 --width 100 --batch-size 64 --threads 2`,
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.Check(); err != nil {
				return err
			}
			if rows < 1 || width < 1 || size < 1 || repeat < 1 || rows > 1<<36/width {
				return cli.Usagef("found %d rows of %d, batches of %d and %d turns, expected at least 1 of each, and fewer than 2^36 numbers", rows, width, size, repeat)
			}
			x := make([]float32, rows*width)
			for i := range x {
				x[i] = float32(i)
			}
			column := batch.Column("x", x, width)
			it, err := batch.New([]*graph.Column{column}, batch.Options{Size: size, Threads: c.Threads})
			if err != nil {
				return err
			}
			var best, copied time.Duration
			for range repeat {
				start := time.Now()
				for _, err := range it.All(cmd.Context()) {
					if err != nil {
						return err
					}
				}
				best = leastTime(best, time.Since(start))
				copied = leastTime(copied, copyRows(column, size, c.Threads))
			}
			r := batchesResult{
				RowsPerSecond: float64(rows) / best.Seconds(), CopyRowsPerSecond: float64(rows) / copied.Seconds(),
				AgainstCopy: best.Seconds() / copied.Seconds(),
				Rows:        rows, Width: width, BatchSize: size, Threads: c.Threads, Version: graphmill.Version(),
			}
			if c.AsJSON {
				return t.JSON(r)
			}
			_, err = fmt.Fprintf(t.Stdout, "%s rows/s in shuffled batches of %d, %.2f times the time of copying them (%s rows of %d float32, %d threads)\n",
				human.Words(r.RowsPerSecond), size, r.AgainstCopy, human.Exact(int64(rows)), width, c.Threads)
			return err
		},
	}
	c.AddThreads(cmd)
	f := cmd.Flags()
	f.IntVar(&rows, "rows", 500_000, "number of rows")
	f.IntVar(&width, "width", 100, "float32 numbers per row")
	f.IntVar(&size, "batch-size", 64, "rows per batch")
	f.IntVar(&repeat, "repeat", 5, "number of turns of each measurement")
	cli.Group(f, options.GroupBatches, "rows", "width", "batch-size", "repeat")
	return cmd
}

func leastTime(best, d time.Duration) time.Duration {
	if best == 0 {
		return d
	}
	return min(best, d)
}

// copyRows returns the time in which several goroutines copy all rows in the order of the first epoch. Each goroutine
// copies one batch at a time into a buffer of its own.
func copyRows(c *graph.Column, size, threads int) time.Duration {
	order := make([]uint64, c.Rows)
	draw.NewOrder(uint64(c.Rows), draw.Key(0, 0, draw.OrderWord)).Fill(order, 0)
	w := c.RowBytes()
	start := time.Now()
	var next atomic.Int64
	var running sync.WaitGroup
	for range threads {
		running.Go(func() {
			buf := make([]byte, size*w)
			for {
				at := int(next.Add(int64(size))) - size
				if at >= c.Rows {
					return
				}
				for i, r := range order[at:min(at+size, c.Rows)] {
					copy(buf[i*w:(i+1)*w], c.Values[int(r)*w:(int(r)+1)*w])
				}
			}
		})
	}
	running.Wait()
	return time.Since(start)
}
