package catalog

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/objects"
	"github.com/graphmill/graphmill/internal/vfs"
)

// renewBefore is how long before their end credentials of a table are asked for anew.
const renewBefore = 5 * time.Minute

// renewPause is the least time between two requests for the credentials of a table while they are valid, and expiredPause when they are not: a
// catalog can give credentials that end soon, or be down, and each object needs keys.
const (
	renewPause   = time.Minute
	expiredPause = 10 * time.Second
)

// granted are the properties of a table that count for the objects whose addresses begin with a prefix; "": for all.
type granted struct {
	prefix     string
	properties properties
}

// grantOf returns the grant of an object: the one with the longest prefix that its address begins with.
func (l *loaded) grantOf(uri string) granted {
	best := l.grants[0] // for all
	for _, g := range l.grants[1:] {
		if strings.HasPrefix(uri, g.prefix) && len(g.prefix) > len(best.prefix) {
			best = g
		}
	}
	return best
}

// have says whether there are keys for objects of a scheme.
func (p properties) have(scheme string) bool {
	k := p.keys()
	return scheme == "s3" && k.ID != "" || scheme == "gs" && k.Token != ""
}

// keys are the keys among properties.
func (p properties) keys() objects.Keys {
	return objects.Keys{ID: p["s3.access-key-id"], Secret: p["s3.secret-access-key"], Session: p["s3.session-token"], Token: p["gcs.oauth2.token"]}
}

// expiry is when the keys end; the zero time: not known.
func (p properties) expiry() time.Time {
	for _, k := range []string{"s3.session-token-expires-at-ms", "gcs.oauth2.token-expires-at"} {
		if ms, err := strconv.ParseInt(p[k], 10, 64); err == nil && ms > 0 {
			return time.UnixMilli(ms)
		}
	}
	return time.Time{}
}

// fileSystem returns the file system for an object. It has the credentials that the catalog gives for the object, or the ones of the
// environment if the catalog gives none.
func (t *table) fileSystem(uri string) (vfs.FS, error) {
	scheme := vfs.Scheme(uri)
	whole := t.stores[scheme]
	if whole == nil {
		return vfs.OS, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.current.grantOf(uri)
	p := g.properties
	if !p.have(scheme) {
		return whole, nil
	}
	grant := objects.Grant{From: "the catalog", Keys: func() (objects.Keys, error) { return t.keysOf(g.prefix) }}
	if scheme == "s3" {
		grant.Endpoint, grant.Region = p["s3.endpoint"], p["s3.region"]
		if grant.Region == "" {
			grant.Region = p["client.region"]
		}
		grant.PathStyle = strings.EqualFold(p["s3.path-style-access"], "true")
		grant.HostStyle = strings.EqualFold(p["s3.path-style-access"], "false")
		grant.Endpoint = strings.TrimRight(grant.Endpoint, "/")
	} else {
		grant.Endpoint = strings.TrimRight(p["gcs.service.host"], "/")
	}
	if u, err := url.Parse(grant.Endpoint); err == nil && u.Scheme == "http" && strings.HasPrefix(t.client.endpoint, "https:") && !loopback(u) {
		return nil, lake.Badf("%s: found the address %s for the objects of a table, expected one with https, as the catalog has; ask who runs the catalog", t.client.endpoint, grant.Endpoint)
	}
	key := strings.Join([]string{scheme, g.prefix, grant.Endpoint, grant.Region, p["s3.path-style-access"]}, "\n")
	if t.parts[key] == nil {
		t.parts[key] = whole.Granted(grant)
	}
	return t.parts[key], nil
}

// keysOf are the keys for a prefix now. Those that end soon are asked for again.
func (t *table) keysOf(prefix string) (objects.Keys, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.current.withPrefix(prefix)
	end := p.expiry()
	if end.IsZero() || time.Until(end) >= renewBefore {
		return p.keys(), nil
	}
	expired := time.Until(end) <= 0
	pause := renewPause
	if expired {
		pause = expiredPause
	}
	if time.Since(t.renewed) >= pause {
		t.renewed = time.Now()
		l, err := t.ask(context.Background())
		if t.renewal = err; err == nil {
			t.current = l
			return l.withPrefix(prefix).keys(), nil
		}
	}
	if expired && t.renewal != nil {
		return objects.Keys{}, t.renewal
	}
	return p.keys(), nil
}

// withPrefix are the properties that the catalog gives for a prefix.
func (l *loaded) withPrefix(prefix string) properties {
	for _, g := range l.grants {
		if g.prefix == prefix {
			return g.properties
		}
	}
	return l.grants[0].properties
}

// loopback says whether an address is one of this machine.
func loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// storageAddress is the address of an object or a file of metadata in the form of paths here; ok is false for a storage that is not read.
func storageAddress(location string) (path string, ok bool) {
	scheme, rest, hasScheme := strings.Cut(location, ":/")
	if !hasScheme || strings.ContainsAny(scheme, "/.%=") || scheme == "" {
		return location, strings.HasPrefix(location, "/")
	}
	switch scheme {
	case "file":
		return "/" + strings.TrimLeft(rest, "/"), true
	case "s3", "s3a", "s3n":
		return "s3://" + strings.TrimLeft(rest, "/"), true
	case "gs":
		return "gs://" + strings.TrimLeft(rest, "/"), true
	}
	return "", false
}
