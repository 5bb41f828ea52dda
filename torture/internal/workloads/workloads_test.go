package workloads

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/torture/internal/command"
)

// Every workload ends with status 0 and writes its outputs, which verify. A second run gives the same bytes and the same text.
func TestWorkloads(t *testing.T) {
	p := New(t)
	graphmill := command.Build(t, "graphmill")
	names := map[string]bool{}
	for _, w := range All() {
		if names[w.Name] {
			t.Errorf("found two workloads %s", w.Name)
		}
		names[w.Name] = true
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			r := p.Prepare(t, w)
			got := r.Call(t, graphmill).Run(t)
			if got.Status != 0 {
				t.Fatalf("%s", got)
			}
			first := r.Outputs(t)
			if v := r.Visible(t); len(v) != len(w.Out) {
				t.Fatalf("found the outputs %v, expected %v\n%s", v, w.Out, got)
			}
			if beside := r.Beside(t); len(beside) > 0 {
				t.Errorf("found %v beside the outputs", beside)
			}
			r.Reset(t)
			if got := r.Call(t, graphmill).Run(t); got.Status != 0 {
				t.Fatalf("again: %s", got)
			}
			if damaged := r.Damaged(t, first); damaged != "" {
				t.Errorf("%s", damaged)
			}
			if w.Writes() && len(first) == 0 {
				t.Error("found no file of the outputs")
			}
		})
	}
}

// Every command that graphmill help lists is a workload.
func TestEveryCommand(t *testing.T) {
	graphmill := command.Build(t, "graphmill")
	var has [][]string
	for _, w := range All() {
		if w.Python != "" {
			has = append(has, []string{w.Name})
		}
		has = append(has, w.Args)
	}
	for _, path := range commands(t, graphmill, nil) {
		if !slices.ContainsFunc(has, func(args []string) bool { return len(args) >= len(path) && slices.Equal(args[:len(path)], path) }) {
			t.Errorf("found no workload of graphmill %s, which graphmill help lists; add one to table.go", strings.Join(path, " "))
		}
	}
}

// listedCommand is a line of the list of commands in a help. The titles of groups begin with an upper-case letter.
var listedCommand = regexp.MustCompile(`^ {2,4}([a-z][a-z-]*) {2,}`)

// commands are the paths of the commands below one that do something.
func commands(t *testing.T, graphmill string, path []string) [][]string {
	r := command.Call{Program: graphmill, Args: append(slices.Clone(path), "--help")}.Run(t)
	_, list, has := strings.Cut(r.Stdout, "\nCommands:\n")
	if r.Status != 0 || len(path) == 0 && !has {
		t.Fatalf("%s", r)
	}
	var all [][]string
	if strings.Contains(r.Stdout, "--out") || !has {
		all = append(all, path)
	}
	list, _, _ = strings.Cut(list, "\n\n")
	for _, line := range strings.Split(list, "\n") {
		m := listedCommand.FindStringSubmatch(line)
		if m != nil && !slices.Contains([]string{"help", "completion"}, m[1]) {
			all = append(all, commands(t, graphmill, append(slices.Clone(path), m[1]))...)
		}
	}
	if len(path) == 0 {
		return all[min(1, len(all)):] // graphmill itself prints its help
	}
	return all
}
