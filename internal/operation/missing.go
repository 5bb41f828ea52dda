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
