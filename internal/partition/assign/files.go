package assign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// MetaFile is the file with the number of parts in the folder of an assignment; trainersDir is the folder of
// the trainers.
const (
	MetaFile    = "partition_meta.json"
	trainersDir = "trainers"
)

// ErrFormat is the kind of errors about files that are no assignment of the graph.
var ErrFormat = errors.New("no assignment of the graph")

func badf(format string, a ...any) error { return tagged.Errorf(ErrFormat, format, a...) }

// meta is partition_meta.json. Its keys are in DGL's order, which is sorted.
type meta struct {
	AlgoName string `json:"algo_name"`
	Method   string `json:"method,omitempty"`
	NumParts int    `json:"num_parts"`
	Trainers int    `json:"num_trainers_per_machine,omitempty"`
	Version  string `json:"version"`
}

const metaVersion = "1.0.0"

// longestName leaves room for the ending of a file.
const longestName = 255 - len(".txt")

// FileName is the name of a node type's file: the type and ".txt". '/', '\\', '%', control characters, a
// leading '.' and bytes that are not UTF-8 are written as %XX, so that two types never share a file and no
// name points out of the folder. A name too long for a file is shortened as in stores.
func FileName(nodeType string) string {
	var b []byte
	for i := 0; i < len(nodeType); {
		r, n := utf8.DecodeRuneInString(nodeType[i:])
		if r == utf8.RuneError && n == 1 || r < ' ' || r == 0x7f || strings.ContainsRune(`/\%`, r) || r == '.' && i == 0 {
			b = fmt.Appendf(b, "%%%02X", nodeType[i])
		} else {
			b = append(b, nodeType[i:i+n]...)
		}
		i += n
	}
	return store.Shortened(string(b), nodeType, longestName) + ".txt"
}

// Write writes the folder of an assignment into w, which the caller seals. Equal assignments give equal bytes.
func Write(w *store.Writer, a *Assignment) error {
	m := meta{AlgoName: a.Method, NumParts: a.Parts, Trainers: a.Trainers, Version: metaVersion}
	if a.Method != "random" && a.Method != "metis" {
		m.AlgoName, m.Method = "metis", a.Method
	}
	b, err := json.MarshalIndent(m, "", "    ")
	if err != nil {
		return err
	}
	if err := w.WriteFile(MetaFile, append(b, '\n')); err != nil {
		return err
	}
	for t, name := range a.Types {
		if err := writeLines(w, FileName(name), a.Of(t)); err != nil {
			return err
		}
		if a.Trainers == 0 {
			continue
		}
		if err := writeLines(w, trainersDir+"/"+FileName(name), a.TrainersOf(t)); err != nil {
			return err
		}
	}
	return nil
}

func writeLines(w *store.Writer, name string, parts []uint16) (err error) {
	f, err := w.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return WriteLines(f, parts)
}

// Read reads the folder of an assignment. types are the node types of the graph in byte order, counts their
// numbers of nodes. Without partition_meta.json the number of parts is the largest part + 1, and the method is
// "import". A .txt file that belongs to no type is an error, because the assignment is then for another graph.
func Read(ctx context.Context, fsys vfs.FS, dir string, types []string, counts []uint64) (*Assignment, error) {
	a := newAssignment(types, counts)
	m, err := readMeta(fsys, dir)
	if err != nil {
		return nil, err
	}
	if err := checkNames(fsys, dir, types); err != nil {
		return nil, err
	}
	a.Parts, a.Trainers, a.Method = m.NumParts, m.Trainers, m.AlgoName
	if m.Method != "" {
		a.Method = m.Method
	}
	if a.Part, err = readTypes(ctx, fsys, dir, types, counts, "part", a.Parts); err != nil {
		return nil, err
	}
	if a.Parts == 0 {
		a.Parts = largest(a.Part) + 1
	}
	if a.Trainers == 0 {
		return a, nil
	}
	if a.Trainer, err = readTypes(ctx, fsys, filepath.Join(dir, trainersDir), types, counts, "trainer", a.Parts*a.Trainers); err != nil {
		return nil, err
	}
	for v, trainer := range a.Trainer {
		if part := int(trainer) / a.Trainers; part != int(a.Part[v]) {
			t := sort.Search(len(types), func(t int) bool { return a.Start[t+1] > uint64(v) })
			return nil, badf("%s:%d: found trainer %d, which is of part %d, expected one of part %d as in %s",
				filepath.Join(dir, trainersDir, FileName(types[t])), uint64(v)-a.Start[t]+1, trainer, part, a.Part[v], FileName(types[t]))
		}
	}
	return a, nil
}

// Files lists the files that Read read for a, relative to its folder, with '/'.
func Files(fsys vfs.FS, dir string, a *Assignment) ([]string, error) {
	var files []string
	if _, err := fsys.Stat(filepath.Join(dir, MetaFile)); err == nil {
		files = append(files, MetaFile)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, t := range a.Types {
		files = append(files, FileName(t))
		if a.Trainers > 0 {
			files = append(files, trainersDir+"/"+FileName(t))
		}
	}
	return files, nil
}

func newAssignment(types []string, counts []uint64) *Assignment {
	a := &Assignment{Types: slices.Clone(types), Start: make([]uint64, len(types)+1)}
	for t, n := range counts {
		a.Start[t+1] = a.Start[t] + n
	}
	return a
}

// readMeta reads partition_meta.json; if there is none, NumParts is 0.
func readMeta(fsys vfs.FS, dir string) (meta, error) {
	file := filepath.Join(dir, MetaFile)
	b, err := vfs.ReadFile(fsys, file, 1<<20)
	if vfs.Absent(err) {
		if there, err := vfs.Exists(fsys, dir); err != nil {
			return meta{}, err
		} else if !there {
			return meta{}, tagged.Errorf(fs.ErrNotExist, "%s: found no such folder, expected an assignment of nodes to parts; correct the path", dir)
		}
		return meta{AlgoName: "import"}, nil
	}
	if err != nil {
		return meta{}, err
	}
	var m meta
	if err := json.Unmarshal(b, &m); err != nil {
		return m, badf("%s: %w; expected {\"version\": \"1.0.0\", \"num_parts\": 4, \"algo_name\": \"random\"}", file, err)
	}
	if m.Version != "" && m.Version != metaVersion {
		return m, badf("%s: found version %q, expected %q; make the assignment again with this version", file, m.Version, metaVersion)
	}
	if m.NumParts < 1 || m.NumParts > MaxParts {
		return m, badf("%s: found num_parts %d, expected 1 to %d", file, m.NumParts, MaxParts)
	}
	if m.Trainers < 0 || m.Trainers > MaxParts/m.NumParts {
		return m, badf("%s: found num_trainers_per_machine %d with %d parts, expected at most %d trainers in all", file, m.Trainers, m.NumParts, MaxParts)
	}
	return m, nil
}

// checkNames rejects files of types that the graph lacks.
func checkNames(fsys vfs.FS, dir string, types []string) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	var want []string
	for _, t := range types {
		want = append(want, FileName(t))
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".txt") && !slices.Contains(want, name) {
			return badf("%s: found no such node type in the graph, expected the files %s; is this the assignment of another graph? If not, move the file to another folder",
				filepath.Join(dir, name), strings.Join(want, ", "))
		}
	}
	return nil
}

func readTypes(ctx context.Context, fsys vfs.FS, dir string, types []string, counts []uint64, what string, below int) ([]uint16, error) {
	var all []uint16
	for t, name := range types {
		file := filepath.Join(dir, FileName(name))
		l := lines{file: file, what: what, below: below, want: counts[t], of: "the nodes of type " + name}
		var err error
		if all, err = l.read(ctx, fsys, all); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, badf("%s: found no such file, expected the %ss of the %d nodes of type %s; add the file, or make the assignment again (%w)", file, what, counts[t], name, err)
			}
			return nil, err
		}
	}
	return all, nil
}

func largest(parts []uint16) int {
	if len(parts) == 0 {
		return 0
	}
	return int(slices.Max(parts))
}

// partsOf returns the K of a name that ends in "part.K", else 0.
func partsOf(name string) (int, error) {
	base := filepath.Base(name)
	i := strings.LastIndex(base, "part.")
	if i < 0 {
		return 0, nil
	}
	text := base[i+len("part."):]
	k, err := strconv.Atoi(text)
	if err != nil {
		return 0, nil //nolint:nilerr // a name such as part.txt has no number
	}
	if k < 1 || k > MaxParts {
		return 0, badf("%s: found %d parts in the name, expected 1 to %d", name, k, MaxParts)
	}
	return k, nil
}

// ReadMETIS reads a file of gpmetis: line i is the part of node i of the homogeneous graph, which has the
// nodes of the types, in the order given, one type after another. The number of parts is the K of a name that
// ends in "part.K", else the largest part + 1.
func ReadMETIS(ctx context.Context, fsys vfs.FS, file string, types []string, counts []uint64) (*Assignment, error) {
	return readHomogeneous(ctx, fsys, file, types, counts, false)
}

// ReadParMETIS reads a file of DGL's ParMETIS: lines "id part" in any order, each id of the homogeneous graph
// once. Ids and the number of parts are as in ReadMETIS.
func ReadParMETIS(ctx context.Context, fsys vfs.FS, file string, types []string, counts []uint64) (*Assignment, error) {
	return readHomogeneous(ctx, fsys, file, types, counts, true)
}

func readHomogeneous(ctx context.Context, fsys vfs.FS, file string, types []string, counts []uint64, ids bool) (*Assignment, error) {
	total := uint64(0)
	for _, n := range counts {
		total += n
	}
	k, err := partsOf(file)
	if err != nil {
		return nil, err
	}
	l := lines{file: file, what: "part", below: k, want: total, of: "the nodes of the graph", ids: ids}
	flat, err := l.read(ctx, fsys, nil)
	if err != nil {
		return nil, err
	}
	if k == 0 {
		k = largest(flat) + 1
	}
	order := make([]int, len(types))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(types[i], types[j]) })
	sorted, sizes, from := make([]string, len(types)), make([]uint64, len(types)), newAssignment(types, counts)
	for i, t := range order {
		sorted[i], sizes[i] = types[t], counts[t]
	}
	a := newAssignment(sorted, sizes)
	a.Parts, a.Method = k, "metis"
	if slices.IsSorted(types) {
		a.Part = flat
		return a, nil
	}
	for _, t := range order {
		a.Part = append(a.Part, flat[from.Start[t]:from.Start[t+1]]...)
	}
	return a, nil
}
