package graphjson

import (
	"encoding/json"
	"io"
)

// ReadCX2 reads a document of the second version of Cytoscape Exchange (CX2), as ReadNodeLink does. The values are the attributes by the
// names that attributeDeclarations gives them, with its defaults; positions and styles are not read.
func ReadCX2(in io.Reader, name string, fn func(*Item) error) (Header, error) {
	return readDocument(in, name, fn, func(r *reader) error {
		return (&cx2Reader{reader: r}).document()
	})
}

// cx2Reader is the state of ReadCX2.
type cx2Reader struct {
	*reader
	declared    [2]map[string]cx2Attribute // of nodes and of edges, by the names in the file
	begun, some bool                       // the first aspect is read, and there were nodes or edges
}

// cx2Attribute is an attribute that is declared.
type cx2Attribute struct {
	name   string
	dtype  string
	preset *Value // of items that lack it
}

// value makes an integer that is declared as a floating-point number one.
func (a *cx2Attribute) value(v Value) Value {
	if a.dtype == "double" && v.Kind == Integer {
		v.Kind = Number
	}
	return v
}

func (r *cx2Reader) document() error {
	if err := r.open('[', "a list of aspects"); err != nil {
		return err
	}
	return r.elements(func() error {
		if err := r.open('{', "an aspect"); err != nil {
			return err
		}
		return r.members(r.aspect)
	})
}

// aspect reads the aspect of a name.
func (r *cx2Reader) aspect(name string) error {
	if !r.begun {
		r.begun = true
		if name != "CXVersion" {
			return r.bad("found %.40q first, expected CXVersion", name)
		}
	}
	switch name {
	case "CXVersion":
		version, err := r.value()
		if err == nil && string(version) != `"2.0"` {
			err = r.bad("found the version %.40s, expected \"2.0\"", version)
		}
		return err
	case "attributeDeclarations":
		if r.some {
			return r.bad("found attributeDeclarations after nodes or edges, expected them before")
		}
		if err := r.open('[', "a list of declarations"); err != nil {
			return err
		}
		return r.elements(r.declare)
	case "nodes":
		r.some = true
		return r.items(false, func(x *Item) error {
			x.Values = map[string]Value{"id": x.Values["id"], "v": x.Values["v"]}
			return r.attributes(x, 0)
		})
	case "edges":
		r.some = true
		return r.items(true, func(x *Item) error {
			x.Values = map[string]Value{"source": x.Values["s"], "target": x.Values["t"], "v": x.Values["v"]}
			return r.attributes(x, 1)
		})
	case "status":
		return r.status()
	}
	return r.skip()
}

// declare reads an element of attributeDeclarations: by nodes and edges, and by names, an object with the dtype d, the alias a and the
// default v.
func (r *cx2Reader) declare() error {
	raw, err := r.value()
	if err != nil {
		return err
	}
	if surrogate(raw) {
		return r.bad("found an escape that is half a character, expected whole ones")
	}
	of, err := r.object(raw)
	if err != nil {
		return err
	}
	for i, what := range []string{"nodes", "edges"} {
		v := of[what]
		if v.Kind != Nested {
			continue
		}
		names, err := r.object(v.raw)
		if err != nil {
			return err
		}
		if r.declared[i] != nil {
			return r.bad("found the attributes of %s declared twice, expected them once", what)
		}
		r.declared[i] = map[string]cx2Attribute{}
		for name, d := range names {
			a := cx2Attribute{name: name}
			alias := name
			if d.Kind == Nested {
				says, err := r.object(d.raw)
				if err != nil {
					return err
				}
				a.dtype = string(says["d"].Text)
				if short := says["a"]; short.Kind == String {
					alias = string(short.Text)
				}
				if preset, ok := says["v"]; ok && preset.Kind != Null {
					preset = a.value(preset)
					a.preset = &preset
				}
			}
			if _, twice := r.declared[i][alias]; twice {
				return r.bad("found two attributes of %s with the name %.40q in the file, expected one", what, alias)
			}
			r.declared[i][alias] = a
		}
	}
	return nil
}

// attributes puts the values of v in its place, under the names that are declared, and those that are preset.
func (r *cx2Reader) attributes(x *Item, kind int) error {
	v := x.Values["v"]
	delete(x.Values, "v")
	if v.Kind == Nested && v.raw[0] == '{' {
		values, err := r.object(v.raw)
		if err != nil {
			return err
		}
		for name, v := range values {
			if a, ok := r.declared[kind][name]; ok {
				name, v = a.name, a.value(v)
			}
			if err := r.attribute(x, name, v); err != nil {
				return err
			}
		}
	}
	for _, a := range r.declared[kind] {
		if _, has := x.Values[a.name]; !has && a.preset != nil {
			x.Values[a.name] = *a.preset
		}
	}
	return nil
}

// attribute adds a value.
func (r *cx2Reader) attribute(x *Item, name string, v Value) error {
	if _, twice := x.Values[name]; twice {
		return r.bad("found an attribute with the name %.40q twice, or the name of an id, expected another name; rename it", name)
	}
	x.Values[name] = v
	return nil
}

// status reads the last aspect, which says whether the file is whole.
func (r *cx2Reader) status() error {
	raw, err := r.value()
	if err != nil {
		return err
	}
	var status []struct {
		Success *bool
		Error   string
	}
	if json.Unmarshal(raw, &status) == nil && len(status) > 0 && status[0].Success != nil && !*status[0].Success {
		return r.bad("found the status of a file that was not written to its end (%.100s), expected success; export it again", status[0].Error)
	}
	return nil
}
