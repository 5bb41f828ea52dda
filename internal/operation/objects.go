package operation

import (
	"os"

	"github.com/graphmill/graphmill/internal/objects"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Paths of object stores work wherever paths of files do: s3://BUCKET/KEY, gs://BUCKET/KEY, and to read https://HOST/PATH.
func init() {
	o := objects.Options{Cache: objects.CacheFolder(), CacheSize: os.Getenv("GRAPHMILL_CACHE_SIZE"), Last: []string{store.ManifestFile, store.ManifestSumFile}}
	for _, scheme := range vfs.Schemes {
		vfs.Mount(scheme, objects.New(scheme, o))
	}
}
