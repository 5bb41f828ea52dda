package tfgnnfiles

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/vfs"
)

// maxText bounds the bytes of a schema or spec. The largest known ones have some kilobytes.
const maxText = 64 << 20

// OpenSchema reads and checks the schema at path: a file, or a folder with one schema among its .pbtxt files or, where
// none of them is a schema, among its .pb and .binpb files. The error says why no schema can be read; the result holds
// the faults of the schema that was read.
func OpenSchema(fsys vfs.FS, path string) (*tfgnn.File[*tfgnnpb.GraphSchema], error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return findSchema(fsys, path)
	}
	return openSchemaFile(fsys, path)
}

// OpenSpec reads the sampling spec in a file and checks it against the schema of the graph. Error and result are as in
// OpenSchema.
func OpenSpec(fsys vfs.FS, file string, schema *tfgnnpb.GraphSchema) (*tfgnn.File[*tfgnnpb.SamplingSpec], error) {
	data, err := vfs.ReadFile(fsys, file, maxText)
	if err != nil {
		return nil, err
	}
	return tfgnn.InspectSpec(file, data, schema)
}

// ReadSchema reads a schema as OpenSchema does; its faults become the error. It returns the schema, its file, and the
// warnings.
func ReadSchema(fsys vfs.FS, path string) (schema *tfgnnpb.GraphSchema, file string, warnings []string, err error) {
	f, err := OpenSchema(fsys, path)
	if err != nil {
		return nil, "", nil, err
	}
	for _, w := range f.Warnings {
		warnings = append(warnings, w.Error())
	}
	if err := f.Err(); err != nil {
		return nil, "", warnings, err
	}
	return f.Message, f.Name, warnings, nil
}

// ReadSpec reads the sampling spec in a file. It does not check what the spec says.
func ReadSpec(fsys vfs.FS, file string) (*tfgnnpb.SamplingSpec, error) {
	data, err := vfs.ReadFile(fsys, file, maxText)
	if err != nil {
		return nil, err
	}
	return tfgnn.ParseSpec(file, data)
}

// OpenTables finds the tables of a unigraph. Their file names are relative to dir, or to the folder of the schema where
// dir is empty. Missing tables become faults of f. absolute is as in Tables.
func OpenTables(fsys vfs.FS, f *tfgnn.File[*tfgnnpb.GraphSchema], dir string, absolute bool) []tfgnn.Table {
	if dir == "" {
		dir = filepath.Dir(f.Name)
	}
	return tfgnn.FindTables(f, func(filename string) ([]string, error) { return Tables(fsys, dir, filename, absolute) })
}

func openSchemaFile(fsys vfs.FS, file string) (*tfgnn.File[*tfgnnpb.GraphSchema], error) {
	data, err := vfs.ReadFile(fsys, file, maxText)
	if err != nil {
		return nil, err
	}
	return tfgnn.InspectSchema(file, data)
}

// findSchema finds the one schema of a folder. Files that are no schema, such as a sampling spec, may be next to it.
func findSchema(fsys vfs.FS, dir string) (*tfgnn.File[*tfgnnpb.GraphSchema], error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var broken []error
	for _, exts := range [][]string{{".pbtxt"}, {".pb", ".binpb"}} {
		var found *tfgnn.File[*tfgnnpb.GraphSchema]
		for _, e := range entries {
			if e.IsDir() || !slices.Contains(exts, filepath.Ext(e.Name())) {
				continue
			}
			schema, err := openSchemaFile(fsys, filepath.Join(dir, e.Name()))
			switch {
			case err != nil && !errors.Is(err, tfgnn.ErrSyntax):
				return nil, err
			case err != nil:
				broken = append(broken, err)
			case found != nil:
				return nil, fmt.Errorf("%s: found two schemas, %s and %s, expected one; name the file", dir, filepath.Base(found.Name), e.Name())
			default:
				found = schema
			}
		}
		if found != nil {
			return found, nil
		}
	}
	return nil, errors.Join(append([]error{fmt.Errorf("%s: found no GraphSchema among its .pbtxt and .pb files, expected one; name the file", dir)}, broken...)...)
}
