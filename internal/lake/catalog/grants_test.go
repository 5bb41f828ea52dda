package catalog

import (
	"errors"
	"testing"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/objects"
)

// TestPlainEndpoints sends no keys of a catalog with https to a server without it, except to one of this machine.
func TestPlainEndpoints(t *testing.T) {
	stores := map[string]*objects.FS{"s3": objects.New("s3", objects.Options{}), "gs": objects.New("gs", objects.Options{})}
	for _, c := range []struct {
		catalog, objects string
		ok               bool
	}{
		{"https://catalog.example", "http://objects.example", false},
		{"https://catalog.example", "http://objects.example:9000/", false},
		{"https://catalog.example", "http://127.0.0.1:9000", true},
		{"https://catalog.example", "http://localhost:9000", true},
		{"https://catalog.example", "https://objects.example", true},
		{"https://catalog.example", "", true},
		{"http://catalog.example", "http://objects.example", true},
	} {
		for scheme, p := range map[string]properties{
			"s3": {"s3.access-key-id": "ID", "s3.secret-access-key": "word", "s3.endpoint": c.objects},
			"gs": {"gcs.oauth2.token": "word", "gcs.service.host": c.objects},
		} {
			x := &table{client: &client{endpoint: c.catalog}, stores: stores, current: &loaded{grants: []granted{{"", p}}}, parts: map[string]*objects.FS{}}
			fsys, err := x.fileSystem(scheme + "://bucket/key")
			if (err == nil) != c.ok || err != nil && !errors.Is(err, lake.ErrFormat) || err == nil && fsys == stores[scheme] {
				t.Errorf("%s, %s, %s: found %v, expected it to be taken: %v", scheme, c.catalog, c.objects, err, c.ok)
			}
		}
	}
}
