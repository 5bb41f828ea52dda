package catalog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/lake/catalog"
	"github.com/graphmill/graphmill/internal/lake/catalog/catalogtest"
	"github.com/graphmill/graphmill/internal/lake/iceberg"
	"github.com/graphmill/graphmill/internal/objects"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// newFS is the file system of catalogs, with buckets whose blocks are kept in a folder of the test.
func newFS(t *testing.T) *catalog.FS {
	t.Helper()
	cache := t.TempDir()
	return catalog.New(map[string]*objects.FS{"s3": objects.New("s3", objects.Options{Cache: cache}), "gs": objects.New("gs", objects.Options{Cache: cache})})
}

// answerOf is an answer of testdata.
func answerOf(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// openAddress opens the table of an address as an import does, and returns its files and the first error of a list or a file.
func openAddress(t *testing.T, fsys vfs.FS, address string, outside bool) (s *lake.Snapshot, err error) {
	t.Helper()
	if _, err := fsys.Stat(filepath.Clean(address)); err != nil {
		return nil, err
	}
	if s, err = iceberg.Open(fsys, filepath.Clean(address), lake.Ref{}, "", outside); err != nil {
		return nil, err
	}
	for _, f := range s.Files {
		if _, err := vfs.ReadFile(fsys, f.Path, 1<<20); err != nil {
			return s, err
		}
	}
	return s, nil
}

// keysOf are properties that give access to a server of objects.
func keysOf(s *objectstest.Server) map[string]string {
	return map[string]string{"s3.access-key-id": s.Key, "s3.secret-access-key": "vended-word", "s3.session-token": s.Session, "s3.endpoint": s.URL, "s3.region": "eu-west-1"}
}

// newObjects starts a server of objects that accepts a single key. The environment has another key.
func newObjects(t *testing.T) *objectstest.Server {
	t.Helper()
	s := objectstest.New(t, "lakes", "files")
	s.PutFolder(t, "testdata/objects/lakes", "lakes")
	s.PutFolder(t, "testdata/objects/files", "files")
	s.Key, s.Session = "VENDED", "vended-session"
	return s
}

// TestTokens opens a table of catalogs with prefixes, warehouses, tokens, and tokens that are got for a credential, also after they are
// revoked.
func TestTokens(t *testing.T) {
	o := newObjects(t)
	fsys := newFS(t)
	for name, set := range map[string]func(c *catalogtest.Server){
		"plain":     func(*catalogtest.Server) {},
		"path":      func(c *catalogtest.Server) { c.Path = "/api/catalog" },
		"prefix":    func(c *catalogtest.Server) { c.Path, c.Prefix = "/catalog", "ws/a%20b" },
		"warehouse": func(c *catalogtest.Server) { c.Warehouse, c.Prefix = "s3://lakes/wh?x=1&y#z@version=2", "p" },
		"separator": func(c *catalogtest.Server) { c.Config = map[string]string{"namespace-separator": "%1F"} },
		"endpoints": func(c *catalogtest.Server) {
			c.Endpoints = []string{"GET /v1/{prefix}/namespaces/{namespace}/tables/{table}"}
		},
		"token": func(c *catalogtest.Server) { c.Token = "token-word" },
		"oauth": func(c *catalogtest.Server) { c.Client, c.Secret = "me", "secret:word" },
	} {
		t.Run(name, func(t *testing.T) {
			c := catalogtest.New(t)
			set(c)
			c.Put(t, answerOf(t, "second"), map[string]any{"config": keysOf(o)}, "social", "year 2026", "fol.lows")
			t.Setenv("PYICEBERG_CATALOG__X__URI", strings.ToUpper(c.URL[:4])+c.URL[4:]+c.Path+"/")
			if c.Token != "" {
				t.Setenv("PYICEBERG_CATALOG__X__TOKEN", c.Token)
			}
			if c.Secret != "" {
				t.Setenv("PYICEBERG_CATALOG__X__CREDENTIAL", c.Client+":"+c.Secret)
			}
			for range 2 {
				s, err := openAddress(t, fsys, c.Address("social.year%202026.fol%2Elows"), false)
				if err != nil || len(s.Files) != 2 {
					t.Fatalf("found %v, expected two files", err)
				}
				c.Revoke()
			}
			if want := map[bool]int{true: 2}[c.Secret != ""]; c.Requests("POST", "/v1/oauth/tokens") != want {
				t.Errorf("found %d requests for tokens, expected %d", c.Requests("POST", "/v1/oauth/tokens"), want)
			}
		})
	}
}

// TestErrors has catalogs that refuse, fail and answer nonsense: each error says what to do, has no secret, and comes after few requests.
func TestErrors(t *testing.T) {
	o := newObjects(t)
	const table = "social.year 2026.fol%2Elows"
	status := func(code int, body string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/tables/") {
				return false
			}
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	for _, c := range []struct {
		name, table, variable string
		set                   func(c *catalogtest.Server)
		want                  string
		kind                  error
		requests              int // for the table
	}{
		{"no table", "social.year 2026.none", "", nil, "found no table social.year 2026.none in the catalog", nil, 1},
		{"no namespace", "none.fol%2Elows", "", nil, "found no namespace none in the catalog", nil, 1},
		{"no catalog", table, "", func(c *catalogtest.Server) { c.Path, c.Fault = "/other", nil }, "", nil, 1},
		{"no warehouse", table, "", func(c *catalogtest.Server) {
			c.Fault = func(w http.ResponseWriter, r *http.Request) bool {
				catalogtest.Refuse(w, http.StatusNotFound, "NoSuchWarehouseException", "none")
				return true
			}
		}, "?warehouse=NAME before the #", nil, 0},
		{"no credentials", table, "", func(c *catalogtest.Server) { c.Token = "token-word" }, "found a catalog that wants credentials (Not authorized), expected them in the environment; give PYICEBERG_CATALOG__NAME__URI=", fs.ErrPermission, 0},
		{"wrong token", table, "TOKEN=bad-word", func(c *catalogtest.Server) { c.Token = "token-word" }, "correct PYICEBERG_CATALOG__X__TOKEN", fs.ErrPermission, 0},
		{"wrong credential", table, "CREDENTIAL=me:bad-word", func(c *catalogtest.Server) { c.Client, c.Secret = "me", "secret-word" }, "correct PYICEBERG_CATALOG__X__CREDENTIAL", fs.ErrPermission, 0},
		{"echoed token", table, "TOKEN=bad-word", func(c *catalogtest.Server) {
			c.Fault = status(400, `{"error": {"message": "bad token bad-word", "type": "X", "code": 400}}`)
		}, "by 400 Bad Request;", nil, 1},
		{"denied", table, "TOKEN=bad-word", func(c *catalogtest.Server) {
			c.Fault = status(403, `{"error": {"message": "no\nprivilege", "type": "X", "code": 403}}`)
		}, "denies access to the table social.year 2026.fol.lows (no privilege); give credentials in PYICEBERG_CATALOG__X__TOKEN", fs.ErrPermission, 1},
		{"unavailable", table, "", func(c *catalogtest.Server) { c.Fault = status(503, "<html>") }, "says 503 Service Unavailable; try again later", nil, 4},
		{"cut", table, "", func(c *catalogtest.Server) {
			c.Fault = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, "/tables/") {
					return false
				}
				w.Header().Set("Content-Length", "100")
				_, _ = w.Write([]byte("{"))
				return true
			}
		}, "the answer of the catalog ends early", nil, 4},
		{"no JSON", table, "", func(c *catalogtest.Server) { c.Fault = status(200, "<html>") }, "found an answer of 6 bytes that is no table", nil, 1},
		{"no metadata", table, "", func(c *catalogtest.Server) { c.Fault = status(200, `{"metadata": null}`) }, "that is no table", nil, 1},
		{"other storage", table, "", func(c *catalogtest.Server) {
			c.Fault = status(200, `{"metadata": {"location": "abfss://c@a.example/t"}}`)
		}, "expected one in s3:, gs: or file:", nil, 1},
		{"no page", table, "", func(c *catalogtest.Server) { c.Fault = status(404, "<html>") }, "found no page for the table", nil, 1},
		{"redirect", table, "", func(c *catalogtest.Server) {
			c.Fault = func(w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, "http://localhost:1/v1/config", http.StatusFound)
				return true
			}
		}, "found a redirect to the host localhost:1", nil, 0},
		{"signed", table, "", func(c *catalogtest.Server) { c.Config = map[string]string{"rest.sigv4-enabled": "true"} }, "whose requests AWS signs", nil, 0},
		{"another host", table, "", func(c *catalogtest.Server) { c.Config = map[string]string{"uri": "http://other.example"} }, "names another one as its address", nil, 0},
		{"bad prefix", table, "", func(c *catalogtest.Server) { c.Prefix = "a/../../b" }, "found the prefix", nil, 0},
		{"no endpoint", table, "", func(c *catalogtest.Server) { c.Endpoints = []string{"GET /v1/{prefix}/namespaces"} }, "does not return tables", nil, 0},
		{"plain objects", table, "", nil, "", nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := newFS(t)
			s := catalogtest.New(t)
			address := s.Address(c.table)
			if c.set != nil {
				c.set(s)
			}
			s.Put(t, answerOf(t, "second"), map[string]any{"config": keysOf(o)}, "social", "year 2026", "fol.lows")
			if name, value, ok := strings.Cut(c.variable, "="); ok {
				t.Setenv("PYICEBERG_CATALOG__X__URI", s.URL)
				t.Setenv("PYICEBERG_CATALOG__X__"+name, value)
			}
			switch c.name {
			case "no catalog":
				c.want = "found no catalog, or none with the warehouse"
				c.requests = 0
			case "plain objects":
				if _, err := openAddress(t, fsys, address, false); err != nil {
					t.Errorf("found %v, expected none", err)
				}
				return
			}
			_, err := openAddress(t, fsys, address, false)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "word") || c.kind != nil && !errors.Is(err, c.kind) {
				t.Errorf("found %v, expected an error with %q, of kind %v and without a secret", err, c.want, c.kind)
			}
			if n := s.Requests("GET", "lows") + s.Requests("GET", "none"); n != c.requests {
				t.Errorf("found %d requests for the table, expected %d", n, c.requests)
			}
		})
	}
}

// TestPrefixes opens a table whose files lie in two buckets, for which the catalog gives credentials by prefixes, and in one for which it
// gives none.
func TestPrefixes(t *testing.T) {
	o := newObjects(t)
	fsys := newFS(t)
	c := catalogtest.New(t)
	credentials := func(prefixes ...string) map[string]any {
		list := []any{map[string]any{"prefix": "s3://lakes/wh/other", "config": map[string]string{"s3.access-key-id": "WRONG", "s3.secret-access-key": "x"}}}
		for _, p := range prefixes {
			keys := keysOf(o)
			p, without := strings.CutSuffix(p, " without keys")
			if without {
				keys = nil
			}
			list = append(list, map[string]any{"prefix": p, "config": keys})
		}
		return map[string]any{"storage-credentials": list}
	}
	for i, v := range []struct {
		prefixes []string
		outside  bool
		bad      string
	}{
		{[]string{"s3://lakes/wh/", "s3://files/spread"}, false, ""},
		{[]string{"s3://lakes/wh/", "s3://files/spread"}, true, ""},
		{[]string{"s3"}, true, ""},
		{[]string{"s3://lakes/wh/", "s3://files/other"}, false, "lies outside of the location of the table"},
		{[]string{"s3://lakes/wh/", "s3://files/spread without keys"}, false, "lies outside of the location of the table"},
		{[]string{"s3://lakes/wh/", "s3://files/other"}, true, "it got the credentials of the environment"},
		{[]string{"s3://lakes/wh/other"}, false, "it got the credentials of the"},
	} {
		table := fmt.Sprintf("spread%d", i)
		c.Put(t, answerOf(t, "spread"), credentials(v.prefixes...), "social", "year 2026", table)
		s, err := openAddress(t, fsys, c.Address("social.year 2026."+table), v.outside)
		if v.bad == "" && (err != nil || len(s.Files) != 1) || v.bad != "" && (err == nil || !strings.Contains(err.Error(), v.bad)) {
			t.Errorf("%v: found %v, expected %q", v, err, v.bad)
		}
	}
}

// TestPathsUp refuses files whose addresses lead out of their bucket, and through it to files of this machine, and reads none of them.
func TestPathsUp(t *testing.T) {
	o := newObjects(t)
	good := string(answerOf(t, "second"))
	dir := t.TempDir()
	list := filepath.Join(dir, "list.avro")
	if err := os.WriteFile(list, []byte("Obj\x01"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	found := regexp.MustCompile(`"manifest-list": ?"([^"]*)"`).FindAllStringSubmatch(good, -1)
	if found == nil {
		t.Fatal("found no list of manifests in the answer")
	}
	for i, bad := range []string{"s3://../../../list.avro", "s3://../../../../list.avro", "s3://../../../../../.." + list, "s3://lakes/../../x#a.b/list.avro"} {
		answer := good
		for _, f := range found {
			answer = strings.ReplaceAll(answer, f[1], bad)
		}
		c := catalogtest.New(t)
		table := fmt.Sprintf("up%d", i)
		c.Put(t, []byte(answer), map[string]any{"config": keysOf(o)}, "a", table)
		for _, outside := range []bool{false, true} {
			_, err := openAddress(t, newFS(t), c.Address("a."+table), outside)
			if err == nil || !strings.Contains(err.Error(), "with dots in its path") || !errors.Is(err, lake.ErrFormat) {
				t.Errorf("%s: found %v, expected an error about dots", bad, err)
			}
		}
	}
}

// TestExpiry asks for credentials again that end soon, but not for each object, and keeps those that do not end soon. A catalog that is down
// then is asked once while the credentials are valid.
func TestExpiry(t *testing.T) {
	o := newObjects(t)
	for minutes, asked := range map[int]int{-1: 1, 1: 1, 60: 0} {
		fsys := newFS(t)
		c := catalogtest.New(t)
		keys := keysOf(o)
		keys["s3.session-token-expires-at-ms"] = fmt.Sprint(time.Now().Add(time.Duration(minutes) * time.Minute).UnixMilli())
		c.Put(t, answerOf(t, "second"), map[string]any{"config": keys}, "social", "year 2026", "fol.lows")
		if _, err := openAddress(t, fsys, c.Address("social.year 2026.fol%2Elows"), false); err != nil {
			t.Fatal(err)
		}
		const opened = 2 // Stat, and the list of metadata
		if n := c.Requests("GET", "fol.lows"); n != opened+asked {
			t.Errorf("found %d requests for a table whose credentials end in %d minutes, expected %d", n, minutes, opened+asked)
		}
	}
}

// TestAddresses refuses what is no address of a table, without secrets that it has.
func TestAddresses(t *testing.T) {
	fsys := newFS(t)
	for address, want := range map[string]string{
		"iceberg+https://host.example/catalog":                      "without a table",
		"iceberg+https://host.example/catalog#":                     "without a table",
		"iceberg+https://host.example/catalog#table":                "without a namespace",
		"iceberg+https://host.example/catalog#.table":               "expected NAMESPACE.TABLE",
		"iceberg+https://host.example/catalog#a.%zz":                "expected NAMESPACE.TABLE",
		"iceberg+https://#a.b":                                      "no address of a catalog",
		"iceberg+https://me:secret-word@host.example/#a.b":          "credentials",
		"iceberg+https://host.example/?token=secret-word#a.b":       "other parameters than a warehouse",
		"iceberg+https://host.example/?token=secret-word":           "without a table",
		"iceberg+https://host.example/.././?token=secret-word#a.b":  "",
		"iceberg+https://host.example:x/?token=secret-word#a.b":     "no address of a catalog",
		"iceberg+https://me:secret-word@host.example/":              "credentials",
		"iceberg+https://me:secret-word@/a#a.b":                     "credentials",
		"iceberg+https://me:secret-word@host.example:x/a#a.b":       "credentials",
		"iceberg+https://host.example/?warehouse=a&warehouse=b#a.b": "other parameters than a warehouse",
		"iceberg+https://host.example/#a.b@version=x":               "found the version",
		"iceberg+https://host.example/#a.b@vers=1":                  "found @vers=1 after the table, expected @version=N",
		"iceberg+https://host.example/#a.b@version=1@ref=x":         "found @version=1 after the table, expected @version=N",
	} {
		_, err := fsys.Stat(filepath.Clean(address))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret-word") && want != "found the version" || !errors.Is(err, lake.ErrFormat) {
			t.Errorf("%s: found %v, expected an error with %q", address, err, want)
		}
	}
	for path, want := range map[string]bool{"iceberg+https:/a#b.c": true, "iceberg+http://a#b.c": true, "https://a/b": false, "iceberg": false, "iceberg+https": false} {
		if catalog.Is(path) != want {
			t.Errorf("%s: found %v, expected %v", path, !want, want)
		}
	}
}
