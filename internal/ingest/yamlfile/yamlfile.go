// Package yamlfile reads files of YAML that people write: one document, whose keys must be known. Errors name file, line and
// column, and say what was expected.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The parser is recursive, and its time is quadratic in the number of keys, so a hostile file could exhaust the stack
// or take minutes. These bounds keep it to about a second, and are far above the needs of a list of tables.
const (
	// MostBytes is the size of the largest file.
	MostBytes   = 128 << 10
	maxYAMLLine = 2048
	maxYAMLFlow = 64 // depth of nested brackets
)

// File is a file with one document. Its keys are strict, and aliases, anchors and tags are refused, so that the content is
// exactly what is written.
type File struct {
	Path string
	// Kind is the kind of the errors about the content, for errors.Is.
	Kind error
}

// Entry is a key and its value.
type Entry struct {
	Key   string
	At    ast.Node // the key
	Value ast.Node
}

// Errorf is fmt.Errorf for an error of the kind of the file, with the place of a node before it.
func (y File) Errorf(at ast.Node, format string, a ...any) error {
	return tagged.Errorf(y.Kind, "%s: %w", y.Place(at), fmt.Errorf(format, a...))
}

// Place is the file, line and column of a node.
func (y File) Place(at ast.Node) string {
	if at == nil || at.GetToken() == nil {
		return y.Path
	}
	p := at.GetToken().Position
	return fmt.Sprintf("%s:%d:%d", y.Path, p.Line, p.Column)
}

// Read returns the one document of the file.
func (y File) Read(fsys vfs.FS) (ast.Node, error) {
	text, err := vfs.ReadFile(fsys, y.Path, MostBytes)
	if err != nil {
		return nil, err
	}
	return y.Parse(text)
}

// Parse returns the one document of a text.
func (y File) Parse(text []byte) (ast.Node, error) {
	depth := 0
	for i, line := range bytes.Split(text, []byte("\n")) {
		if len(line) > maxYAMLLine {
			return nil, tagged.Errorf(y.Kind, "%s:%d: found a line of %d bytes, expected at most %d", y.Path, i+1, len(line), maxYAMLLine)
		}
		for _, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
			if depth > maxYAMLFlow {
				return nil, tagged.Errorf(y.Kind, "%s:%d: found more than %d open brackets, expected fewer; write lists as lines", y.Path, i+1, maxYAMLFlow)
			}
		}
	}
	f, err := parser.Parse(colonKeys(lexer.Tokenize(string(text))), 0)
	if err != nil {
		if e := (yaml.Error)(nil); errors.As(err, &e) && e.GetToken() != nil {
			p := e.GetToken().Position
			return nil, tagged.Errorf(y.Kind, "%s:%d:%d: found bad YAML: %s", y.Path, p.Line, p.Column, e.GetMessage())
		}
		return nil, tagged.Errorf(y.Kind, "%s: found bad YAML: %w", y.Path, err)
	}
	if len(f.Docs) == 0 || len(f.Docs) == 1 && f.Docs[0].Body == nil {
		return nil, tagged.Errorf(y.Kind, "%s: found no keys, expected nodes and edges; write them, or let graphmill draft write them", y.Path)
	}
	if len(f.Docs) != 1 || f.Docs[0].Body == nil {
		return nil, tagged.Errorf(y.Kind, "%s: found %d documents, expected one with nodes and edges; leave one, and remove the lines ---", y.Path, len(f.Docs))
	}
	return f.Docs[0].Body, nil
}

// Mapping returns the entries of a mapping, in order. An empty value has none. Keys must be in known, unless known is
// nil.
func (y File) Mapping(n ast.Node, what string, known []string) ([]Entry, error) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case nil, *ast.NullNode:
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, y.Errorf(n, "found %s, expected a mapping of %s", kindOf(n), what)
	}
	var out []Entry
	for _, v := range values {
		key, err := y.Text(v.Key, "a key of "+what)
		if err != nil {
			return nil, err
		}
		if known != nil && !slices.Contains(known, key) {
			hint := suggest.Hint(key, known)
			if strings.Contains(key, " ") {
				hint = "; put quotes around a text with commas"
			}
			return nil, y.Errorf(v.Key, "found the key %q, expected one of %s%s", key, strings.Join(known, ", "), hint)
		}
		if slices.ContainsFunc(out, func(e Entry) bool { return e.Key == key }) {
			return nil, y.Errorf(v.Key, "found the key %q twice, expected it once; remove one", key)
		}
		out = append(out, Entry{key, v.Key, v.Value})
	}
	return out, nil
}

// Text returns a scalar as it is written, without quotes.
func (y File) Text(n ast.Node, what string) (string, error) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, nil
	}
	return "", y.Errorf(n, "found %s, expected %s", kindOf(n), what)
}

// Texts returns the scalars of a list, or a single scalar.
func (y File) Texts(n ast.Node, what string) ([]string, error) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		s, err := y.Text(n, what)
		return []string{s}, err
	}
	var out []string
	for _, v := range list.Values {
		s, err := y.Text(v, what)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, y.Errorf(n, "found an empty list, expected %s; add an entry, or remove the key", what)
	}
	return out, nil
}

// Count returns a scalar that is a number from 0. It may have "_" between its digits.
func (y File) Count(n ast.Node, what string) (uint64, error) {
	s, err := y.Text(n, what)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseUint(strings.ReplaceAll(s, "_", ""), 10, 64)
	if err != nil {
		return 0, y.Errorf(n, "found %q, expected %s", s, what)
	}
	return v, nil
}

// Boolean returns a scalar that is true or false.
func (y File) Boolean(n ast.Node) (bool, error) {
	if b, ok := n.(*ast.BoolNode); ok {
		return b.Value, nil
	}
	return false, y.Errorf(n, "found %s, expected true or false", kindOf(n))
}

// colonKeys makes one token of a key in braces that has colons, {u:e:u: {...}}. A colon without a space after it is a part of
// the key, but the lexer cuts the key at the first one, and then finds a scalar "e:u:" before a bracket, which no YAML has.
func colonKeys(tokens token.Tokens) token.Tokens {
	var out token.Tokens
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		if i+3 < len(tokens) && t.Type == token.StringType && tokens[i+1].Type == token.MappingValueType && (tokens[i+3].Type == token.MappingStartType || tokens[i+3].Type == token.SequenceStartType) {
			colon, rest, open := tokens[i+1], tokens[i+2], tokens[i+3]
			name, ok := strings.CutSuffix(rest.Value, ":")
			if ok && rest.Type == token.StringType && rest.Position.Line == t.Position.Line && rest.Position.Column == t.Position.Column+utf8.RuneCountInString(t.Value)+1 {
				t.Value += ":" + name
				t.Origin += ":" + name
				colon.Position.Column += utf8.RuneCountInString(name) + 1
				colon.Position.Offset += len(name) + 1
				colon.Next, open.Prev = open, colon
				out = append(out, t, colon)
				i += 2
				continue
			}
		}
		out = append(out, t)
	}
	return out
}

func kindOf(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode, *ast.MergeKeyNode, *ast.MappingKeyNode:
		return "an anchor, alias, tag or complex key"
	}
	return fmt.Sprintf("%q", n.GetToken().Value)
}
