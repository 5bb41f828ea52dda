// Command parquet reads damaged copies of valid Parquet files with several readers, and counts what goes wrong:
// panics, processes that die, memory, processor time, and values that changed without an error.
//
//	go run .                                    # three files of its own
//	go run . FILE.parquet ...                   # files of your own
//	go run . -readers graphmill -n 100000
//	go run . -keep damaged -readers parquet-go  # keeps the copies that do harm
//
// The table goes to stdout; where the harm was done, and how often, goes to stderr.
//
// Copy k of a file is a function of -seed and k. A child process reads the copies one after the other. It recovers
// panics of its own goroutine; a panic in another goroutine, a full stack, memory beyond -memory and a read of more
// than -timeout end the child, and a new one goes on with the next copy.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
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

// result is what became of one copy.
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
	names := f.String("readers", strings.Join(readerNames(), ","), "readers, separated by commas")
	f.IntVar(&s.copies, "n", 6000, "damaged copies of each file")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the damage")
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
	fmt.Fprintf(out, "| file | reader | panics | panics in other goroutines | out of memory | died otherwise | timeouts | heap > 1 GiB | CPU > 1 s | largest heap | longest CPU | errors | other values | same values |\n")
	fmt.Fprintf(out, "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	details := map[string]int{}
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
			count := map[outcome]int{}
			var big, long int
			var heap int64
			var cpu float64
			for _, r := range results {
				count[r.Outcome]++
				heap, cpu = max(heap, r.Heap), max(cpu, r.CPU)
				if r.Heap > large {
					big++
				}
				if r.CPU > slow {
					long++
				}
				if slices.Contains(harmful, r.Outcome) {
					_, place, _ := strings.Cut(r.Detail, " in github.com/")
					details[fmt.Sprintf("%s: %s in %s", reader, r.Outcome, place)]++
				}
				if s.keep != "" && (slices.Contains(harmful, r.Outcome) || r.Heap > large || r.CPU > slow) {
					if err := s.save(reader, file, &r); err != nil {
						return err
					}
				}
			}
			fmt.Fprintf(out, "| %s, %d bytes | %s | %d | %d | %d | %d | %d | %d | %d | %.2f GiB | %.2f s | %d | %d | %d |\n", filepath.Base(file), info.Size(), reader,
				count[panicked], count[elsewhere], count[exhausted], count[died], count[late], big, long, float64(heap)/(1<<30), cpu, count[refused], count[other], count[same])
		}
	}
	lines := make([]string, 0, len(details))
	for text, n := range details {
		lines = append(lines, fmt.Sprintf("%5d  %s", n, text))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(b, a) })
	for _, l := range lines {
		fmt.Fprintln(os.Stderr, l)
	}
	return nil
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

// readCopies reads all copies of a file. A child that ends is followed by another one.
func readCopies(s *settings, reader, file string) ([]result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	results := make([]result, 0, s.copies)
	for fruitless := 0; len(results) < s.copies; {
		before := len(results)
		if results, err = runChild(s, self, reader, file, results); err != nil {
			return nil, err
		}
		if fruitless++; len(results) > before {
			fruitless = 0
		} else if fruitless == 3 {
			return nil, fmt.Errorf("found no result of %s, copy %d of %s", reader, before, file)
		}
	}
	return results, nil
}

// runChild appends the results of one child, and one for the copy that ended it.
func runChild(s *settings, self, reader, file string, results []result) ([]result, error) {
	cmd := exec.Command(self, "-child", reader, file, fmt.Sprint(s.seed), fmt.Sprintf("%d:%d", len(results), s.copies), fmt.Sprint(s.memory))
	var stderr tail
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	expired := make(chan struct{})
	timer := time.AfterFunc(s.timeout, func() { close(expired); _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(pipe)
	lines.Buffer(nil, 1<<20)
	begun, ended := false, false
	for lines.Scan() {
		switch line := lines.Text(); line {
		case "begin":
			begun = true
		case "end":
			ended = true
		default:
			var r result
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				return nil, fmt.Errorf("found %q of a child: %w", line, err)
			}
			results = append(results, r)
			begun = false
			timer.Reset(s.timeout)
		}
	}
	_ = cmd.Wait() // what it ended with is in stderr
	timer.Stop()
	if ended {
		return results, nil
	}
	if !begun {
		return nil, &refusal{strings.TrimSpace(stderr.text)}
	}
	r := result{Case: len(results), Outcome: died, Detail: stderr.cause()}
	select {
	case <-expired:
		r.Outcome = late
	default:
		if strings.Contains(stderr.text, "out of memory") || strings.Contains(stderr.text, "cannot allocate memory") {
			r.Outcome, r.Heap = exhausted, s.memory
		} else if strings.HasPrefix(r.Detail, "panic:") {
			r.Outcome = elsewhere
		}
	}
	return append(results, r), nil
}

// refusal is what a child says that did not read the undamaged file.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// tail keeps the beginning of what a child says.
type tail struct{ text string }

func (t *tail) Write(b []byte) (int, error) {
	if len(t.text) < 1<<16 {
		t.text += string(b)
	}
	return len(b), nil
}

// cause is the first line that says why the child ended, and the first function of the trace outside the runtime.
func (t *tail) cause() string {
	message := ""
	for line := range strings.Lines(t.text) {
		line = strings.TrimSpace(line)
		if message == "" {
			if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") || strings.HasPrefix(line, "runtime:") {
				message = line
			}
			continue
		}
		if name, _, ok := strings.Cut(line, "("); ok && strings.Contains(name, "github.com/") && !strings.HasPrefix(line, "/") {
			return message + " in " + line[:strings.LastIndex(line, "(")]
		}
	}
	return message
}
