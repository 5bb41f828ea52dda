package operation

import (
	"os"

	"github.com/graphmill/graphmill/internal/lake/catalog"
	"github.com/graphmill/graphmill/internal/objects"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// stores are the file systems of object stores, by scheme.
var stores = map[string]*objects.FS{}

// Paths of object stores work wherever paths of files do: s3://BUCKET/KEY, gs://BUCKET/KEY, and to read https://HOST/PATH and the tables of catalogs,
// iceberg+https://HOST/PATH#NAMESPACE.TABLE.
func init() {
	o := objects.Options{Cache: objects.CacheFolder(), CacheSize: os.Getenv("GRAPHMILL_CACHE_SIZE"), Last: []string{store.ManifestFile, store.ManifestSumFile}}
	tables := catalog.New(stores)
	for _, scheme := range vfs.Schemes {
		if catalog.Is(scheme + "://") {
			vfs.Mount(scheme, tables)
			continue
		}
		stores[scheme] = objects.New(scheme, o)
		vfs.Mount(scheme, stores[scheme])
	}
}

// Credentials says of each bucket of paths with which credentials this machine reaches it. It never has a secret.
func Credentials(paths ...string) (texts []string, err error) {
	seen := map[string]bool{}
	for _, path := range paths {
		fsys := stores[vfs.Scheme(path)]
		if fsys == nil {
			continue
		}
		bucket, text, err := fsys.Credentials(path)
		if err != nil {
			return nil, err
		}
		if text != "" && !seen[bucket] {
			seen[bucket] = true
			texts = append(texts, bucket+": "+text)
		}
	}
	return texts, nil
}

// NoteCredentials notes Credentials in a report, and tells it.
func NoteCredentials(o *option.Run, r *report.Report, paths ...string) error {
	texts, err := Credentials(paths...)
	for _, text := range texts {
		Note(o, "%s", text)
		r.Note(text)
	}
	return err
}
