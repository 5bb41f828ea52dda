package report

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Made says how an output folder was made. It has nothing in which two equal runs could differ.
type Made struct {
	Command string            `json:"command"`
	Inputs  map[string]string `json:"inputs,omitempty"`
	Seed    *uint64           `json:"seed,omitempty"`
	Law     int               `json:"law,omitempty"` // version of the draw law that Seed was used with; 0 without Seed
	Plan    json.RawMessage   `json:"plan,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Version string            `json:"version"`
	// Splits are the splits of an import, by which new rows get their parts: option.Split, with the names of files without their folders.
	Splits json.RawMessage `json:"splits,omitempty"`
	// Marks are, by type, the largest values of the columns that mark the rows of queries, or the tables of lakes with their versions: an append reads the rows after them.
	Marks map[string]string `json:"marks,omitempty"`
	// Amended are the columns of a store that differ from those that Command made, by type and name.
	Amended []AmendedColumn `json:"amended,omitempty"`
	// Appended are the tables that were appended to a store before it was compacted, in order.
	Appended []AppendedTables `json:"appended,omitempty"`
}

// AppendedTables describes the tables that one append read.
type AppendedTables struct {
	Inputs  map[string]string `json:"inputs,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Marks   map[string]string `json:"marks,omitempty"`
	Version string            `json:"version"`
}

// Changes of a column since the store was made.
const (
	ColumnAdded    = "add"
	ColumnReplaced = "replace"
	ColumnDropped  = "drop"
)

// AmendedColumn is a column of a store that was changed after the store was made.
type AmendedColumn struct {
	Type    string            `json:"type"` // node type, or edge type src:rel:dst
	Column  string            `json:"column"`
	Change  string            `json:"change"` // since the store was made: ColumnAdded, ColumnReplaced or ColumnDropped
	Inputs  map[string]string `json:"inputs,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Version string            `json:"version"`
}

// Amend adds a change of a column to those before. Of several changes of one column, one is left, which leads from the store as it
// was made to the one that there is: none for a column that was added and dropped.
func (m *Made) Amend(c AmendedColumn) {
	same := func(a AmendedColumn) bool { return a.Type == c.Type && a.Column == c.Column }
	before := ""
	if i := slices.IndexFunc(m.Amended, same); i >= 0 {
		before = m.Amended[i].Change
	}
	m.Amended = slices.DeleteFunc(slices.Clone(m.Amended), same)
	switch {
	case before == ColumnAdded && c.Change == ColumnDropped:
		return
	case before == ColumnAdded:
		c.Change = ColumnAdded
	case before == ColumnDropped:
		c.Change = ColumnReplaced
	}
	m.Amended = append(m.Amended, c)
	slices.SortFunc(m.Amended, func(a, b AmendedColumn) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.Column, b.Column))
	})
}

// AmendedInputs are the inputs of the columns in Amended, one map for each column.
func (m *Made) AmendedInputs() []map[string]string {
	var inputs []map[string]string
	for _, a := range m.Amended {
		inputs = append(inputs, a.Inputs)
	}
	return inputs
}

// OptionLines is the option of appends of lines, which say no more of themselves than the last of them and all marks: a store can take one every few seconds.
const OptionLines = "lines"

// Append adds what an append read, as its segment says.
func (m *Made) Append(segment *Made) {
	if n := len(m.Appended); n > 0 && m.Appended[n-1].Options[OptionLines] != "" && segment.Options[OptionLines] != "" {
		last := &m.Appended[n-1]
		inputs, marks := maps.Clone(last.Inputs), maps.Clone(last.Marks)
		maps.Copy(inputs, segment.Inputs)
		if marks == nil {
			marks = map[string]string{}
		}
		maps.Copy(marks, segment.Marks)
		m.Appended = append(slices.Clip(m.Appended[:n-1]), AppendedTables{inputs, segment.Options, marks, segment.Version})
		return
	}
	m.Appended = append(slices.Clip(m.Appended), AppendedTables{segment.Inputs, segment.Options, segment.Marks, segment.Version})
}

// AppendedInputs are the inputs of Appended, one map for each append.
func (m *Made) AppendedInputs() []map[string]string {
	var inputs []map[string]string
	for _, a := range m.Appended {
		inputs = append(inputs, a.Inputs)
	}
	return inputs
}

// Mark sets the mark of a type.
func (m *Made) Mark(typ, mark string) {
	if m.Marks == nil {
		m.Marks = map[string]string{}
	}
	m.Marks[typ] = mark
}

// LastMarks are the marks of all tables that were read, by type: those of the last append that has one.
func (m *Made) LastMarks() map[string]string {
	marks := maps.Clone(m.Marks)
	for _, a := range m.Appended {
		if marks == nil {
			marks = map[string]string{}
		}
		maps.Copy(marks, a.Marks)
	}
	return marks
}

// Commands names the command that made the folder and those that changed it: "import, column add".
func (m *Made) Commands() string {
	text := m.Command
	if len(m.Appended) > 0 {
		text += ", append"
	}
	for _, change := range []string{ColumnAdded, ColumnReplaced, ColumnDropped} {
		if slices.ContainsFunc(m.Amended, func(a AmendedColumn) bool { return a.Change == change }) {
			text += ", column " + change
		}
	}
	return text
}
