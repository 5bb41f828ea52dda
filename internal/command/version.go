package command

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/describing"
)

// modifiedMark is the suffix of the commit of a build whose files differed from it.
const modifiedMark = "+modified"

// programBuild says which graphmill this is, and which files and peers it understands.
type programBuild struct {
	Version  string                    `json:"version"`
	Commit   string                    `json:"commit"` // "" is unknown
	Modified bool                      `json:"modified"`
	DrawLaw  int                       `json:"draw_law"`
	Formats  describing.FormatVersions `json:"formats"`
	Go       string                    `json:"go"`
	Platform string                    `json:"platform"`
}

// thisBuild is the build of this process. info is nil where Go recorded nothing.
func thisBuild(commit string, info *debug.BuildInfo) programBuild {
	b := programBuild{Version: graphmill.Version(), DrawLaw: draw.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Formats: describing.Formats()}
	if commit != "" {
		b.Commit, b.Modified = strings.CutSuffix(commit, modifiedMark)
		return b
	}
	if info == nil {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// NewVersion makes the command version. commit is the commit of a release, with the suffix "+modified" if files differed from it; "" stands
// for the one that Go recorded.
func NewVersion(t *cli.Terminal, commit string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit, and those of the draw law and the formats",
		Long: `Prints which graphmill this is: its version, the commit it was built from, the
version of the draw law, which all draws follow from, and those of the formats
that it reads and writes.`,
		Example: `  graphmill version
  graphmill version --json`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			return t.Print(thisBuild(commit, info), asJSON)
		},
	}
	addJSON(cmd, &asJSON, "print JSON on stdout")
	return cmd
}

// Text implements cli.Result.
func (b programBuild) Text(w io.Writer) error {
	commit := b.Commit
	switch {
	case commit == "":
		commit = "unknown"
	case b.Modified:
		commit += ", with changes"
	}
	f := b.Formats
	_, err := fmt.Fprintf(w, "graphmill %s\ncommit    %s\ndraw law  %d\nformats   store and collection %d, manifest %d, chunk %d, packs %d, report %d, feed %d\nbuilt     with %s for %s\n",
		b.Version, commit, b.DrawLaw, f.Store, f.Manifest, f.Chunk, f.Packs, f.Report, f.Feed, strings.Replace(b.Go, "go", "Go ", 1), b.Platform)
	return err
}
