package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
)

// roomy is the heap with which a child ends, so that the next copy is read with a small one.
const roomy = 128 << 20

// child reads the copies first to last-1 of a file and prints a line before and after each.
func child(args []string) {
	reader, file := readers[args[0]], args[1]
	var seed, memory uint64
	var first, last int
	_, err := fmt.Sscan(args[2], &seed)
	check(err)
	_, err = fmt.Sscanf(args[3], "%d:%d", &first, &last)
	check(err)
	_, err = fmt.Sscan(args[4], &memory)
	check(err)
	check(syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: memory, Max: memory}))
	whole, err := os.ReadFile(file)
	check(err)
	if reader == nil {
		check(fmt.Errorf("found reader %q, expected one of %s", args[0], strings.Join(readerNames(), ", ")))
	}
	want, err := reader(whole)
	check(err)
	for k := first; k < last; k++ {
		b := damage(whole, seed, k)
		fmt.Println("begin")
		before := cpu()
		r := read(reader, b, want)
		r.Case, r.CPU = k, cpu()-before
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		r.Heap = int64(m.HeapSys)
		line, err := json.Marshal(r)
		check(err)
		fmt.Printf("%s\n", line)
		if r.Heap > roomy {
			break
		}
	}
	fmt.Println("end")
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// read reads a copy; want is the digest of the undamaged file.
func read(reader func([]byte) (uint64, error), b []byte, want uint64) (r result) {
	defer func() {
		if e := recover(); e != nil {
			r.Outcome, r.Detail = panicked, fmt.Sprintf("%.80v in %s", e, place(debug.Stack()))
		}
	}()
	got, err := reader(b)
	switch {
	case err != nil:
		r.Outcome, r.Detail = refused, fmt.Sprintf("%.200s", err)
	case got == want:
		r.Outcome = same
	default:
		r.Outcome = other
	}
	return r
}

// place is the first function of a trace that lies below the panic and outside the runtime.
func place(stack []byte) string {
	below := false
	for line := range strings.Lines(string(stack)) {
		switch {
		case strings.HasPrefix(line, "panic("):
			below = true
		case below && strings.HasPrefix(line, "github.com/"):
			return line[:strings.LastIndex(line, "(")]
		}
	}
	return "?"
}

// cpu is the processor time of the process so far, in seconds.
func cpu() float64 {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
