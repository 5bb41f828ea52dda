package report

import "encoding/json"

// Made says how an output folder was made. It has nothing in which two equal runs could differ.
type Made struct {
	Command string            `json:"command"`
	Inputs  map[string]string `json:"inputs,omitempty"`
	Seed    *uint64           `json:"seed,omitempty"`
	Law     int               `json:"law,omitempty"` // version of the draw law that Seed was used with; 0 without Seed
	Plan    json.RawMessage   `json:"plan,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Version string            `json:"version"`
}
