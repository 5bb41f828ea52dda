package lines

import (
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// eventNames are the names of events in tests.
var eventNames = map[Event]string{None: "none", Add: "add", Change: "change", Drop: "drop"}

// shownLine is a line as text.
func shownLine(l *Line) string {
	text := eventNames[l.Event]
	if l.Event != None {
		text += " " + l.Table
	}
	if l.Before != nil {
		text += " before " + string(l.Before)
	}
	if l.After != nil {
		text += " after " + string(l.After)
	}
	if l.Placed {
		text += " at " + l.Place.Topic
	}
	return text
}

// Each form of a line says what it is by its keys.
func TestParse(t *testing.T) {
	const cdc = `"source":{"db":"shop","table":"calls"}`
	for _, c := range []struct{ name, text, want string }{
		{"a row", `{"id": 1}`, `add calls after {"id": 1}`},
		{"kcat, an object", `{"topic":"calls","partition":3,"offset":12,"tstype":"create","ts":1,"broker":1,"key":"a","payload":{"id":1}}`, `add calls after {"id":1} at calls`},
		{"kcat, a text", `{"topic":"calls","partition":0,"offset":12,"key":null,"payload":"{\"id\":\"\\u00e9\\n\"}"}`, `add calls after {"id":"\u00e9\n"} at calls`},
		{"kcat, a text of several lines", `{"topic":"calls","partition":0,"offset":12,"payload":"{\n  \"id\": 1\n}"}`, `add calls after {"id":1} at calls`},
		{"a tombstone", `{"topic":"other","partition":0,"offset":12,"key":"x","payload":null}`, `none at other`},
		{"a row with some keys of an envelope", `{"topic":"a","offset":1,"partition":2}`, `add calls after {"topic":"a","offset":1,"partition":2}`},
		{"created", `{"before":null,"after":{"id":1},"op":"c",` + cdc + `}`, `add calls after {"id":1}`},
		{"read in a snapshot", `{"after":{"id":1},"op":"r",` + cdc + `}`, `add calls after {"id":1}`},
		{"updated", `{"before":{"id":1},"after":{"id":1,"x":2},"op":"u",` + cdc + `}`, `change calls before {"id":1} after {"id":1,"x":2}`},
		{"updated without before", `{"before":null,"after":{"id":1,"x":2},"op":"u",` + cdc + `}`, `change calls after {"id":1,"x":2}`},
		{"deleted", `{"before":{"id":1},"after":null,"op":"d",` + cdc + `}`, `drop calls before {"id":1}`},
		{"a message", `{"op":"m","source":{"table":""}}`, `none`},
		{"a collection", `{"after":{"id":1},"op":"c","source":{"collection":"calls"}}`, `add calls after {"id":1}`},
		{"with its schema", `{"schema":{"type":"struct"},"payload":{"after":{"id":1},"op":"c",` + cdc + `}}`, `add calls after {"id":1}`},
		{"a row with its schema", `{"schema":{},"payload":{"id":1}}`, `add calls after {"id":1}`},
		{"nothing with its schema", `{"schema":null,"payload":null}`, `none`},
		{"an event in an envelope", `{"topic":"shop.calls","partition":0,"offset":7,"payload":"{\"schema\":{},\"payload\":{\"op\":\"d\",\"before\":{\"id\":1},\"source\":{\"table\":\"calls\"}}}"}`, `drop calls before {"id":1} at shop.calls`},
		{"a row with op", `{"op":"plus","id":1}`, `add calls after {"op":"plus","id":1}`},
		{"blanks", "  {\"id\" :1 }  ", "add calls after   {\"id\" :1 }  "},

		{"an array", `[1]`, "error: found an array, expected one object per line"},
		{"a number", `7`, `error: found "7", expected an object per line`},
		{"half", `{"id": 1`, "error: found the end of the line, expected a comma or }"},
		{"two", `{"id": 1} {}`, `error: found "{}" after an object`},
		{"a topic twice", `{"topic":"a","topic":"b"}`, `error: found the key "topic" twice, expected it once`},
		{"an unknown topic", `{"topic":"call","partition":0,"offset":1,"payload":{}}`, `error: found the table "call", expected one of calls; did you mean "calls"?`},
		{"a bad offset", `{"topic":"calls","partition":0,"offset":1.5,"payload":{}}`, `error: found "1.5" as the offset, expected a whole number from 0`},
		{"a bad partition", `{"topic":"calls","partition":"0","offset":1,"payload":{}}`, `error: found "\"0\"" as the partition, expected a whole number from 0`},
		{"no topic", `{"topic":null,"partition":0,"offset":1,"payload":{}}`, `error: found null as the topic, expected a text`},
		{"an array as payload", `{"topic":"calls","partition":0,"offset":1,"payload":[]}`, `error: found an array as the payload, expected an object, a text that has one, or null`},
		{"no JSON as payload", `{"topic":"calls","partition":0,"offset":1,"payload":"x"}`, `error: the payload: found "x", expected an object per line`},
		{"lines that are no JSON as payload", `{"topic":"calls","partition":0,"offset":1,"payload":"x\n"}`, `error: found the payload "x\n", expected an object of JSON`},
		{"a truncation", `{"op":"t","source":{"table":"calls"}}`, `error: found a table that was emptied (op "t")`},
		{"another op", `{"op":"x","source":{"table":"calls"}}`, `error: found the op "\"x\"", expected c, r, u or d of Debezium`},
		{"no table", `{"op":"c","after":{},"source":{}}`, "error: found no table in the source"},
		{"a source that is a text", `{"op":"c","after":{},"source":"calls"}`, "error: found a text as the source, expected an object"},
		{"an unknown table", `{"op":"c","after":{},"source":{"table":"other"}}`, `error: found the table "other", expected one of calls`},
		{"no after", `{"op":"c","source":{"table":"calls"}}`, "error: found no after, expected a row"},
		{"after null", `{"op":"u","after":null,"source":{"table":"calls"}}`, "error: found null as after, expected a row as an object"},
		{"after a text", `{"op":"c","after":"{}","source":{"table":"calls"}}`, "error: found a text as after, expected a row as an object"},
		{"no before", `{"op":"d","before":null,"source":{"table":"calls"}}`, "error: found null as before, expected a row as an object; let the database log whole rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Parser{Tables: []string{"calls"}}
			l, err := p.Parse([]byte(c.text))
			got := shownLine(&l)
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != c.want && !(err != nil && strings.HasPrefix(got, c.want)) {
				t.Errorf("found %s, expected %s", got, c.want)
			}
		})
	}
	p := Parser{Tables: []string{"calls", "people"}}
	if _, err := p.Parse([]byte(`{"id":1}`)); err == nil || !strings.Contains(err.Error(), `found a row without the name of its table, expected one of calls, people; write it as {"topic": TABLE`) {
		t.Errorf("found %v, expected an error about the table", err)
	}
}

// No line is an error that a parser forgets, or rows that are no objects.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`{"id": 1}`, `{"topic":"calls","partition":3,"offset":12,"key":"a","payload":{"id":1}}`, `{"topic":"calls","partition":0,"offset":12,"payload":"{\n\"id\":\"\\u00e9\"}"}`,
		`{"schema":{},"payload":{"before":{"id":1},"after":{"id":1,"x":[2]},"op":"u","source":{"table":"calls"}}}`, `{"before":{"id":1},"op":"d","source":{"table":"calls"}}`, `{"topic":"calls","partition":0,"offset":12,"payload":null}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			if strings.Contains(text, "\n") {
				return
			}
			p, again := Parser{Tables: []string{"calls"}}, Parser{Tables: []string{"calls"}}
			l, err := p.Parse([]byte(text))
			if err != nil {
				return
			}
			for _, row := range [][]byte{l.Before, l.After} {
				if row == nil {
					continue
				}
				if strings.ContainsAny(string(row), "\n") {
					t.Fatalf("found the row %q, expected one line", row)
				}
				// A row on its own is a line, unless its keys make it an event or an envelope.
				if _, err := again.readObject(0, row); err != nil {
					t.Fatalf("found the row %q, which is no object: %v", row, err)
				}
			}
			if (l.Event == Add || l.Event == Change) != (l.After != nil) || l.Event == Drop && l.Before == nil {
				t.Fatalf("found the rows %q and %q of event %d", l.Before, l.After, l.Event)
			}
		})
	})
}
