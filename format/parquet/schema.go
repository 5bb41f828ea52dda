package parquet

import "fmt"

// Type is the type of the values of a column.
type Type uint8

// The types. Bytes are byte strings, whether text or not.
const (
	Bool Type = iota
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float16
	Float32
	Float64
	Bytes
)

// Physical types.
const (
	physBool   = 0
	physInt32  = 1
	physInt64  = 2
	physInt96  = 3
	physFloat  = 4
	physDouble = 5
	physBytes  = 6
	physFixed  = 7
)

// Repetitions.
const (
	required = 0
	optional = 1
	repeated = 2
)

// Converted and logical types that this package handles.
const (
	convertedUTF8    = 0
	convertedMap     = 1
	convertedMapKV   = 2
	convertedList    = 3
	convertedEnum    = 4
	convertedDecimal = 5
	convertedDate    = 6
	convertedMillis  = 9
	convertedMicros  = 10
	convertedUint8   = 11 // to 14: uint64
	convertedInt8    = 15 // to 18: int64
	convertedPeriod  = 21

	logicalString  = 1
	logicalMap     = 2
	logicalList    = 3
	logicalEnum    = 4
	logicalDecimal = 5
	logicalDate    = 6
	logicalTime    = 8
	logicalInteger = 10
	logicalNull    = 11
	logicalUUID    = 14
	logicalFloat16 = 15
)

// Column is a top-level column of a file.
type Column struct {
	Name string
	// Type is the type of the values. Width says how many bytes each takes in Rows.Data.
	Type Type
	// Width is the number of bytes of a value in Rows.Data: 1 for Bool, 4 for integers of up to 32 bits, 2 for
	// Float16, 8 for 64 bits, 0 for Bytes.
	Width int
	// Null says that the writer did not know the type of the values, because all of them are null. Type means nothing
	// then.
	Null bool
	// Unit is set for times since 1970-01-01T00:00:00Z: "s", "ms", "us" or "ns". Type is Int64 then.
	Unit string
	// Category says that the strings come from a fixed set.
	Category bool
	// Digits says that the values are decimals of more than 18 digits, all before the point. Type is Float64; File.Digits reads
	// all digits.
	Digits bool
	// Text says that the byte strings are text, which is UTF-8. UUIDs are texts of 36 characters.
	Text bool
	// Lists is the depth of lists: 0 for single values.
	Lists int
	// Reason says why the column cannot be read. It is empty if it can.
	Reason string
	// ID is the field id that the schema gives the column, 0 if it gives none. Tables of a lake find columns by it.
	ID int

	leaf           int // number of the column among all leaves of the schema
	phys           int64
	convert        conversion
	scale          int // of a decimal
	fixed          int // bytes of a value of physFixed
	maxRep, maxDef int
	lists          []list // outermost first
	// nulls says that null within a list is an empty byte string. Otherwise it is an error.
	nulls bool
}

// list is a level of lists. A definition level equal to present is an empty list, a higher one an element, and a
// lower one null here or at an outer level.
type list struct{ present int }

// schema makes the columns from the elements.
func (f *File) schema(elements []element) error {
	if len(elements) == 0 {
		return corruptf("found no schema, expected at least its root")
	}
	root := elements[0]
	at, leaves := 1, 0
	if root.children < 0 || root.children > int64(len(elements)) {
		return corruptf("found a schema of %d columns in %d elements, expected at most one column per element", root.children, len(elements))
	}
	for range root.children {
		if at >= len(elements) {
			return corruptf("found %d elements of the schema, expected more; the file is damaged", len(elements))
		}
		w := walk{elements: elements, at: at, leaf: leaves}
		if err := w.column(); err != nil {
			return err
		}
		f.Columns = append(f.Columns, w.c)
		if w.c.Reason != "" && elements[at].children > 0 {
			if err := f.nestedColumns(elements[at:w.at], leaves); err != nil {
				return err
			}
		}
		at, leaves = w.at, w.leaf
	}
	if at != len(elements) {
		return corruptf("found %d elements of the schema, expected %d as the schema counts them; the file is damaged", len(elements), at)
	}
	return nil
}

// walk visits the elements of one column.
type walk struct {
	elements []element
	at, leaf int
	c        Column
}

// column follows a column to its leaf as long as it holds values or lists of them. Any other column is skipped, and
// the reason is kept.
func (w *walk) column() error {
	w.c.Name, w.c.leaf, w.c.ID = w.elements[w.at].name, w.leaf, w.elements[w.at].id
	isElement := false // the element of a list, whose repetition was counted
	for {
		if w.at >= len(w.elements) {
			return corruptf("column %q: found the end of the schema, expected its values; the file is damaged", w.c.Name)
		}
		e := w.elements[w.at]
		if !isElement {
			w.repeat(e)
		}
		isElement = false
		if e.kind >= 0 && e.children <= 0 {
			w.at++
			w.leaf++
			w.value(e)
			break
		}
		if e.children <= 0 {
			return corruptf("column %q: found an empty group %q, expected values; the file is damaged", w.c.Name, e.name)
		}
		asList := e.converted == convertedList || e.logical == logicalList
		if !asList || e.children != 1 || e.repetition == repeated && w.c.Lists == 0 {
			reason := "a struct"
			if e.converted == convertedMap || e.converted == convertedMapKV || e.logical == logicalMap {
				reason = "a map"
			}
			return w.pass(reason)
		}
		w.at++
		if w.at >= len(w.elements) || w.elements[w.at].repetition != repeated {
			return corruptf("column %q: found a list without a repeated element, expected one; the file is damaged", w.c.Name)
		}
		inner := w.elements[w.at]
		w.repeat(inner)
		// A repeated group of one field is the list's entry. Any other repeated element is the element of the list
		// itself, as old writers write it.
		if inner.children == 1 && inner.name != "array" && inner.name != w.elements[w.at-1].name+"_tuple" {
			w.at++
		} else if inner.children > 0 {
			return w.pass("a list of structs")
		} else {
			isElement = true
		}
	}
	if w.c.maxRep > 255 || w.c.maxDef > 255 {
		w.c.Reason = "lists deeper than 255"
	}
	return nil
}

// repeat counts the repetition of an element.
func (w *walk) repeat(e element) {
	switch e.repetition {
	case optional:
		w.c.maxDef++
	case repeated:
		w.c.lists = append(w.c.lists, list{present: w.c.maxDef})
		w.c.Lists++
		w.c.maxDef++
		w.c.maxRep++
	}
}

// decimal sets the type of a decimal: Int64 if it has at most 18 digits, all before the point, and otherwise Float64.
func (w *walk) decimal(e element) {
	c := &w.c
	c.Type, c.Width, c.convert, c.scale = Float64, 8, convertDecimal, int(e.scale)
	if e.scale == 0 && e.precision <= 18 {
		c.Type, c.convert = Int64, convertWhole
	}
	c.Digits = e.scale == 0 && c.Type == Float64
	switch c.fixed = int(e.width); {
	case e.kind == physInt32 || e.kind == physInt64 || e.kind == physBytes:
	case e.kind == physFixed && e.width > 0 && e.width <= maxDecimal:
	default:
		c.Reason = "decimals of an unknown form"
	}
}

// pass skips the current element and all below it.
func (w *walk) pass(reason string) error {
	if w.c.Reason == "" {
		w.c.Reason = reason
	}
	for left := int64(1); left > 0; left-- {
		if w.at >= len(w.elements) {
			return corruptf("column %q: found the end of the schema, expected more of it; the file is damaged", w.c.Name)
		}
		e := w.elements[w.at]
		w.at++
		if e.children > 0 {
			if e.children > int64(len(w.elements)) {
				return corruptf("column %q: found a group of %d fields, expected fewer; the file is damaged", w.c.Name, e.children)
			}
			left += e.children
		} else {
			w.leaf++
		}
	}
	return nil
}

// value sets the type of the leaf.
func (w *walk) value(e element) {
	c := &w.c
	c.phys, c.Null = e.kind, e.logical == logicalNull
	c.Category = e.kind == physBytes && (e.converted == convertedEnum || e.logical == logicalEnum)
	c.Text = c.Category || e.kind == physBytes && (e.converted == convertedUTF8 || e.logical == logicalString)
	if e.converted == convertedDecimal || e.logical == logicalDecimal {
		w.decimal(e)
		return
	}
	bits, signed := e.bits, e.signed
	switch {
	case e.logical == logicalInteger:
	case e.converted >= convertedUint8 && e.converted < convertedUint8+4:
		bits, signed = 8<<(e.converted-convertedUint8), false
	case e.converted >= convertedInt8 && e.converted < convertedInt8+4:
		bits = 8 << (e.converted - convertedInt8)
	}
	integer := func(bits int64) Type {
		t := map[int64]Type{8: Int8, 16: Int16, 32: Int32, 64: Int64}[bits]
		if !signed {
			t += Uint8 - Int8
		}
		return t
	}
	switch e.kind {
	case physBool:
		c.Type, c.Width = Bool, 1
	case physInt32:
		if e.converted == convertedDate || e.logical == logicalDate {
			c.Type, c.Width, c.convert, c.Unit = Int64, 8, convertDays, "s"
			return
		}
		if bits != 8 && bits != 16 {
			bits = 32
		}
		c.Type, c.Width = integer(bits), 4
	case physInt64:
		c.Type, c.Width = integer(64), 8
		switch {
		case e.logical == logicalTime:
			c.Unit = e.unit
		case e.logical != 0:
		case e.converted == convertedMillis:
			c.Unit = "ms"
		case e.converted == convertedMicros:
			c.Unit = "us"
		}
	case physFloat:
		c.Type, c.Width = Float32, 4
	case physDouble:
		c.Type, c.Width = Float64, 8
	case physBytes:
		c.Type = Bytes
	case physFixed:
		c.fixed = int(e.width)
		switch {
		case e.width <= 0 || e.width > maxPage:
			c.Reason = fmt.Sprintf("byte strings of %d bytes", e.width)
		case e.converted == convertedPeriod:
			c.Reason = "intervals"
		case e.logical == logicalUUID && e.width == 16:
			c.Type, c.convert, c.Text = Bytes, convertUUID, true
		case e.logical == logicalFloat16 && e.width == 2:
			c.Type, c.Width = Float16, 2
		default:
			c.Type = Bytes
		}
	case physInt96:
		c.Type, c.Width, c.convert, c.Unit = Int64, 8, convertInt96, "ns"
	default:
		c.Reason = fmt.Sprintf("values of an unknown type %d", e.kind)
	}
}
