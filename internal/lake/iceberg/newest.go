package iceberg

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// metadataName is the name of a file of metadata: its version is in one of the two groups.
var metadataName = regexp.MustCompile(`^(?:v([0-9]{1,18})|([0-9]{1,18})-.*?)(?:\.gz)?\.metadata\.json(?:\.gz)?$`)

// suffixes are the ends of names of files of metadata: plain, and packed by gzip.
var suffixes = []string{MetadataSuffix, ".gz" + MetadataSuffix, MetadataSuffix + ".gz"}

// IsMetadata says whether a file has the name of a file of metadata.
func IsMetadata(base string) bool {
	return strings.HasSuffix(base, MetadataSuffix) || strings.HasSuffix(base, MetadataSuffix+".gz")
}

// newest finds the newest file of metadata in the folder of a table.
//
// A catalog that is a folder writes vN.metadata.json, and N into version-hint.text afterwards, so that the newest version is
// the last without a gap from the hint on. Other catalogs know the newest file themselves. Without them the file with the
// highest number is taken, and two with that number are an error, since one of them can be of a commit that failed.
func newest(fsys vfs.FS, dir string) (string, error) {
	folder := filepath.Join(dir, Metadata)
	hint, err := vfs.ReadFile(fsys, filepath.Join(folder, "version-hint.text"), 1<<12)
	if err == nil {
		return hinted(fsys, folder, strings.TrimSpace(string(hint)))
	}
	if !vfs.Absent(err) {
		return "", err
	}
	entries, err := fsys.ReadDir(folder)
	if err != nil {
		return "", err
	}
	best, name, other := int64(-1), "", ""
	for _, e := range entries {
		m := metadataName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		n, err := strconv.ParseInt(m[1]+m[2], 10, 64)
		if err != nil {
			continue
		}
		switch {
		case n > best:
			best, name, other = n, e.Name(), ""
		case n == best:
			other = e.Name()
		}
	}
	switch {
	case name == "":
		return "", lake.Badf("%s: found no file of metadata, expected vN%s or NNNNN-UUID%s; copy the whole table", folder, MetadataSuffix, MetadataSuffix)
	case other != "":
		return "", lake.Badf("%s: found %s and %s, of which one may be of a commit that failed, expected one file with the highest number; give the path of the file that the catalog names", folder, name, other)
	}
	return filepath.Join(folder, name), nil
}

// hinted finds the file that version-hint.text means: a number, the name of a file, or its start.
func hinted(fsys vfs.FS, folder, hint string) (string, error) {
	if IsMetadata(filepath.Base(hint)) { // some catalogs write the whole path
		return filepath.Join(folder, filepath.Base(hint)), nil
	}
	n, err := strconv.ParseInt(hint, 10, 64)
	if err != nil || n < 0 {
		if hint == "" || filepath.Base(hint) != hint {
			return "", lake.Badf("%s: found %q, expected the number of a version or the name of a file; copy the table again", filepath.Join(folder, "version-hint.text"), hint)
		}
		path, err := first(fsys, folder, hint)
		if err == nil && path == "" {
			err = lake.Badf("%s: found no such file, expected the one that version-hint.text names; copy the whole table", filepath.Join(folder, hint+MetadataSuffix))
		}
		return path, err
	}
	found := ""
	for ; n >= 0; n++ {
		path, err := first(fsys, folder, fmt.Sprintf("v%d", n))
		if err != nil {
			return "", err
		}
		if path == "" {
			break
		}
		found = path
	}
	if found == "" {
		return "", lake.Badf("%s: found no such file, expected the one that version-hint.text names; copy the whole table", filepath.Join(folder, "v"+hint+MetadataSuffix))
	}
	return found, nil
}

// first returns the path of the file whose name begins with a text and has one of the suffixes; empty: there is none.
func first(fsys vfs.FS, folder, start string) (string, error) {
	for _, s := range suffixes {
		path := filepath.Join(folder, start+s)
		if there, err := vfs.Exists(fsys, path); err != nil {
			return "", err
		} else if there {
			return path, nil
		}
	}
	return "", nil
}
