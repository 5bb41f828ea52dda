package chains

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// call is one call of the library, which is also one command.
type call struct {
	verb    string // of the command: "import", "tfgnn from-store"
	args    []string
	flags   []string // beside those that the options have
	options any      // a pointer to the options of the library
	do      func(ctx context.Context) error
}

// commandLine is the call as arguments of graphmill.
func (c *call) commandLine() []string {
	list := append(strings.Fields(c.verb), c.args...)
	list = append(list, c.flags...)
	return append(list, flagsOf(reflect.ValueOf(c.options).Elem(), c.verb)...)
}

// flagsOf renders options as flags: the name of a field as package field has it, and the value as the command reads it.
func flagsOf(v reflect.Value, verb string) (flags []string) {
	for i := range v.NumField() {
		f, x := v.Type().Field(i), v.Field(i)
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			flags = append(flags, flagsOf(x, verb)...)
			continue
		case !f.IsExported() || x.IsZero() || x.Kind() == reflect.Func || f.Name == "CommandLine":
			continue
		}
		name := options.Flags("`"+f.Name+"`", func(string) bool { return true })
		if verb == "tfgnn from-store" && f.Name == "To" {
			name = "--format"
		}
		add := func(value any) { flags = append(flags, fmt.Sprintf("%s=%v", name, value)) }
		switch value := x.Interface().(type) {
		case int:
			switch f.Name {
			case "Rank":
			case "Ranks":
				flags = append(flags, fmt.Sprintf("--rank=%d/%d", v.FieldByName("Rank").Int(), value))
			default:
				add(value)
			}
		case bool:
			flags = append(flags, name)
		case []int:
			add(joined(value))
		case map[string][]int:
			var parts []string
			for key, list := range value {
				parts = append(parts, key+"="+joined(list))
			}
			slices.Sort(parts)
			flags = append(flags, "--fanout="+strings.Join(parts, ";"))
		case []string:
			if f.Name == "SeedType" {
				add(strings.Join(value, ","))
				continue
			}
			for _, s := range value {
				add(s)
			}
		case []option.PackLimit:
			for _, l := range value {
				add(fmt.Sprintf("%s=%d", l.Component, l.Max))
			}
		default:
			add(value)
		}
	}
	return flags
}

func joined(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}

// quoted is a command line as a line of a shell script.
func quoted(args []string) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		if strings.ContainsFunc(a, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./,:@+%", r))
		}) || a == "" {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		b.WriteString(a)
	}
	return b.String()
}

// outcome is what a call said.
type outcome struct {
	warnings []string
	err      error
}

// warned says whether a warning has the text, as it is or as a terminal shows it.
func (o outcome) warned(text string) bool {
	var shown strings.Builder
	for _, r := range text {
		switch {
		case strconv.IsPrint(r):
			shown.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&shown, `\U%08x`, r)
		default:
			fmt.Fprintf(&shown, `\u%04x`, r)
		}
	}
	return slices.ContainsFunc(o.warnings, func(w string) bool { return strings.Contains(w, text) || strings.Contains(w, shown.String()) })
}

// runs runs a call in process or, if the chain has a command, as a process of its own.
func (c *chain) runs(x *call) outcome {
	c.lines = append(c.lines, x.commandLine())
	c.calls[x.verb]++
	run := reflect.ValueOf(x.options).Elem().FieldByName("Run").Addr().Interface().(*option.Run)
	if c.command == "" {
		var out outcome
		run.Warn = func(text string) { out.warnings = append(out.warnings, text) }
		out.err = x.do(context.Background())
		return out
	}
	cmd := exec.Command(c.command, x.commandLine()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	var out outcome
	for line := range strings.Lines(stderr.String()) {
		if _, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "warning: "); ok {
			out.warnings = append(out.warnings, text)
		}
	}
	if err != nil {
		out.err = errors.New(strings.TrimSpace(stderr.String()))
	}
	return out
}

// must runs a call that must succeed.
func (c *chain) must(law string, x *call) outcome {
	out := c.runs(x)
	if out.err != nil {
		c.fail(law, "the last command: %v", out.err)
	}
	return out
}

// closing closes the store that a call opened.
func closing(s *graphmill.Store, err error) error {
	if err != nil {
		return err
	}
	return s.Close()
}

func ignoring[T any](_ T, err error) error { return err }

func importing(source, out string, o option.Import) *call {
	x := &call{verb: "import", args: []string{source}, flags: []string{"--out", out}, options: &o}
	if source == "" {
		x.args = nil
	}
	x.do = func(ctx context.Context) error { return closing(graphmill.Import(ctx, source, out, o)) }
	return x
}

func exporting(in, out string, o option.Export) *call {
	return &call{verb: "export", args: []string{in}, flags: []string{"--out", out}, options: &o,
		do: func(ctx context.Context) error { return ignoring(graphmill.Export(ctx, in, out, o)) }}
}

func fromStore(in, out string, o option.UnigraphTables) *call {
	return &call{verb: "tfgnn from-store", args: []string{in}, flags: []string{"--out", out}, options: &o,
		do: func(ctx context.Context) error { return ignoring(graphmill.StoreToUnigraph(ctx, in, out, o)) }}
}

func converting(in, out string, o option.UnigraphTables) *call {
	return &call{verb: "tfgnn convert", args: []string{in}, flags: []string{"--out", out}, options: &o,
		do: func(ctx context.Context) error { return ignoring(graphmill.ConvertUnigraph(ctx, in, out, o)) }}
}

func chunking(in, out string, o option.Chunk) *call {
	return &call{verb: "chunk", args: []string{in}, flags: []string{"--out", out}, options: &o,
		do: func(ctx context.Context) error { return ignoring(graphmill.Chunk(ctx, in, out, o)) }}
}

func partitioning(in, out string, o option.Partition) *call {
	return &call{verb: "partition", args: []string{in}, flags: []string{"--out", out}, options: &o,
		do: func(ctx context.Context) error { return ignoring(graphmill.Partition(ctx, in, out, o)) }}
}

func dispatching(in, assignment, out string, o option.Dispatch) *call {
	x := &call{verb: "dispatch", args: []string{in}, flags: []string{"--out", out}, options: &o,
		do: func(ctx context.Context) error { return ignoring(graphmill.Dispatch(ctx, in, assignment, out, o)) }}
	if assignment != "" {
		x.flags = append(x.flags, "--assignment", assignment)
	}
	return x
}

func partitioningGraph(in, out string, o option.PartitionGraph) *call {
	return &call{verb: "partition-graph", args: []string{in}, flags: []string{"--out", out}, options: &o,
		do: func(ctx context.Context) error { return ignoring(graphmill.PartitionGraph(ctx, in, out, o)) }}
}

func sampling(in, out string, o option.Sample) *call {
	return &call{verb: "sample", args: []string{in}, flags: []string{"--out", out}, options: &o,
		do: func(ctx context.Context) error {
			s, err := graphmill.Open(in)
			if err != nil {
				return err
			}
			return errors.Join(ignoring(graphmill.Sample(ctx, s, out, o)), s.Close())
		}}
}

func packing(in, out string, o option.Pack) *call {
	return &call{verb: "pack", args: []string{in}, flags: []string{"--out", out}, options: &o,
		do: func(ctx context.Context) error { return ignoring(graphmill.Pack(ctx, in, out, o)) }}
}

func filling(plan, in, out string, o option.Fill) *call {
	return &call{verb: "pack fill", args: []string{plan, in}, flags: []string{"--out", out}, options: &o,
		do: func(ctx context.Context) error { return ignoring(graphmill.Fill(ctx, plan, in, out, o)) }}
}

func materialising(plan, in, out string, o option.Materialise) *call {
	return &call{verb: "pack materialise", args: []string{plan, in}, flags: []string{"--out", out}, options: &o,
		do: func(ctx context.Context) error { return ignoring(graphmill.Materialise(ctx, plan, in, out, o)) }}
}

// verifies checks an output of a chain.
func (c *chain) verifies(path, against string) {
	v, err := graphmill.Verify(context.Background(), path, option.Verify{Against: against})
	c.lines = append(c.lines, slices.DeleteFunc([]string{"verify", path, "--against=" + against}, func(s string) bool { return s == "--against=" }))
	switch {
	case err != nil:
		c.fail("verify", "%v", err)
	case !v.OK:
		var text bytes.Buffer
		_ = v.Text(&text)
		c.fail("verify", "%s", text.String())
	}
}

// relative replaces the folder of a chain in a command line by a dot.
func relative(dir string, args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = strings.ReplaceAll(a, dir+string(filepath.Separator), "")
	}
	return out
}
