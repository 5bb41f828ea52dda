package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// JSON returns the report as one JSON object and a newline. JSON and HTML refuse the same reports, with an error that
// wraps errInvalid.
func (r *Report) JSON() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("%w: %w", errInvalid, err)
	}
	return layOut(b.Bytes()), nil
}

// Parse reads the bytes that JSON writes. Other bytes give an error that wraps errInvalid.
func Parse(b []byte) (*Report, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var r Report
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("%w: byte %d: %w", errInvalid, dec.InputOffset(), err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: byte %d: found bytes after the object, expected the end", errInvalid, dec.InputOffset())
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	return &r, nil
}

// MarshalJSON implements json.Marshaler.
func (h *Histogram) MarshalJSON() ([]byte, error) { return json.Marshal(h.file()) }

// UnmarshalJSON implements json.Unmarshaler. It refuses buckets, counts and bounds that contradict each other.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var f histogramJSON
	if err := dec.Decode(&f); err != nil {
		return err
	}
	got, err := f.histogram()
	if err != nil {
		return err
	}
	*h = *got
	return nil
}

// layOut breaks compact JSON into lines down to the third level, so that a person finds a field while a plot does not
// take a thousand lines.
func layOut(b []byte) []byte {
	const levels = 3
	out := make([]byte, 0, len(b)+len(b)/4)
	depth, inString := 0, false
	line := func() {
		out = append(out, '\n')
		for range depth {
			out = append(out, "  "...)
		}
	}
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case inString:
			out = append(out, c)
			if c == '\\' {
				i++
				out = append(out, b[i])
			} else if c == '"' {
				inString = false
			}
			continue
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
			out = append(out, c)
			if depth < levels && b[i+1] != '}' && b[i+1] != ']' {
				line()
			}
			continue
		case c == '}' || c == ']':
			depth--
			if depth < levels-1 && b[i-1] != '{' && b[i-1] != '[' {
				line()
			}
		case c == ',' && depth < levels:
			out = append(out, c)
			line()
			continue
		case (c == ',' || c == ':') && depth > 0:
			out = append(out, c, ' ')
			continue
		}
		out = append(out, c)
	}
	return out
}
