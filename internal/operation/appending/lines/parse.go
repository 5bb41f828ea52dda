package lines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/suggest"
)

// MostBytes bounds a line.
const MostBytes = 16 << 20

// Place is where a line lies: its offset in a partition of a topic.
type Place struct {
	Topic     string
	Partition int64
	Offset    int64
}

// Event says what a line tells of a row.
type Event uint8

// The events. None is a line that tells of no row: a tombstone, or a message.
const (
	None Event = iota
	Add
	Change
	Drop
)

// Line is a line of the input after parsing.
type Line struct {
	Place  Place
	Placed bool // the line has a place
	Table  string
	Event  Event
	// Before and After are rows, as objects of JSON: After of Add and Change, Before of Drop and, where it is known, of Change; nil: there is none.
	Before, After []byte
}

// Parser reads lines. What it returns is valid until the next line.
type Parser struct {
	// Tables are the names of all tables.
	Tables []string

	levels [4]textfiles.Objects // an object is read after the one around it, whose values are still needed
}

// object has the keys of an object that say of which form it is.
type object struct {
	topic, partition, offset, payload, schema, op, source, before, after *textfiles.Value
	keys                                                                 int
}

// member is where the value of a key belongs; nil: nowhere.
func (o *object) member(key []byte) **textfiles.Value {
	switch string(key) {
	case "topic":
		return &o.topic
	case "partition":
		return &o.partition
	case "offset":
		return &o.offset
	case "payload":
		return &o.payload
	case "schema":
		return &o.schema
	case "op":
		return &o.op
	case "source":
		return &o.source
	case "before":
		return &o.before
	case "after":
		return &o.after
	}
	return nil
}

// readObject reads an object, at a depth from 0 to 2.
func (p *Parser) readObject(level int, text []byte) (o object, err error) {
	err = p.levels[level].Each(text, func(key []byte, v textfiles.Value) error {
		o.keys++
		into := o.member(key)
		if into == nil {
			return nil
		}
		if *into != nil {
			return fmt.Errorf("found the key %q twice, expected it once; remove one", key)
		}
		if v.Kind == textfiles.StringValue { // the next text may overwrite it
			v.Text = bytes.Clone(v.Text)
		}
		*into = &v
		return nil
	})
	return o, err
}

// Parse reads a line that is not empty. Errors have no place.
func (p *Parser) Parse(text []byte) (l Line, err error) {
	o, err := p.readObject(0, text)
	if err != nil {
		return l, err
	}
	if o.topic != nil && o.partition != nil && o.offset != nil && o.payload != nil {
		if l.Place, err = placeOf(&o); err != nil {
			return l, err
		}
		l.Placed = true
		if o.payload.Kind == textfiles.NullValue {
			return l, nil
		}
		if text, err = payloadOf(o.payload); err != nil {
			return l, err
		}
		if o, err = p.readObject(1, text); err != nil {
			return l, fmt.Errorf("the payload: %w", err)
		}
	}
	if o.schema != nil && o.payload != nil && o.keys == 2 {
		switch o.payload.Kind {
		case textfiles.NullValue:
			return l, nil
		case textfiles.ObjectValue:
		default:
			return l, fmt.Errorf("found %s as the payload beside a schema, expected an object or null; write an event there", o.payload.Kind)
		}
		text = o.payload.Raw
		if o, err = p.readObject(2, text); err != nil {
			return l, fmt.Errorf("the payload: %w", err)
		}
	}
	if o.op != nil && o.source != nil {
		return l, p.readEvent(&l, &o)
	}
	l.Event, l.After = Add, text
	switch {
	case l.Placed:
		l.Table = l.Place.Topic
	case len(p.Tables) == 1:
		l.Table = p.Tables[0]
	default:
		return l, fmt.Errorf("found a row without the name of its table, expected one of %s; write it as {\"topic\": TABLE, \"partition\": 0, \"offset\": N, \"payload\": ROW}, as kcat -J does", strings.Join(p.Tables, ", "))
	}
	return l, p.checkTable(l.Table)
}

// placeOf reads the place of a line.
func placeOf(o *object) (at Place, err error) {
	if o.topic.Kind != textfiles.StringValue || len(o.topic.Text) == 0 {
		return at, fmt.Errorf("found %s as the topic, expected a text that is not empty; write the name of the topic", o.topic.Kind)
	}
	at.Topic = string(o.topic.Text)
	for _, x := range []struct {
		what string
		v    *textfiles.Value
		into *int64
	}{{"partition", o.partition, &at.Partition}, {"offset", o.offset, &at.Offset}} {
		*x.into, err = strconv.ParseInt(string(x.v.Text), 10, 64)
		if x.v.Kind != textfiles.NumberValue || err != nil || *x.into < 0 {
			return at, fmt.Errorf("found %s as the %s, expected a whole number from 0; write it as kcat -J does", textfiles.QuoteValue(x.v.Raw), x.what)
		}
	}
	return at, nil
}

// payloadOf is the object of a payload: itself, or in a text.
func payloadOf(v *textfiles.Value) ([]byte, error) {
	switch v.Kind {
	case textfiles.ObjectValue:
		return v.Raw, nil
	case textfiles.StringValue:
		if bytes.ContainsAny(v.Text, "\n\r") { // on several lines
			var out bytes.Buffer
			if err := json.Compact(&out, v.Text); err != nil {
				return nil, fmt.Errorf("found the payload %s, expected an object of JSON; write the row so: %w", textfiles.QuoteValue(v.Text), err)
			}
			return out.Bytes(), nil
		}
		return v.Text, nil
	}
	return nil, fmt.Errorf("found %s as the payload, expected an object, a text that has one, or null; write the row so", v.Kind)
}

// checkTable refuses a table that the graph.yaml does not have.
func (p *Parser) checkTable(name string) error {
	if !slices.Contains(p.Tables, name) {
		return fmt.Errorf("found the table %q, expected one of %s%s; give a type of the graph.yaml this table, or leave these lines out", name, strings.Join(p.Tables, ", "), suggest.Hint(name, p.Tables))
	}
	return nil
}

// eventsOf are the events of Debezium's operations.
var eventsOf = map[string]Event{"c": Add, "r": Add, "u": Change, "d": Drop, "m": None}

// readEvent reads a change event of Debezium.
func (p *Parser) readEvent(l *Line, o *object) error {
	op := string(o.op.Text)
	event, known := eventsOf[op]
	switch {
	case o.op.Kind == textfiles.StringValue && op == "t":
		return fmt.Errorf("found a table that was emptied (op \"t\"), expected rows that come, change and go; import the tables anew")
	case o.op.Kind != textfiles.StringValue || !known:
		return fmt.Errorf("found the op %s, expected c, r, u or d of Debezium", textfiles.QuoteValue(o.op.Raw))
	case event == None:
		return nil
	case o.source.Kind != textfiles.ObjectValue:
		return fmt.Errorf("found %s as the source, expected an object; write the one that names the table", o.source.Kind)
	}
	found := false
	err := p.levels[3].Each(o.source.Raw, func(key []byte, v textfiles.Value) error {
		if k := string(key); (k == "table" || k == "collection") && v.Kind == textfiles.StringValue {
			l.Table, found = string(v.Text), true
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	if !found {
		return fmt.Errorf("found no table in the source, expected its name; send the events of tables alone")
	}
	if err := p.checkTable(l.Table); err != nil {
		return err
	}
	l.Event = event
	if l.Before, err = rowOf("before", o.before, event == Drop, whole); err != nil {
		return err
	}
	if event == Drop {
		return nil
	}
	l.After, err = rowOf("after", o.after, true, "write the event as Debezium does")
	return err
}

// rowOf is the row of an event.
func rowOf(what string, v *textfiles.Value, needed bool, do string) ([]byte, error) {
	switch {
	case v != nil && v.Kind == textfiles.ObjectValue:
		return v.Raw, nil
	case v == nil && needed:
		return nil, fmt.Errorf("found no %s, expected a row; %s", what, do)
	case needed || v != nil && v.Kind != textfiles.NullValue:
		return nil, fmt.Errorf("found %s as %s, expected a row as an object; %s", v.Kind, what, do)
	}
	return nil, nil
}
