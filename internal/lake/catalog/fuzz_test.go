package catalog

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// FuzzAddress reads any text as the address of a table: it is refused, or names a table whose files lie below it.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"iceberg+https://host.example/catalog?warehouse=w#a.b", "iceberg+http:/h:1/#a.%2E.b@version=3/metadata/../x", "iceberg+https://[::1]/a b#ü.b/s3:/k", "iceberg+https://me@h#a.b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		fuzzing.Check(t, len(name), func() {
			a, err := parseAddress(name)
			if err != nil {
				return
			}
			if a.table == "" || len(a.namespace) == 0 || !strings.HasPrefix(a.endpoint, "http") {
				t.Errorf("%q: found %+v, expected a table of a catalog", name, a)
			}
			if a.rest != "" && !filepath.IsLocal(a.rest) {
				t.Errorf("%q: found the path %q, expected one below the table", name, a.rest)
			}
			again, err := parseAddress(filepath.Join(a.folder, a.rest))
			if err != nil || again.folder != a.folder || again.rest != a.rest || again.endpoint != a.endpoint {
				t.Errorf("%q: found %+v and %v, expected %+v again", name, again, err, a)
			}
		})
	})
}
