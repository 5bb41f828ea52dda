package lake

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Resolve returns the path of a file that the log of the table in a folder names: relative to the folder, or a URI with a scheme. A path
// outside of the folder, or a symbolic link to one, is an error unless outside allows it.
func Resolve(fsys vfs.FS, table, name string, outside bool) (string, error) {
	path, err := local(name)
	if err != nil {
		return "", err
	}
	if vfs.Scheme(path) == "" && !filepath.IsAbs(path) {
		if !filepath.IsLocal(path) && !outside {
			return "", outsideError(table, path)
		}
		path = filepath.Join(table, path)
	}
	if outside {
		return path, nil
	}
	rel, err := filepath.Rel(table, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", outsideError(table, path)
	}
	if vfs.Scheme(path) != "" {
		return path, nil
	}
	return path, vfs.Inside(fsys, table, path)
}

func outsideError(table, path string) error {
	return Badf("%s: found the file %s in the log, expected files in the folder of the table; copy the table to one place, or allow it with `AllowOutside`", table, path)
}

// local returns the path of a URI.
func local(name string) (string, error) {
	scheme, rest, ok := strings.Cut(name, ":/")
	if !ok || strings.ContainsAny(scheme, "/.%=") || scheme == "" {
		return name, nil
	}
	switch scheme {
	case "file":
		rest = "/" + strings.TrimLeft(rest, "/")
		if path, err := url.PathUnescape(rest); err == nil {
			return path, nil
		}
		return rest, nil
	case "s3a", "s3n":
		return filepath.Clean("s3:/" + rest), nil
	}
	if vfs.Scheme(name) != "" {
		return filepath.Clean(name), nil
	}
	return "", Badf("found the file %s in the log, expected a path, or one of file:, s3: and gs:; copy the table to one of them", name)
}
