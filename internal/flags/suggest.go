package flags

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/suggest"
)

// Suggest is the end of an error about a flag that f does not have: the one that was probably
// meant.
func Suggest(f *pflag.FlagSet, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var known []string
	f.VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if w := suggest.Word(strings.ReplaceAll(unknown.GetSpecifiedName(), "_", "-"), known); w != "" {
		return "; did you mean --" + w + "?"
	}
	return ""
}
