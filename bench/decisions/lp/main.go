// Command lp solves one linear program over packing patterns with gonum's Simplex, and packs the same histogram with
// internal/pack. Where simpler bounds do not prove the number of packs, internal/pack solves many such programs and prices
// new patterns between them.
//
//	go run . -limits 222,502 $GRAPHMILL_DATA/packing/ogbg-molhiv_train_exact.csv
//
// The program has a row per shape, and a column per pattern of the packing that internal/pack found, per shape alone
// in its packs, and per surplus. Simplex starts from the basis that internal/pack starts from: each shape alone.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/graphmill/graphmill/internal/pack"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "lp: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	limits := flag.String("limits", "222,502", "limits of a pack, one per component")
	timeout := flag.Duration("timeout", 5*time.Minute, "longest time of Simplex")
	flag.Parse()
	if flag.NArg() != 1 {
		return fmt.Errorf("found %d arguments, expected one histogram", flag.NArg())
	}
	f, err := os.Open(flag.Arg(0))
	if err != nil {
		return err
	}
	defer f.Close()
	h, err := pack.ReadCSV(flag.Arg(0), f, 0)
	if err != nil {
		return err
	}
	p := &pack.Problem{Histogram: h}
	for _, s := range strings.Split(*limits, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		p.Limits = append(p.Limits, n)
	}
	p.Histogram, _ = p.Oversize()
	before := cpu()
	r, err := pack.Solve(context.Background(), p, pack.Options{Threads: 1})
	if err != nil {
		return err
	}
	fmt.Printf("internal/pack: %d packs of at least %d, %.3f s, %.3f CPU s, one thread\n", r.Packs(), r.LowerBound, r.Elapsed.Seconds(), cpu()-before)

	cost, a, b, basis := program(p, r.Packing)
	rows, columns := a.Dims()
	fmt.Printf("linear program: %d rows, %d columns\n", rows, columns)
	type solution struct {
		packs float64
		err   error
	}
	solved := make(chan solution, 1)
	begun := time.Now()
	before = cpu()
	go func() {
		packs, _, err := lp.Simplex(cost, a, b, 1e-9, basis)
		solved <- solution{packs, err}
	}()
	select {
	case s := <-solved:
		fmt.Printf("gonum Simplex: %.3f packs, error %v, %.3f s, %.3f CPU s\n", s.packs, s.err, time.Since(begun).Seconds(), cpu()-before)
	case <-time.After(*timeout):
		fmt.Printf("gonum Simplex: not done after %.0f s, %.0f CPU s\n", time.Since(begun).Seconds(), cpu()-before)
	}
	return nil
}

// program is the linear program in standard form: costs, matrix, right side, and the columns of the first basis.
func program(p *pack.Problem, packing *pack.Packing) (cost []float64, a *mat.Dense, b []float64, basis []int) {
	rows := len(p.Counts)
	a = mat.NewDense(rows, 2*rows+len(packing.Patterns), nil)
	cost = make([]float64, 2*rows+len(packing.Patterns))
	for i, n := range p.Counts {
		b, basis = append(b, float64(n)), append(basis, i)
		copies := 0
		for j, l := range p.Limits {
			if s := p.Shape(i)[j]; s > 0 && (copies == 0 || l/s < copies) {
				copies = l / s
			}
		}
		a.Set(i, i, float64(max(copies, 1)))
		a.Set(i, rows+i, -1)
		cost[i] = 1
	}
	for k, pattern := range packing.Patterns {
		cost[2*rows+k] = 1
		for _, part := range pattern.Parts {
			a.Set(part.Shape, 2*rows+k, float64(part.Copies))
		}
	}
	return cost, a, b, basis
}

// cpu is the processor time of the process so far, in seconds.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
