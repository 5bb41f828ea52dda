package tfgnn

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ErrSyntax is wrapped by errors of bytes that cannot be read as their message.
var ErrSyntax = errors.New("not the expected message")

// maxText bounds a schema or spec: the largest known ones have some kilobytes.
const maxText = 64 << 20

// ParseSchema reads a GraphSchema, text or binary. Errors are prefixed with name,
// usually the path. It does not check what the schema says: see CheckSchema.
func ParseSchema(name string, data []byte) (*tfgnnpb.GraphSchema, error) {
	m := new(tfgnnpb.GraphSchema)
	return m, parse(name, data, m)
}

// ParseSpec reads a SamplingSpec, text or binary. Errors are prefixed with name,
// usually the path. It does not check what the spec says: see CheckSpec.
func ParseSpec(name string, data []byte) (*tfgnnpb.SamplingSpec, error) {
	m := new(tfgnnpb.SamplingSpec)
	return m, parse(name, data, m)
}

// protobuf's errors begin with "proto:" and a space or a no-break space, by
// chance, so that nobody compares them.
var position = regexp.MustCompile(`^proto:[ \x{a0}](?:syntax error )?\(line (\d+):(\d+)\): (.*)$`)

func parse(name string, data []byte, m proto.Message) error {
	if isBinary(data) {
		return parseBinary(name, data, m)
	}
	err := prototext.Unmarshal(data, m)
	if err == nil {
		return nil
	}
	kind := m.ProtoReflect().Descriptor().Name()
	if p := position.FindStringSubmatch(err.Error()); p != nil {
		what := strings.ReplaceAll(p[3], "graphmill.tfgnn.", "")
		expected := fmt.Sprintf("a %s in text format", kind)
		if strings.HasPrefix(what, "invalid value for enum type: DT_") {
			expected = "one of " + dtypeNames()
		}
		return tagged.Errorf(ErrSyntax, "%s:%s:%s: found %s; expected %s", name, p[1], p[2], what, expected)
	}
	what := strings.TrimLeft(strings.TrimPrefix(err.Error(), "proto:"), " \u00a0")
	return tagged.Errorf(ErrSyntax, "%s: found %s; expected a %s in text format", name, what, kind)
}

// File is a schema or spec as it was read, with what is wrong with it and what is
// odd, in the order of the text.
type File[M proto.Message] struct {
	Name     string // of the file
	Binary   bool
	Message  M
	Faults   []*Fault
	Warnings []*Fault

	text *textIndex // nil of a binary file
}

// Err is all faults as one error, or nil.
func (f *File[M]) Err() error { return joined(f.Faults) }

// judge fills in the faults and warnings of a file that holds data.
func (f *File[M]) judge(data []byte, faults, warnings list) {
	desc := f.Message.ProtoReflect().Descriptor()
	if f.Binary = isBinary(data); !f.Binary {
		f.text = indexText(data)
		for _, again := range f.text.twice(desc) {
			warnings.add(again, "found for the second time; the last one counts, as in TF-GNN")
		}
	}
	faults.place(f.Name, f.text, desc)
	warnings.place(f.Name, f.text, desc)
	f.Faults, f.Warnings = faults, warnings
}

// OpenSchema reads the schema at path: a file, or a folder with one schema among
// its .pbtxt files, or, where it has none, its .pb files. The error says why it
// cannot be read; what it says is judged in the result.
func OpenSchema(fsys vfs.FS, path string) (*File[*tfgnnpb.GraphSchema], error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, err
	}
	f := &File[*tfgnnpb.GraphSchema]{Name: path}
	var data []byte
	if info.IsDir() {
		f, data, err = findSchema(fsys, path)
	} else {
		f.Message, data, err = readSchemaFile(fsys, path)
	}
	if err != nil {
		return nil, err
	}
	c := checkSchema(f.Message)
	f.judge(data, c.faults, c.warnings)
	return f, nil
}

// OpenSpec reads the sampling spec in a file and judges it by the schema of the
// graph.
func OpenSpec(fsys vfs.FS, file string, schema *tfgnnpb.GraphSchema) (*File[*tfgnnpb.SamplingSpec], error) {
	data, err := vfs.ReadFile(fsys, file, maxText)
	if err != nil {
		return nil, err
	}
	spec, err := ParseSpec(file, data)
	if err != nil {
		return nil, err
	}
	f := &File[*tfgnnpb.SamplingSpec]{Name: file, Message: spec}
	c := checkSpec(spec, schema)
	f.judge(data, c.faults, c.warnings)
	return f, nil
}

// ReadSchema is OpenSchema for a schema that must be valid: its faults are the
// error. It returns the schema, its file, and the warnings.
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

// ReadSpec reads the sampling spec in a file.
func ReadSpec(fsys vfs.FS, file string) (*tfgnnpb.SamplingSpec, error) {
	data, err := vfs.ReadFile(fsys, file, maxText)
	if err != nil {
		return nil, err
	}
	return ParseSpec(file, data)
}

func readSchemaFile(fsys vfs.FS, file string) (*tfgnnpb.GraphSchema, []byte, error) {
	data, err := vfs.ReadFile(fsys, file, maxText)
	if err != nil {
		return nil, nil, err
	}
	schema, err := ParseSchema(file, data)
	return schema, data, err
}

// findSchema finds the one schema of a folder. A sampling spec may lie beside it.
func findSchema(fsys vfs.FS, dir string) (*File[*tfgnnpb.GraphSchema], []byte, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	var broken []error
	for _, exts := range [][]string{{".pbtxt"}, {".pb", ".binpb"}} {
		var found *File[*tfgnnpb.GraphSchema]
		var text []byte
		for _, e := range entries {
			if e.IsDir() || !slices.Contains(exts, filepath.Ext(e.Name())) {
				continue
			}
			name := filepath.Join(dir, e.Name())
			schema, data, err := readSchemaFile(fsys, name)
			switch {
			case err != nil && !errors.Is(err, ErrSyntax):
				return nil, nil, err
			case err != nil:
				broken = append(broken, err)
			case found != nil:
				return nil, nil, fmt.Errorf("%s: found two schemas, %s and %s, expected one; name the file", dir, filepath.Base(found.Name), e.Name())
			default:
				found, text = &File[*tfgnnpb.GraphSchema]{Name: name, Message: schema}, data
			}
		}
		if found != nil {
			return found, text, nil
		}
	}
	return nil, nil, errors.Join(append([]error{fmt.Errorf("%s: found no GraphSchema among its .pbtxt and .pb files, expected one; name the file", dir)}, broken...)...)
}
