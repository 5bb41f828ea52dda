package graphjson

import (
	"encoding/json"
	"io"
)

// ReadLists reads a document with a list for each node, {"a": ["b", 3]}, and calls fn with the name of each node and the values of its
// list, in order, and the line on which the list ends. name is the name of the file, for errors. The error of fn ends it.
func ReadLists(in io.Reader, name string, fn func(line int, node string, values []Value) error) error {
	_, err := readDocument(in, name, nil, func(r *reader) error {
		if err := r.open('{', "an object with a list for each node"); err != nil {
			return err
		}
		return r.members(func(key string) error {
			raw, err := r.value()
			if err != nil {
				return err
			}
			if surrogate(raw) {
				return r.bad("found an escape that is half a character, expected whole ones")
			}
			var list []json.RawMessage
			if err := json.Unmarshal(raw, &list); err != nil || raw[0] != '[' {
				return r.bad("found %.40q, expected a list", raw)
			}
			values := make([]Value, len(list))
			for i, v := range list {
				if values[i], err = parse(v); err != nil {
					return r.bad("found %.40q, expected a value (%w)", v, err)
				}
			}
			return fn(r.in.at(r.json.InputOffset()), key, values)
		})
	})
	return err
}
