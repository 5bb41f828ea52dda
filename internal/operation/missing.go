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

// ReadTables sets how tables are read, by the options IDs, Delimiter, ArrayDelimiter and Missing.
func ReadTables(s *ingest.Options, ids, delimiter, array string, missing []string) (err error) {
	if ids != "" {
		if s.IDs, err = ingest.ParseIDs(ids); err != nil {
			return Usagef("`IDs`: %w", err)
		}
	}
	if s.Delimiter, err = sign("Delimiter", delimiter); err != nil {
		return err
	}
	if s.ArrayDelimiter, err = sign("ArrayDelimiter", array); err != nil {
		return err
	}
	s.Missing, err = MissingRules(missing)
	return err
}

// sign is the character that an option names; 0: none is given.
func sign(name, text string) (byte, error) {
	switch {
	case text == "":
		return 0, nil
	case text == "tab":
		return '\t', nil
	case text == "space":
		return ' ', nil
	case len(text) == 1:
		return text[0], nil
	}
	return 0, Usagef("found `%s` %q, expected one character, tab or space", name, text)
}
