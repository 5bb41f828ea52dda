package operation

import (
	"github.com/graphmill/graphmill/internal/ingest"
)

// MissingRules reads the rules of Missing.
func MissingRules(missing []string) (rules []ingest.Missing, err error) {
	for _, m := range missing {
		more, err := ingest.ParseMissing(m)
		if err != nil {
			return nil, Usagef("%w", err)
		}
		rules = append(rules, more...)
	}
	return rules, nil
}

// ReadTables sets how tables are read, by the options IDs, Delimiter and Missing.
func ReadTables(s *ingest.Options, ids, delimiter string, missing []string) (err error) {
	if ids != "" {
		if s.IDs, err = ingest.ParseIDs(ids); err != nil {
			return Usagef("`IDs`: %w", err)
		}
	}
	switch {
	case delimiter == "tab":
		s.Delimiter = '\t'
	case delimiter == "space":
		s.Delimiter = ' '
	case len(delimiter) == 1:
		s.Delimiter = delimiter[0]
	case delimiter != "":
		return Usagef("found `Delimiter` %q, expected one character, tab or space", delimiter)
	}
	s.Missing, err = MissingRules(missing)
	return err
}
