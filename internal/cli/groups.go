package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

// Annotations of flags.
const (
	groupNote  = "graphmill-group"  // the title of the group
	commonNote = "graphmill-common" // there for a common flag
	valueNote  = "graphmill-value"  // the name of the value in the help
	kindNote   = "graphmill-kind"   // what completes the value
	choiceNote = "graphmill-choice" // the values that a flag takes
)

// Group puts flags, which exist, into a group of the help. A star before a name marks a common flag: one that the help of a command
// with many flags shows.
func Group(fs *pflag.FlagSet, title string, names ...string) {
	for _, name := range names {
		name, common := strings.CutPrefix(name, "*")
		annotate(fs, groupNote, []string{title}, name)
		if common {
			annotate(fs, commonNote, []string{"true"}, name)
		}
	}
}

// annotate sets an annotation of flags. A flag that does not exist is a mistake in the program.
func annotate(fs *pflag.FlagSet, note string, values []string, names ...string) {
	for _, name := range names {
		if err := fs.SetAnnotation(name, note, values); err != nil {
			panic(err)
		}
	}
}

// noted returns an annotation of a flag, or "".
func noted(f *pflag.Flag, note string) string {
	if values := f.Annotations[note]; len(values) > 0 {
		return values[0]
	}
	return ""
}
