package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

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
	var stderr head
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

// refusal is the message of a child that could not read the undamaged file.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// head keeps the first 64 KiB that a child says.
type head struct{ text string }

func (h *head) Write(b []byte) (int, error) {
	if len(h.text) < 1<<16 {
		h.text += string(b)
	}
	return len(b), nil
}

// cause is the first line that says why the child ended, and the first function of the trace outside the runtime.
func (h *head) cause() string {
	message := ""
	for line := range strings.Lines(h.text) {
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
