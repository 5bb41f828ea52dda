package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/objects"
)

// table is a table of a catalog.
type table struct {
	address address
	client  *client
	stores  map[string]*objects.FS

	mu      sync.Mutex
	current *loaded                // the newest answer; nil: none yet
	known   []*loaded              // answers whose metadata may still be read, the newest last
	parts   map[string]*objects.FS // file systems with credentials
	renewed time.Time              // when keysOf asked for credentials last, and how that ended
	renewal error
}

// maxKnown is the number of answers that are kept.
const maxKnown = 4

// loaded is an answer about a table.
type loaded struct {
	name     string // of the file of metadata
	metadata []byte
	sum      string
	location string    // of the table, without a slash at its end
	grants   []granted // the first one for all objects
}

// plainName matches the names of files of metadata with the number of a version.
var plainName = regexp.MustCompile(`^(v[0-9]{1,18}|[0-9]{1,18}-[^/]*)(\.gz)?\.metadata\.json(\.gz)?$`)

// otherName is the name of metadata whose file has another name, or none.
const otherName = "00000-catalog.metadata.json"

// load asks the catalog for the table.
func (t *table) load(ctx context.Context) (*loaded, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l, err := t.ask(ctx)
	if err != nil {
		return nil, err
	}
	t.current = l
	t.known = append(slices.DeleteFunc(t.known, func(k *loaded) bool { return k.name == l.name }), l)
	if len(t.known) > maxKnown {
		t.known = t.known[1:]
	}
	return l, nil
}

// newest is the newest answer. It asks the catalog if there is none.
func (t *table) newest(ctx context.Context) (*loaded, error) {
	t.mu.Lock()
	l := t.current
	t.mu.Unlock()
	if l != nil {
		return l, nil
	}
	return t.load(ctx)
}

// named is the answer whose metadata has a name; nil: none.
func (t *table) named(name string) *loaded {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.known {
		if l.name == name {
			return l
		}
	}
	return nil
}

// ask asks the catalog for the table, and reads the answer.
func (t *table) ask(ctx context.Context) (*loaded, error) {
	answer, all, err := t.client.load(ctx, &t.address)
	if err != nil {
		return nil, err
	}
	var m struct {
		Location string `json:"location"`
	}
	if err := json.Unmarshal(answer.Metadata, &m); err != nil {
		return nil, lake.Badf("%s: found what is no metadata of Iceberg, expected JSON with a table; ask who runs the catalog: %w", t.address.folder, err)
	}
	l := &loaded{name: otherName, metadata: answer.Metadata, sum: fmt.Sprintf("%016x", xxh3.Hash(answer.Metadata))}
	if base := path.Base(answer.Location); plainName.MatchString(base) {
		l.name = base
	}
	location, ok := storageAddress(m.Location)
	if !ok {
		return nil, lake.Badf("%s: found the location %s of the table, expected one in s3:, gs: or file:; copy the table to one of them", t.address.folder, m.Location)
	}
	l.location = strings.TrimRight(location, "/")
	of := merged(all, answer.Config)
	l.grants = []granted{{"", of}}
	for _, c := range answer.Credentials {
		prefix, ok := storageAddress(c.Prefix)
		if !ok || prefix == "" {
			prefix = strings.TrimRight(c.Prefix, ":/") + "://" // all of a scheme, as "s3"
		}
		l.grants = append(l.grants, granted{prefix, merged(of, c.Config)})
	}
	return l, nil
}
