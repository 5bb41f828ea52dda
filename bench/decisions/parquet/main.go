// Command parquet reads damaged copies of valid Parquet files, or of files of Arrow IPC, with several readers, and counts what
// goes wrong: panics, processes that die, memory, processor time, and values that changed without an error.
//
//	go run .                                    # three files of its own
//	go run . FILE.parquet ...                   # files of your own
//	go run . -readers graphmill -n 100000
//	go run . -keep damaged -readers parquet-go  # keeps the copies that do harm
//	go run . -readers arrow-go-ipc,arrow-go-ipc-bounded FILE.arrow
//
// The table goes to stdout; where the harm was done, and how often, goes to stderr.
//
// Copy k of a file is a function of -seed and k. A child process reads the copies one after the other. It recovers
// panics of its own goroutine; a panic in another goroutine, a full stack, memory beyond -memory and a read of more
// than -timeout end the child, and a new one continues with the next copy.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	slow  = 1.0     // seconds of processor time
	large = 1 << 30 // bytes of heap
)

// settings are the flags.
type settings struct {
	copies  int
	seed    uint64
	memory  int64
	timeout time.Duration
	keep    string
}

// result tells how reading one copy ended.
type result struct {
	Case    int
	Outcome outcome
	Detail  string  // the panic, or the error
	Heap    int64   // bytes that the heap took from the system
	CPU     float64 // seconds
}

type outcome string

const (
	same     outcome = "same values"
	other    outcome = "other values"
	refused  outcome = "error"
	panicked outcome = "panic"
	// The next three end the process; no recover of the caller prevents that.
	elsewhere outcome = "panic in another goroutine"
	exhausted outcome = "out of memory"
	died      outcome = "died otherwise"
	late      outcome = "timeout"
)

var harmful = []outcome{panicked, elsewhere, exhausted, died, late}

func main() {
	if len(os.Args) == 7 && os.Args[1] == "-child" {
		child(os.Args[2:])
		return
	}
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "parquet: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	var s settings
	f := flag.NewFlagSet("parquet", flag.ExitOnError)
	names := f.String("readers", strings.Join(slices.DeleteFunc(readerNames(), ofIPC), ","), "readers, separated by commas; those of files of Arrow IPC have ipc in their names")
	f.IntVar(&s.copies, "n", 6000, "damaged copies of each file")
	f.Uint64Var(&s.seed, "seed", 1, "random seed of the damage")
	f.Int64Var(&s.memory, "memory", 6<<30, "bytes of address space of a child")
	f.DurationVar(&s.timeout, "timeout", 60*time.Second, "longest read of a copy")
	f.StringVar(&s.keep, "keep", "", "folder for the copies that gave a panic, ended a child, or were large or slow")
	if err := f.Parse(args); err != nil {
		return err
	}
	files := f.Args()
	if len(files) == 0 {
		dir, err := os.MkdirTemp("", "parquet")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if files, err = writeSamples(dir); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "| file | reader | panics | panics in other goroutines | out of memory | died otherwise | timeouts "+
		"| heap > 1 GiB | CPU > 1 s | largest heap | longest CPU | errors | other values | same values |")
	fmt.Fprintln(out, "|---|---"+strings.Repeat("|--:", 12)+"|")
	places := map[string]int{}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		for _, reader := range strings.Split(*names, ",") {
			results, err := readCopies(&s, reader, file)
			if refusal := new(refusal); errors.As(err, &refusal) {
				fmt.Fprintf(os.Stderr, "%s does not read the undamaged %s: %s\n", reader, filepath.Base(file), refusal.text)
				continue
			} else if err != nil {
				return err
			}
			t := tally{count: map[outcome]int{}, places: places}
			for _, r := range results {
				if t.add(reader, &r) && s.keep != "" {
					if err := s.save(reader, file, &r); err != nil {
						return err
					}
				}
			}
			fmt.Fprintf(out, "| %s, %d bytes | %s %s\n", filepath.Base(file), info.Size(), reader, &t)
		}
	}
	lines := make([]string, 0, len(places))
	for text, n := range places {
		lines = append(lines, fmt.Sprintf("%5d  %s", n, text))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(b, a) })
	for _, l := range lines {
		fmt.Fprintln(os.Stderr, l)
	}
	return nil
}

// tally counts how one reader read the copies of one file.
type tally struct {
	count       map[outcome]int
	large, slow int
	heap        int64
	cpu         float64
	places      map[string]int // where harm was done, for all files and readers
}

// add counts a result. It says whether the copy did harm.
func (t *tally) add(reader string, r *result) bool {
	t.count[r.Outcome]++
	t.heap, t.cpu = max(t.heap, r.Heap), max(t.cpu, r.CPU)
	if r.Heap > large {
		t.large++
	}
	if r.CPU > slow {
		t.slow++
	}
	harm := slices.Contains(harmful, r.Outcome)
	if harm {
		_, place, _ := strings.Cut(r.Detail, " in github.com/")
		t.places[fmt.Sprintf("%s: %s in %s", reader, r.Outcome, place)]++
	}
	return harm || r.Heap > large || r.CPU > slow
}

// String is the rest of the row, after the file and the reader.
func (t *tally) String() string {
	return fmt.Sprintf("| %d | %d | %d | %d | %d | %d | %d | %.2f GiB | %.2f s | %d | %d | %d |",
		t.count[panicked], t.count[elsewhere], t.count[exhausted], t.count[died], t.count[late],
		t.large, t.slow, float64(t.heap)/(1<<30), t.cpu, t.count[refused], t.count[other], t.count[same])
}

// save writes a damaged copy to the folder -keep.
func (s *settings) save(reader, file string, r *result) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.keep, 0o777); err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%s-%d.parquet", reader, strings.TrimSuffix(filepath.Base(file), ".parquet"), r.Case)
	return os.WriteFile(filepath.Join(s.keep, name), damage(b, s.seed, r.Case), 0o666)
}
