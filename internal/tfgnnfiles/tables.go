package tfgnnfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ErrTable is wrapped by errors about the file name of a table: it leads out of the folder of the schema, matches
// nothing, or names shards that do not all exist.
var ErrTable = errors.New("table not found")

var (
	counted  = regexp.MustCompile(`^(.+)@([0-9]+)$`)
	wildcard = regexp.MustCompile(`^(.+)-\?{5}-of-([0-9]{5}|\?{5})$`)
	shard    = regexp.MustCompile(`^-([0-9]{5})-of-([0-9]{5})$`)
)

// Tables returns the files of the table that a schema in folder dir names, in order. The name is relative to dir and
// one of:
//
//   - a file;
//   - base@N: the N files base-00000-of-0000N and so on, all of which must exist;
//   - base-?????-of-0000N or base-?????-of-?????: the same, where the existing files give N;
//   - a glob with *, ? or [...], matched in each part of the path; at least one file must match.
//
// An absolute name, and one with "..", is refused unless outside is set, by which the caller trusts the schema.
func Tables(fsys vfs.FS, dir, name string, outside bool) ([]string, error) {
	if name == "" {
		return nil, tagged.Errorf(ErrTable, "found an empty file name, expected the name of a table")
	}
	if !outside && slices.Contains(strings.Split(filepath.ToSlash(name), "/"), "..") {
		return nil, tagged.Errorf(ErrTable, "%s: found a file name with .., expected one within %s; make it so, or give `AllowOutside`", name, dir)
	}
	if filepath.IsAbs(name) {
		if !outside {
			return nil, tagged.Errorf(ErrTable, "%s: found an absolute file name, expected one relative to %s; make it relative, or give `AllowOutside`", name, dir)
		}
		dir, name = string(filepath.Separator), strings.TrimLeft(name, string(filepath.Separator))
	}
	name = filepath.Clean(name)
	for up := ".." + string(filepath.Separator); strings.HasPrefix(name, up); {
		dir, name = filepath.Join(dir, ".."), strings.TrimPrefix(name, up)
	}
	full := filepath.Join(dir, name)
	if m := counted.FindStringSubmatch(full); m != nil {
		return shards(fsys, m[1], m[2])
	}
	if m := wildcard.FindStringSubmatch(full); m != nil && !strings.ContainsAny(m[1], "*?[") {
		return shards(fsys, m[1], strings.Trim(m[2], "?"))
	}
	// The name of an existing file means that file, whatever characters it contains.
	info, err := fsys.Stat(full)
	switch {
	case err == nil && !info.IsDir():
		return []string{full}, nil
	case err != nil && !vfs.Absent(err):
		return nil, err
	case strings.ContainsAny(name, "*?["):
	case err == nil:
		return nil, tagged.Errorf(ErrTable, "%s: found a folder, expected a file", full)
	default:
		return nil, tagged.Errorf(ErrTable, "%w", tagged.Errorf(fs.ErrNotExist, "%s: found no such file%s", full, shardsHint(fsys, full)))
	}
	files, err := glob(fsys, []string{dir}, strings.Split(filepath.ToSlash(name), "/"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, tagged.Errorf(ErrTable, "%w", tagged.Errorf(fs.ErrNotExist, "%s: found no file that matches, expected at least one; correct the pattern", full))
	}
	return files, nil
}

// shards finds the files base-i-of-n for all i below n. If n is empty, the existing files give it.
func shards(fsys vfs.FS, base, n string) ([]string, error) {
	want := -1
	if n != "" {
		k, err := strconv.Atoi(n)
		if err != nil || k < 1 || k > 99999 {
			return nil, tagged.Errorf(ErrTable, "%s: found %s shards, expected 1 to 99999", base, n)
		}
		want = k
	}
	dir, prefix := filepath.Split(base)
	entries, err := fsys.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return nil, err
	}
	found := map[int]bool{}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		m := shard.FindStringSubmatch(rest)
		if !ok || m == nil || e.IsDir() {
			continue
		}
		i, _ := strconv.Atoi(m[1])
		of, _ := strconv.Atoi(m[2])
		if want < 0 {
			want = of
		}
		if of != want {
			if n == "" {
				return nil, tagged.Errorf(ErrTable, "%s: found shards of %d and of %d files, expected one set; name it as %s@%d", base, want, of, prefix, of)
			}
			continue
		}
		found[i] = true
	}
	if want < 0 {
		return nil, tagged.Errorf(ErrTable, "%s: found no shards, expected %s-00000-of-NNNNN and so on", base, prefix)
	}
	var files []string
	for i := range want {
		file := fmt.Sprintf("%s-%05d-of-%05d", base, i, want)
		if !found[i] {
			return nil, tagged.Errorf(ErrTable, "%s: found %d of %d shards, expected all; this one is missing", file, len(found), want)
		}
		files = append(files, file)
	}
	return files, nil
}

// shardsHint names the shards of a file that does not exist itself.
func shardsHint(fsys vfs.FS, base string) string {
	files, err := shards(fsys, base, "")
	if err != nil {
		return ", expected one"
	}
	return fmt.Sprintf(", but %d shards of it; add @%[1]d to the name", len(files))
}

// glob matches the parts of a path one after the other and returns the files sorted.
func glob(fsys vfs.FS, dirs, parts []string) ([]string, error) {
	pattern, rest := parts[0], parts[1:]
	var matches []string
	for _, dir := range dirs {
		entries, err := fsys.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			ok, err := path.Match(pattern, e.Name())
			if err != nil {
				return nil, tagged.Errorf(ErrTable, "%s: found a malformed pattern, expected a glob with *, ? or [...]", pattern)
			}
			if ok && e.IsDir() == (len(rest) > 0) {
				matches = append(matches, filepath.Join(dir, e.Name()))
			}
		}
	}
	if len(rest) == 0 || len(matches) == 0 {
		slices.Sort(matches)
		return matches, nil
	}
	return glob(fsys, matches, rest)
}
