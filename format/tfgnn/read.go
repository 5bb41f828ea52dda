package tfgnn

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/fsx"
)

// ErrSyntax is wrapped by errors of text that cannot be read as its message.
var ErrSyntax = errors.New("not the expected text message")

// maxText bounds a schema or spec: the largest known ones have some kilobytes.
const maxText = 64 << 20

// ParseSchema reads a GraphSchema. Errors are prefixed with name, usually the
// path. It does not check what the schema says: see CheckSchema.
func ParseSchema(name string, text []byte) (*tfgnnpb.GraphSchema, error) {
	m := new(tfgnnpb.GraphSchema)
	return m, parse(name, text, m)
}

// ParseSpec reads a SamplingSpec. Errors are prefixed with name, usually the
// path. It does not check what the spec says.
func ParseSpec(name string, text []byte) (*tfgnnpb.SamplingSpec, error) {
	m := new(tfgnnpb.SamplingSpec)
	return m, parse(name, text, m)
}

// protobuf's errors begin with "proto:" and a space or a no-break space, by
// chance, so that nobody compares them.
var position = regexp.MustCompile(`^proto:[ \x{a0}](?:syntax error )?\(line (\d+):(\d+)\): (.*)$`)

func parse(name string, text []byte, m proto.Message) error {
	err := prototext.Unmarshal(text, m)
	if err == nil {
		return nil
	}
	kind := m.ProtoReflect().Descriptor().Name()
	if p := position.FindStringSubmatch(err.Error()); p != nil {
		what := strings.ReplaceAll(p[3], "graphmill.tfgnn.", "")
		return fmt.Errorf("%s:%s:%s: found %s; expected a %s in text format: %w", name, p[1], p[2], what, kind, ErrSyntax)
	}
	what := strings.TrimLeft(strings.TrimPrefix(err.Error(), "proto:"), " \u00a0")
	return fmt.Errorf("%s: found %s; expected a %s in text format: %w", name, what, kind, ErrSyntax)
}

// ReadSchema reads and checks the schema at path: a file, or a folder with one
// schema among its .pbtxt files. It returns the schema, its file, and what is odd
// about it, each prefixed with the file.
func ReadSchema(fsys fsx.FS, path string) (schema *tfgnnpb.GraphSchema, file string, warnings []string, err error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, "", nil, err
	}
	if info.IsDir() {
		schema, file, err = findSchema(fsys, path)
	} else {
		schema, err = readSchemaFile(fsys, path)
		file = path
	}
	if err != nil {
		return nil, "", nil, err
	}
	warnings, err = CheckSchema(schema)
	for i, w := range warnings {
		warnings[i] = file + ": " + w
	}
	if err != nil {
		return nil, "", warnings, prefixed(file, err)
	}
	return schema, file, warnings, nil
}

// ReadSpec reads the sampling spec in a file.
func ReadSpec(fsys fsx.FS, file string) (*tfgnnpb.SamplingSpec, error) {
	text, err := fsx.ReadFile(fsys, file, maxText)
	if err != nil {
		return nil, err
	}
	return ParseSpec(file, text)
}

func readSchemaFile(fsys fsx.FS, file string) (*tfgnnpb.GraphSchema, error) {
	text, err := fsx.ReadFile(fsys, file, maxText)
	if err != nil {
		return nil, err
	}
	return ParseSchema(file, text)
}

// findSchema finds the one schema of a folder. A sampling spec may lie beside it.
func findSchema(fsys fsx.FS, dir string) (*tfgnnpb.GraphSchema, string, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, "", err
	}
	var (
		found  *tfgnnpb.GraphSchema
		file   string
		broken []error
	)
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".pbtxt" {
			continue
		}
		name := filepath.Join(dir, e.Name())
		schema, err := readSchemaFile(fsys, name)
		switch {
		case err != nil && !errors.Is(err, ErrSyntax):
			return nil, "", err
		case err != nil:
			broken = append(broken, err)
		case found != nil:
			return nil, "", fmt.Errorf("%s: found two schemas, %s and %s, expected one; name the file", dir, filepath.Base(file), e.Name())
		default:
			found, file = schema, name
		}
	}
	if found == nil {
		return nil, "", errors.Join(append([]error{fmt.Errorf("%s: found no GraphSchema among its .pbtxt files, expected one; name the file", dir)}, broken...)...)
	}
	return found, file, nil
}

// prefixed puts the file in front of each of the errors that were joined.
func prefixed(file string, err error) error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return fmt.Errorf("%s: %w", file, err)
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, fmt.Errorf("%s: %w", file, e))
	}
	return errors.Join(all...)
}
