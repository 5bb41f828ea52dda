package describing

import (
	"github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// FormatVersions are the versions of files and protocols that this program reads and writes.
type FormatVersions struct {
	Store    int `json:"store"`    // and collections
	Manifest int `json:"manifest"` // the newest
	Chunk    int `json:"chunk"`
	Packs    int `json:"packs"`
	Report   int `json:"report"`
	Feed     int `json:"feed"`
}

// Formats are the versions of this program.
func Formats() FormatVersions {
	return FormatVersions{Store: store.Format, Manifest: store.ShardedManifestFormat, Chunk: chunk.Format, Packs: layout.Format, Report: report.Format, Feed: feed.ProtocolVersion}
}

// Metadata are the files that describe a store, by their names in its folder.
func Metadata(dir string) (map[string][]byte, error) { return store.Metadata(vfs.OS, dir) }
