package records

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

var shardName = regexp.MustCompile(`^(.+)-[0-9]{5}-of-([0-9]{5})$`)

// Files returns the files that the arguments name, in their order: paths, globs (sorted), and base@N for N shards,
// all of which must exist. If shards are named one by one, as a shell expands a pattern, a warning says that some are
// missing.
func Files(fsys vfs.FS, args []string) (files, warnings []string, err error) {
	for _, arg := range args {
		dir, name := filepath.Split(arg)
		absolute := strings.ContainsAny(dir, "*?[")
		if absolute { // a folder of the path is a pattern
			if dir, err = vfs.Abs("."); err != nil {
				return nil, nil, err
			}
			if name, err = vfs.Abs(arg); err != nil {
				return nil, nil, err
			}
		}
		found, err := tfgnnfiles.Tables(fsys, filepath.Clean(dir+"."), name, absolute)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, found...)
	}
	count, of := map[string]int{}, map[string]string{}
	var bases []string
	for _, f := range files {
		if m := shardName.FindStringSubmatch(f); m != nil {
			key := m[1] + "@" + strings.TrimLeft(m[2], "0")
			if count[key]++; count[key] == 1 {
				bases = append(bases, key)
			}
			of[key] = m[2]
		}
	}
	for _, key := range bases {
		if want := of[key]; fmt.Sprintf("%05d", count[key]) != want {
			warnings = append(warnings, fmt.Sprintf("%s: found %d of its shards; name it %s for all", key, count[key], key))
		}
	}
	return files, warnings, nil
}
