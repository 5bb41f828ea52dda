package assign_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// write writes the folder of an assignment.
func write(t interface{ Fatal(...any) }, dir string, a *assign.Assignment) {
	w, err := store.Create(vfs.Unsynced{FS: vfs.OS}, dir, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(assign.Write(w, a), w.Seal(context.Background(), nil, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
}

// An assignment survives writing and reading, whatever the names of the types.
func TestRoundTrip(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		a := &assign.Assignment{Parts: rapid.SampledFrom([]int{1, 2, 10, 11, 300, 65536}).Draw(t, "parts"), Start: []uint64{0}, Method: rapid.SampledFrom([]string{"random", "metis", "multilevel"}).Draw(t, "method")}
		if a.Parts*4 <= assign.MaxParts {
			a.Trainers = rapid.SampledFrom([]int{0, 1, 4}).Draw(t, "trainers")
		}
		names := []string{"#", "..", ".a", "a b", "a%2Fb", "a/b", "käse", "partition_meta", "trainers", "\xff"} // in byte order
		for _, name := range names {
			if !rapid.Bool().Draw(t, "has") {
				continue
			}
			a.Types = append(a.Types, name)
			for range rapid.IntRange(0, 5).Draw(t, "count") {
				p := rapid.IntRange(0, a.Parts-1).Draw(t, "part")
				a.Part = append(a.Part, uint16(p))
				if a.Trainers > 0 {
					a.Trainer = append(a.Trainer, uint16(p*a.Trainers+rapid.IntRange(0, a.Trainers-1).Draw(t, "trainer")))
				}
			}
			a.Start = append(a.Start, uint64(len(a.Part)))
		}
		dir := filepath.Join(root, "a")
		write(t, dir, a)
		files, err := assign.Files(vfs.OS, dir, a)
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := store.ReadManifest(vfs.OS, dir)
		if err != nil || len(manifest.Files) != len(files) {
			t.Fatalf("%v: %q, but the folder has %d files", err, files, len(manifest.Files))
		}
		for _, name := range files {
			if _, there := manifest.Files[name]; !there {
				t.Fatalf("no file %q in the folder", name)
			}
		}
		got, err := assign.Read(context.Background(), vfs.OS, dir, a.Types, counts(a))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*a, *got, equateEmpty); diff != "" {
			t.Fatal(diff)
		}
	})
}

var equateEmpty = cmp.Comparer(func(a, b []uint16) bool { return fmt.Sprint(a) == fmt.Sprint(b) })

func counts(a *assign.Assignment) []uint64 {
	var n []uint64
	for t := range a.Types {
		n = append(n, a.Start[t+1]-a.Start[t])
	}
	return n
}

// The files are those that DGL's tools write and read.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	write(t, dir, &assign.Assignment{Parts: 12, Types: []string{"author", "paper"}, Start: []uint64{0, 1, 4}, Part: []uint16{11, 0, 10, 3}, Method: "multilevel"})
	for name, want := range map[string]string{
		"author.txt":    "11\n",
		"paper.txt":     "0\n10\n3\n",
		assign.MetaFile: "{\n    \"algo_name\": \"metis\",\n    \"method\": \"multilevel\",\n    \"num_parts\": 12,\n    \"version\": \"1.0.0\"\n}\n",
	} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"paper": "paper.txt", "_N": "_N.txt", "my type": "my type.txt", "käse": "käse.txt",
		"..": "%2E..txt", "a/b": "a%2Fb.txt", `a\b`: "a%5Cb.txt", "50%": "50%25.txt", "\xff": "%FF.txt", "a\x00": "a%00.txt",
	} {
		if got := assign.FileName(name); got != want {
			t.Errorf("%q: found %q, expected %q", name, got, want)
		}
	}
}

// folder writes files, and files below "trainers/".
func folder(t testing.TB, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const goodMeta = `{"version": "1.0.0", "num_parts": 3, "algo_name": "random"}`

// A graph of 2 nodes of type a and 3 of type b.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // an error, or parts and method
	}{
		{"as DGL writes", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0\n2\n", "b.txt": "1\n1\n0\n"}, "3 random [0 2 1 1 0]"},
		{"other line ends", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0\r\n2\r\n", "b.txt": " 1\n1 \n0"}, "3 random [0 2 1 1 0]"},
		{"empty lines at the end", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0\n2\n\n", "b.txt": "1\n1\n0\n\r\n\n"}, "3 random [0 2 1 1 0]"},
		{"other files", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0\n2\n", "b.txt": "1\n1\n0\n", "report.json": "{}"}, "3 random [0 2 1 1 0]"},
		{"no metadata", map[string]string{"a.txt": "0\n2\n", "b.txt": "1\n11\n0\n"}, "12 import [0 2 1 11 0]"},
		{"trainers", map[string]string{assign.MetaFile: `{"version":"1.0.0","num_parts":2,"algo_name":"metis","num_trainers_per_machine":2,"method":"multilevel"}`,
			"a.txt": "0\n1\n", "b.txt": "1\n1\n0\n", "trainers/a.txt": "1\n2\n", "trainers/b.txt": "3\n2\n0\n"}, "2 multilevel [0 1 1 1 0] 2 [1 2 3 2 0]"},
		{"trainer of another part", map[string]string{assign.MetaFile: `{"num_parts":2,"algo_name":"metis","num_trainers_per_machine":2}`,
			"a.txt": "0\n1\n", "b.txt": "1\n1\n0\n", "trainers/a.txt": "1\n2\n", "trainers/b.txt": "3\n0\n0\n"}, "trainers/b.txt:2: found trainer 0, which is of part 0, expected one of part 1 as in b.txt"},
		{"no trainers", map[string]string{assign.MetaFile: `{"num_parts":2,"algo_name":"metis","num_trainers_per_machine":2}`, "a.txt": "0\n1\n", "b.txt": "1\n1\n0\n"},
			"trainers/a.txt: found no such file, expected the trainers of the 2 nodes of type a"},
		{"too large", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0\n3\n", "b.txt": "1\n1\n0\n"}, `a.txt:2: found "3", expected a part in 0..2; is the number of parts right?`},
		{"far too large", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0\n18446744073709551616\n", "b.txt": "1\n1\n0\n"}, `a.txt:2: found "18446744073709551616", expected a part in 0..2`},
		{"no number", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0\n1\n", "b.txt": "1\nx\n0\n"}, `b.txt:2: found "x", expected a part in 0..2`},
		{"negative", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0\n-1\n", "b.txt": "1\n1\n0\n"}, `a.txt:2: found "-1", expected a part in 0..2`},
		{"two columns", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0 1\n1\n", "b.txt": "1\n1\n0\n"}, `a.txt:1: found "0 1", expected a part in 0..2`},
		{"empty line", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0\n\n", "b.txt": "1\n1\n0\n"}, `a.txt:2: found "", expected a part in 0..2`},
		{"too short", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0\n1\n", "b.txt": "1\n1\n"}, "b.txt: found 2 lines, expected 3, one for each of the nodes of type b; is this the assignment of another graph?"},
		{"too long", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0\n1\n2\n", "b.txt": "1\n1\n1\n"}, `a.txt:3: found "2", expected the end of the file after 2 lines, one for each of the nodes of type a`},
		{"a type lacks", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0\n1\n"}, "b.txt: found no such file, expected the parts of the 3 nodes of type b"},
		{"a type too many", map[string]string{assign.MetaFile: goodMeta, "a.txt": "0\n1\n", "b.txt": "1\n1\n1\n", "c.txt": ""}, "c.txt: found no such node type in the graph, expected the files a.txt, b.txt"},
		{"bad metadata", map[string]string{assign.MetaFile: "[]", "a.txt": "0\n1\n", "b.txt": "1\n1\n1\n"}, "partition_meta.json: json"},
		{"no parts", map[string]string{assign.MetaFile: `{"version":"1.0.0"}`, "a.txt": "0\n1\n", "b.txt": "1\n1\n1\n"}, "found num_parts 0, expected 1 to 65536"},
		{"other version", map[string]string{assign.MetaFile: `{"version":"2.0.0","num_parts":1}`, "a.txt": "0\n1\n", "b.txt": "1\n1\n1\n"}, `found version "2.0.0", expected "1.0.0"`},
		{"too many trainers", map[string]string{assign.MetaFile: `{"num_parts":60000,"num_trainers_per_machine":2}`, "a.txt": "0\n1\n", "b.txt": "1\n1\n1\n"}, "found num_trainers_per_machine 2 with 60000 parts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := assign.Read(context.Background(), vfs.OS, folder(t, c.files), []string{"a", "b"}, []uint64{2, 3})
			check(t, a, err, c.want)
		})
	}
	if _, err := assign.Read(context.Background(), vfs.OS, filepath.Join(t.TempDir(), "none"), nil, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("found %v for a folder that is not there", err)
	}
}

func check(t *testing.T, a *assign.Assignment, err error, want string) {
	t.Helper()
	if err != nil {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("found error %q, expected %q", err, want)
		}
		if !errors.Is(err, assign.ErrFormat) {
			t.Errorf("%v is no ErrFormat", err)
		}
		return
	}
	got := fmt.Sprint(a.Parts, " ", a.Method, " ", a.Part)
	if a.Trainers > 0 {
		got += fmt.Sprint(" ", a.Trainers, " ", a.Trainer)
	}
	if got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
}

// Files of a homogeneous graph are reordered by type; the order of the types may differ from the file's.
func TestHomogeneous(t *testing.T) {
	types, sizes := []string{"b", "a"}, []uint64{3, 2} // ids 0..2 are b's
	for _, c := range []struct {
		name, file, text string
		ids              bool
		want             string
	}{
		{"metis", "g.graph.part.4", "0\n1\n2\n3\n1\n", false, "4 metis [3 1 0 1 2]"},
		{"no number of parts", "parts.txt", "0\n1\n2\n3\n1\n", false, "4 metis [3 1 0 1 2]"},
		{"no number of parts in the name", "g.part.txt", "0\n1\n2\n0\n1\n", false, "3 metis [0 1 0 1 2]"},
		{"above the name's", "g.part.3", "0\n1\n2\n3\n1\n", false, `g.part.3:4: found "3", expected a part in 0..2; is the number of parts right?`},
		{"no parts", "g.part.0", "0\n1\n2\n3\n1\n", false, "found 0 parts in the name"},
		{"short", "g.part.4", "0\n1\n2\n3\n", false, "g.part.4: found 4 lines, expected 5, one for each of the nodes of the graph"},
		{"parmetis", "g_part.4", "4 1\n0 0\n2 2\n1 1\n3 3\n", true, "4 metis [3 1 0 1 2]"},
		{"tabs", "g_part.4", "4\t1\r\n0 0\n2  2 \n1 1\n3 3", true, "4 metis [3 1 0 1 2]"},
		{"twice", "g_part.4", "4 1\n0 0\n2 2\n0 1\n3 3\n", true, "g_part.4:4: found id 0 a second time, expected each id once"},
		{"id out of range", "g_part.4", "4 1\n0 0\n5 2\n1 1\n3 3\n", true, "g_part.4:3: found id 5, expected one below 5"},
		{"no part", "g_part.4", "4 1\n0\n2 2\n1 1\n3 3\n", true, `g_part.4:2: found "0", expected an id and a part`},
		{"part out of range", "g_part.4", "4 1\n0 4\n2 2\n1 1\n3 3\n", true, `g_part.4:2: found "4", expected a part in 0..3`},
		{"too few", "g_part.4", "4 1\n0 0\n2 2\n1 1\n", true, "g_part.4: found 4 lines, expected 5"},
		{"far too few", "g_part.4", "4 1\n", true, "g_part.4: found "},
		{"too many", "g_part.4", "4 1\n0 0\n2 2\n1 1\n3 3\n3 3\n", true, `g_part.4:6: found "3 3", expected the end of the file`},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(folder(t, map[string]string{c.file: c.text}), c.file)
			read := assign.ReadMETIS
			if c.ids {
				read = assign.ReadParMETIS
			}
			a, err := read(context.Background(), vfs.OS, file, types, sizes)
			check(t, a, err, c.want)
			if err == nil && !cmp.Equal(a.Types, []string{"a", "b"}) {
				t.Errorf("found types %q", a.Types)
			}
		})
	}
}

// Lines that end at the edges of the buffer, and a file much larger than the buffer.
func TestLargeFile(t *testing.T) {
	n := 400_000
	a := &assign.Assignment{Parts: 1000, Types: []string{"a"}, Start: []uint64{0, uint64(n)}, Method: "random"}
	for i := range n {
		a.Part = append(a.Part, uint16(i*i%1000))
	}
	dir := filepath.Join(t.TempDir(), "a")
	write(t, dir, a)
	got, err := assign.Read(context.Background(), vfs.OS, dir, a.Types, counts(a))
	if err != nil || !cmp.Equal(got.Part, a.Part) {
		t.Errorf("found %v, or other parts", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := assign.Read(ctx, vfs.OS, dir, a.Types, counts(a)); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the error of the context", err)
	}
}

func BenchmarkRead(b *testing.B) {
	n := 8_000_000
	file := filepath.Join(folder(b, map[string]string{"x.part.8": strings.Repeat("0\n7\n", n/2)}), "x.part.8")
	b.SetBytes(int64(2 * n))
	for b.Loop() {
		if _, err := assign.ReadMETIS(context.Background(), vfs.OS, file, []string{"_N"}, []uint64{uint64(n)}); err != nil {
			b.Fatal(err)
		}
	}
}

// No file makes reading panic, and every result is an assignment.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"0\n1\n2\n", "0 1\n2 0\n1 1\n", "1\r\n\r\n", "99999999999999999999\n", "0 \t1"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, ids bool) {
		fuzzing.Check(t, len(text), func() {
			file := filepath.Join(folder(t, map[string]string{"g.part.3": text}), "g.part.3")
			read := assign.ReadMETIS
			if ids {
				read = assign.ReadParMETIS
			}
			a, err := read(context.Background(), vfs.OS, file, []string{"_N"}, []uint64{3})
			if err != nil {
				return
			}
			if len(a.Part) != 3 || a.Part[0] > 2 || a.Part[1] > 2 || a.Part[2] > 2 {
				t.Errorf("found %v of %q", a.Part, text)
			}
		})
	})
}
