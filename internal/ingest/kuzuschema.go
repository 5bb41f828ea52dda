package ingest

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/limits"
)

// cypherStatement is a statement as words: names and numbers, texts, and signs. Words in grave accents are names; texts begin with a single quote.
type cypherStatement struct {
	line  int
	words []string
}

// cypherStatements cuts a file into statements, which end with ';'.
func cypherStatements(path string, text []byte) (list []cypherStatement, err error) {
	if !utf8.Valid(text) {
		return nil, sourcef("%s: found bytes that are not UTF-8, expected text; convert the file", path)
	}
	now := cypherStatement{}
	line, depth := 1, 0
	lineStart := true // only blanks are above in the line
	add := func(word string) {
		if now.words == nil {
			now.line = line
		}
		now.words = append(now.words, word)
	}
	for at := 0; at < len(text); {
		c := text[at]
		switch {
		case c == '\n':
			line++
			at++
			lineStart = true
		case c == ';':
			depth = 0
			if at++; now.words != nil {
				list, now = append(list, now), cypherStatement{}
			}
		case strings.HasPrefix(string(text[at:min(at+2, len(text))]), "//"):
			for at < len(text) && text[at] != '\n' {
				at++
			}
		case c == '`' || c == '"' || c == '\'':
			word, n := cypherQuoted(text[at:])
			if n == 0 {
				return nil, sourcef("%s:%d: found a quote without an end, expected one; the file is cut", path, line)
			}
			if c != '`' {
				word = "'" + word
			}
			add(word)
			line += strings.Count(string(text[at:at+n]), "\n")
			at += n
		default:
			r, n := utf8.DecodeRune(text[at:])
			if unicode.IsSpace(r) {
				at += n
				continue
			}
			end := at + n
			for isCypherName(r) && end < len(text) {
				next, size := utf8.DecodeRune(text[end:])
				if !isCypherName(next) {
					break
				}
				end += size
			}
			word := string(text[at:end])
			if depth == 0 && lineStart && now.words != nil && (strings.EqualFold(word, "COPY") || strings.EqualFold(word, "CREATE")) {
				return nil, sourcef("%s:%d: found %s within the statement of line %d, expected a semicolon before it; end each statement with one", path, line, word, now.line)
			}
			switch word {
			case "(", "[":
				depth++
			case ")", "]":
				depth--
			}
			lineStart = false
			add(word)
			at = end
		}
	}
	if now.words != nil {
		list = append(list, now)
	}
	return list, nil
}

func isCypherName(r rune) bool {
	return r == '_' || r == '-' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// cypherQuoted reads a quoted word, and returns its bytes with the quotes; 0: it has no end.
func cypherQuoted(text []byte) (word string, n int) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] != '`' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case text[i] != text[0]:
			b.WriteByte(text[i])
		case i+1 < len(text) && text[i+1] == text[0]: // twice stands for once
			i++
			b.WriteByte(text[i])
		default:
			return b.String(), i + 1
		}
	}
	return "", 0
}

// is says whether a statement has words from one on, in any case.
func (s *cypherStatement) is(at int, words ...string) bool {
	if at+len(words) > len(s.words) {
		return false
	}
	for i, w := range words {
		if !strings.EqualFold(s.words[at+i], w) {
			return false
		}
	}
	return true
}

// kuzuTable is a table of a schema.
type kuzuTable struct {
	name    string
	line    int
	isRel   bool
	columns []kuzuColumn
	key     string
	pairs   [][2]string // node tables, from and to
}

// kuzuColumn is a column of a table; typ is as it is written, in capitals.
type kuzuColumn struct{ name, typ string }

func (t *kuzuTable) names() (names []string) {
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return names
}

// kuzuSchema reads the tables that a schema creates. Other statements say nothing about tables.
func kuzuSchema(path string, statements []cypherStatement) (tables []*kuzuTable, err error) {
	for i := range statements {
		s := &statements[i]
		node := s.is(0, "CREATE", "NODE", "TABLE")
		if !node && !s.is(0, "CREATE", "REL", "TABLE") {
			continue
		}
		at := 3
		if s.is(at, "GROUP") {
			at++
		}
		if s.is(at, "IF", "NOT", "EXISTS") {
			at += 3
		}
		t := &kuzuTable{line: s.line, isRel: !node}
		bad := func(text string) error {
			return sourcef("%s:%d: found a statement that is not read, expected CREATE NODE TABLE name (column TYPE, ..., PRIMARY KEY (column)) or CREATE REL TABLE name (FROM table TO table, column TYPE, ...); %s", path, s.line, text)
		}
		if at+1 >= len(s.words) || s.words[at+1] != "(" {
			return nil, bad("export the database again")
		}
		t.name = s.words[at]
		for _, part := range cypherParts(s.words[at+2:]) {
			if err := t.add(part); err != nil {
				return nil, bad(err.Error())
			}
		}
		if node && t.key == "" {
			return nil, bad("the table " + t.name + " has no primary key")
		}
		if tables = append(tables, t); len(tables) > limits.Names {
			return nil, sourcef("%s:%d: found more than %d tables, expected fewer; export fewer", path, s.line, limits.Names)
		}
	}
	return tables, nil
}

// cypherParts cuts words at commas up to the ')' that closes them.
func cypherParts(words []string) (parts [][]string) {
	var now []string
	depth := 0
	for _, w := range words {
		switch {
		case w == "(" || w == "[":
			depth++
		case depth == 0 && w == ")":
			if now != nil {
				parts = append(parts, now)
			}
			return parts
		case w == ")" || w == "]":
			depth--
		case depth == 0 && w == ",":
			parts, now = append(parts, now), nil
			continue
		}
		now = append(now, w)
	}
	return parts
}

// add reads a part of the list of a table: a column, a key, a pair of node tables, or what is no column.
func (t *kuzuTable) add(part []string) error {
	s := &cypherStatement{words: part}
	switch {
	case len(part) == 0:
		return fmt.Errorf("found nothing between commas")
	case s.is(0, "PRIMARY", "KEY", "(") && len(part) == 5:
		t.key = part[3]
		return nil
	case t.isRel && s.is(0, "FROM") && s.is(2, "TO") && len(part) == 4:
		t.pairs = append(t.pairs, [2]string{part[1], part[3]})
		return nil
	case t.isRel && len(part) == 1: // MANY_ONE
		return nil
	case len(part) < 2:
		return fmt.Errorf("found the word %.40q", part[0])
	}
	c := kuzuColumn{name: part[0]}
	depth := 0
	for i, w := range part[1:] {
		rest := &cypherStatement{words: part[1+i:]}
		if depth == 0 && rest.is(0, "DEFAULT") {
			break
		}
		if depth == 0 && rest.is(0, "PRIMARY", "KEY") {
			t.key = c.name
			break
		}
		depth += strings.Count(w, "(") - strings.Count(w, ")")
		c.typ += strings.ToUpper(w)
	}
	t.columns = append(t.columns, c)
	return nil
}

// kuzuDTypes are the dtypes of types of one value.
var kuzuDTypes = map[string]table.Field{
	"STRING": {DType: graph.String}, "UUID": {DType: graph.String}, "INTERVAL": {DType: graph.String}, "BOOL": {DType: graph.Bool}, "BOOLEAN": {DType: graph.Bool},
	"INT8": {DType: graph.Int8}, "INT16": {DType: graph.Int16}, "INT32": {DType: graph.Int32}, "INT": {DType: graph.Int32}, "INT64": {DType: graph.Int64}, "SERIAL": {DType: graph.Int64},
	"UINT8": {DType: graph.Uint8}, "UINT16": {DType: graph.Uint16}, "UINT32": {DType: graph.Uint32}, "UINT64": {DType: graph.Uint64}, "INT128": {DType: graph.String},
	"FLOAT": {DType: graph.Float32}, "DOUBLE": {DType: graph.Float64},
	"DATE": {DType: graph.Int64, Unit: graph.Seconds}, "TIMESTAMP": {DType: graph.Int64, Unit: graph.Microseconds}, "TIMESTAMP_TZ": {DType: graph.Int64, Unit: graph.Microseconds},
	"TIMESTAMP_NS": {DType: graph.Int64, Unit: graph.Nanoseconds}, "TIMESTAMP_MS": {DType: graph.Int64, Unit: graph.Milliseconds}, "TIMESTAMP_SEC": {DType: graph.Int64, Unit: graph.Seconds},
}

// field is the field of a column, as text has it; false: there is none, as of structs.
func (c *kuzuColumn) field() (table.Field, bool) {
	element, dims, list := strings.Cut(c.typ, "[")
	if strings.HasPrefix(element, "DECIMAL(") {
		element = "DOUBLE"
	}
	f, ok := kuzuDTypes[element]
	if f.Name = c.name; !list || !ok {
		return f, ok
	}
	if f.Unit != "" {
		return f, false
	}
	for part := range strings.SplitSeq(dims, "[") {
		n := -1
		if text, closed := strings.CutSuffix(part, "]"); !closed {
			return f, false
		} else if text != "" {
			if _, err := fmt.Sscanf(text, "%d", &n); err != nil || n < 1 {
				return f, false
			}
		}
		f.Shape = append([]int{n}, f.Shape...) // the last brackets are the outermost list
	}
	return f, true
}
