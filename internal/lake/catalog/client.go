package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/objects"
)

// The patience with a catalog.
const (
	connectTime = 10 * time.Second
	answerTime  = 60 * time.Second
	wholeTime   = 5 * time.Minute // of a request, with all bytes of its answer
	tries       = 4
)

// Bounds of answers in bytes, when they are unpacked.
const (
	maxTable  = 256 << 20
	maxConfig = 1 << 20
	maxError  = 64 << 10
)

// client talks to one catalog.
type client struct {
	endpoint  string
	warehouse string
	name      string // in the environment; "": it has none
	given     properties
	http      *http.Client

	mu     sync.Mutex
	token  token
	config *config
}

// config is the configuration that a catalog returns.
type config struct {
	base      string // of the addresses of its tables
	all       properties
	separator string // of the levels of a namespace
}

// newClient makes the client of the catalog of an address, which has a name and properties in the environment.
func newClient(a *address, name string, given properties) (*client, error) {
	if err := given.unsupported(); err != nil {
		return nil, fmt.Errorf("%s: %w", a.endpoint, err)
	}
	c := &client{endpoint: a.endpoint, warehouse: a.warehouse, name: name, given: given}
	if c.warehouse == "" {
		c.warehouse = given["warehouse"]
	}
	c.http = &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: connectTime}).DialContext,
			TLSHandshakeTimeout:   connectTime,
			ResponseHeaderTimeout: answerTime,
			IdleConnTimeout:       answerTime,
			ForceAttemptHTTP2:     true,
		},
		CheckRedirect: func(to *http.Request, via []*http.Request) error {
			if to.URL.Host != via[0].URL.Host || to.URL.Scheme != via[0].URL.Scheme || len(via) > 10 {
				return fmt.Errorf("found a redirect to the host %s, expected an answer; give the address of that host", to.URL.Host)
			}
			return nil
		},
	}
	return c, nil
}

// tableAnswer is the answer about a table.
type tableAnswer struct {
	Location    string            `json:"metadata-location"`
	Metadata    json.RawMessage   `json:"metadata"`
	Config      map[string]string `json:"config"`
	Credentials []struct {
		Prefix string            `json:"prefix"`
		Config map[string]string `json:"config"`
	} `json:"storage-credentials"`
}

// tableEndpoint is how a catalog names the request for a table among those that it knows.
const tableEndpoint = "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}"

// load asks for a table.
func (c *client) load(ctx context.Context, a *address) (*tableAnswer, properties, error) {
	conf, err := c.configuration(ctx)
	if err != nil {
		return nil, nil, err
	}
	levels := make([]string, len(a.namespace))
	for i, n := range a.namespace {
		levels[i] = escapeName(n)
	}
	address := conf.base + "namespaces/" + strings.Join(levels, escapeName(conf.separator)) + "/tables/" + escapeName(a.table)
	b, err := c.get(ctx, address, maxTable, a)
	if err != nil {
		return nil, nil, err
	}
	var t tableAnswer
	if err := json.Unmarshal(b, &t); err != nil || len(t.Metadata) == 0 || bytes.Equal(t.Metadata, []byte("null")) {
		return nil, nil, lake.Badf("%s: found an answer of %d bytes that is no table, expected JSON with metadata; give the address of a catalog with the REST protocol of Iceberg", c.endpoint, len(b))
	}
	return &t, conf.all, nil
}

// configuration asks the catalog for its configuration, once.
func (c *client) configuration(ctx context.Context) (*config, error) {
	c.mu.Lock()
	known := c.config
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	address := c.endpoint + "/v1/config"
	if c.warehouse != "" {
		address += "?warehouse=" + url.QueryEscape(c.warehouse)
	}
	b, err := c.get(ctx, address, maxConfig, nil)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Defaults  map[string]string `json:"defaults"`
		Overrides map[string]string `json:"overrides"`
		Endpoints []string          `json:"endpoints"`
	}
	if err := json.Unmarshal(b, &answer); err != nil || answer.Defaults == nil && answer.Overrides == nil {
		return nil, lake.Badf("%s: found an answer of %d bytes that is no configuration, expected JSON with defaults and overrides; give the address of a catalog with the REST protocol of Iceberg, without /v1", c.endpoint, len(b))
	}
	if len(answer.Endpoints) > 0 && !slices.Contains(answer.Endpoints, tableEndpoint) {
		return nil, lake.Badf("%s: found a catalog that does not return tables (%s is not among its endpoints), expected one that does; give the path of the metadata that it names", c.endpoint, tableEndpoint)
	}
	known = &config{all: merged(answer.Defaults, c.given, answer.Overrides), separator: "\x1f"}
	if err := known.all.unsupported(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.endpoint, err)
	}
	if s, err := url.PathUnescape(known.all["namespace-separator"]); err == nil && s != "" {
		known.separator = s
	}
	base := c.endpoint
	if uri := answer.Overrides["uri"]; uri != "" {
		u, err := url.Parse(uri)
		if err != nil || hostOf(normalEndpoint(u)) != hostOf(base) {
			return nil, lake.Badf("%s: found a catalog that names another one as its address, expected one of this host; give that address", c.endpoint)
		}
		base = normalEndpoint(u)
	}
	known.base = base + "/v1/"
	if prefix := strings.Trim(known.all["prefix"], "/"); prefix != "" {
		if strings.ContainsAny(prefix, "?#\\") || slices.Contains(strings.Split(prefix, "/"), "..") {
			return nil, lake.Badf("%s: found the prefix %q, expected the elements of a path; report it to who runs the catalog", c.endpoint, prefix)
		}
		known.base += prefix + "/"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.config = known
	return known, nil
}

// hostOf is the protocol and the host of an endpoint.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// merged are properties, of which later ones count.
func merged(all ...map[string]string) properties {
	p := properties{}
	for _, m := range all {
		for k, v := range m {
			p[k] = v
		}
	}
	return p
}

// escapeName escapes a name as one element of a path, with all bytes but those that need no escape anywhere.
func escapeName(name string) string {
	return strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

// get is the answer to a request, of at most limit bytes. about is the table that is asked for; nil: the configuration.
func (c *client) get(ctx context.Context, address string, limit int64, about *address) ([]byte, error) {
	renewed := false
	for failed := 1; ; failed++ {
		bearer, err := c.bearer(ctx)
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return nil, lake.Badf("%s: found an address that cannot be asked, expected %s; correct it", c.endpoint, form)
		}
		if bearer != "" {
			req.Header.Set("Authorization", "Bearer "+bearer)
		}
		if about != nil {
			req.Header.Set("X-Iceberg-Access-Delegation", "vended-credentials")
		}
		b, answer, err := c.send(req, limit)
		switch {
		case answer == nil && err != nil: // no answer
		case err != nil:
			return nil, err
		case answer.StatusCode == http.StatusOK:
			return b, nil
		case (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == statusExpired) && !renewed && c.given["credential"] != "":
			c.forget(bearer) // the token can have expired
			renewed = true
			continue
		case !passing(answer.StatusCode):
			return nil, c.refused(answer.StatusCode, b, about)
		default:
			err = lake.Badf("%s: the catalog says %d %s%s; try again later, or ask who runs it", c.endpoint, answer.StatusCode, http.StatusText(answer.StatusCode), c.message(b))
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if failed == tries {
			return nil, err
		}
		if err := objects.Pause(ctx, failed); err != nil {
			return nil, err
		}
	}
}

// statusExpired is the answer of some catalogs to a token that has expired.
const statusExpired = 419

// passing says whether an answer may be another one later.
func passing(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return true
	}
	return false
}

// send sends a request once. Without an answer, it is nil. A body of more than limit bytes is an error.
func (c *client) send(req *http.Request, limit int64) ([]byte, *http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), wholeTime)
	defer cancel()
	req.Header.Set("User-Agent", "graphmill")
	req.Header.Set("Accept", "application/json")
	r, err := c.http.Do(req.WithContext(ctx))
	if err != nil {
		if e := (*url.Error)(nil); errors.As(err, &e) {
			err = e.Err // its text has the whole address
		}
		return nil, nil, fmt.Errorf("%s: the catalog does not answer: %w; correct the address, or try again later", c.endpoint, err)
	}
	if r.StatusCode != http.StatusOK {
		limit = maxError
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	err = errors.Join(err, r.Body.Close())
	switch {
	case r.StatusCode != http.StatusOK:
		return b[:min(int64(len(b)), limit)], r, nil
	case int64(len(b)) > limit:
		return nil, r, lake.Badf("%s: found an answer of more than %d bytes, expected fewer; expire old snapshots of the table", c.endpoint, limit)
	case err != nil:
		return nil, nil, fmt.Errorf("%s: the answer of the catalog ends early: %w; try again later", c.endpoint, err)
	}
	return b, r, nil
}
