package tfgnn

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrSyntax is wrapped by errors about bytes that cannot be read as the expected message.
var ErrSyntax = errors.New("not the expected message")

// ParseSchema reads a GraphSchema, text or binary. Errors begin with name, usually the path. It does not check the
// content: see CheckSchema and InspectSchema.
func ParseSchema(name string, data []byte) (*tfgnnpb.GraphSchema, error) {
	m := new(tfgnnpb.GraphSchema)
	return m, parse(name, data, m)
}

// ParseSpec reads a SamplingSpec, text or binary. Errors begin with name, usually the path. It does not check the
// content: see CheckSpec and InspectSpec.
func ParseSpec(name string, data []byte) (*tfgnnpb.SamplingSpec, error) {
	m := new(tfgnnpb.SamplingSpec)
	return m, parse(name, data, m)
}

// position matches errors of prototext. They begin with "proto:" and, at random so that nobody compares them, a space
// or a no-break space.
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

// File is a schema or spec that was read, with its faults and warnings. Both are in the order of the text, or, in a
// binary file, in the order in which they were found.
type File[M proto.Message] struct {
	Name     string
	Binary   bool
	Message  M
	Faults   []*Fault
	Warnings []*Fault

	text *textIndex // nil for a binary file
}

// Err joins all faults in one error, which is nil where there is no fault.
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

// InspectSchema reads a GraphSchema as ParseSchema does and checks it as CheckSchema does. The error says why data
// cannot be read; the result holds what the check found, each fault with its line and column where data is text.
func InspectSchema(name string, data []byte) (*File[*tfgnnpb.GraphSchema], error) {
	schema, err := ParseSchema(name, data)
	if err != nil {
		return nil, err
	}
	f := &File[*tfgnnpb.GraphSchema]{Name: name, Message: schema}
	c := checkSchema(schema)
	f.judge(data, c.faults, c.warnings)
	return f, nil
}

// InspectSpec reads a SamplingSpec as ParseSpec does and checks it against the schema as CheckSpec does. Error and
// result are as in InspectSchema.
func InspectSpec(name string, data []byte, schema *tfgnnpb.GraphSchema) (*File[*tfgnnpb.SamplingSpec], error) {
	spec, err := ParseSpec(name, data)
	if err != nil {
		return nil, err
	}
	f := &File[*tfgnnpb.SamplingSpec]{Name: name, Message: spec}
	c := checkSpec(spec, schema)
	f.judge(data, c.faults, c.warnings)
	return f, nil
}
