// Package catalogtest is a catalog for tests: enough of the REST protocol of Iceberg for package catalog, with tokens and faults.
package catalogtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// Separator is between the levels of a namespace in the path of a request.
const Separator = "\x1f"

// Server is a catalog. Its fields are set before the first request.
type Server struct {
	*httptest.Server
	// Path is the path of the catalog on its host, such as /catalog; "": none.
	Path string
	// Prefix is the prefix that the configuration gives for addresses of tables; "" gives none. Warehouse is the only warehouse that the server knows; "" accepts any.
	Prefix, Warehouse string
	// Config is more that the configuration says, and Endpoints are the requests that it lists.
	Config    map[string]string
	Endpoints []string
	// Requests need the bearer Token, which a client can get with Client and Secret. If all three are empty, requests need no token.
	Token, Client, Secret string
	// Fault, if not nil, sees each request first. It may answer it, and then returns true.
	Fault func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	tables   map[string]any // answers, by namespace Separator table
	requests map[string]int // by method and path
	tokens   int
}

// New starts a catalog without tables. It ends with the test.
func New(tb testing.TB) *Server {
	s := &Server{tables: map[string]any{}, requests: map[string]int{}}
	s.Server = httptest.NewServer(s)
	tb.Cleanup(s.Close)
	return s
}

// Address is the address of a table, whose name is in the form that addresses have.
func (s *Server) Address(table string) string {
	address := "iceberg+" + s.URL + s.Path
	if s.Warehouse != "" {
		address += "?warehouse=" + url.QueryEscape(s.Warehouse)
	}
	return address + "#" + table
}

// Put makes the answer about a table, of the JSON of another catalog. more are fields that replace those of it. names are those of the levels of the namespace and the table.
func (s *Server) Put(tb testing.TB, answer []byte, more map[string]any, names ...string) {
	tb.Helper()
	var fields map[string]any
	d := json.NewDecoder(strings.NewReader(string(answer)))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		tb.Fatal(err)
	}
	maps.Copy(fields, more)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables[strings.Join(names, Separator)] = fields
}

// Requests is the number of requests of a method whose path ends in a text.
func (s *Server) Requests(method, end string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r, times := range s.requests {
		if strings.HasPrefix(r, method+" ") && strings.HasSuffix(r, end) {
			n += times
		}
	}
	return n
}

// Revoke makes all tokens that were given invalid.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens++
}

// token is the token that is valid now.
func (s *Server) token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Secret != "" {
		return fmt.Sprintf("token-of-oauth-%d", s.tokens)
	}
	return s.Token
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests[r.Method+" "+r.URL.Path]++
	s.mu.Unlock()
	if s.Fault != nil && s.Fault(w, r) {
		return
	}
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), s.Path+"/v1/")
	switch {
	case !ok:
		http.Error(w, "<html>no such page</html>", http.StatusNotFound)
	case rest == "oauth/tokens" && r.Method == http.MethodPost:
		s.giveToken(w, r)
	case s.token() != "" && r.Header.Get("Authorization") != "Bearer "+s.token():
		Refuse(w, http.StatusUnauthorized, "NotAuthorizedException", "Not authorized")
	case rest == "config":
		s.giveConfig(w, r)
	default:
		s.giveTable(w, r, rest)
	}
}

// giveToken answers a request for a token.
func (s *Server) giveToken(w http.ResponseWriter, r *http.Request) {
	if r.PostFormValue("grant_type") != "client_credentials" || r.PostFormValue("client_id") != s.Client || r.PostFormValue("client_secret") != s.Secret || r.PostFormValue("scope") == "" {
		w.WriteHeader(http.StatusUnauthorized)
		writeJSON(w, map[string]string{"error": "invalid_client", "error_description": "Credentials given were invalid: " + r.PostFormValue("client_secret")})
		return
	}
	writeJSON(w, map[string]any{"access_token": s.token(), "token_type": "bearer", "expires_in": 3600})
}

func (s *Server) giveConfig(w http.ResponseWriter, r *http.Request) {
	if s.Warehouse != "" && r.URL.Query().Get("warehouse") != s.Warehouse {
		Refuse(w, http.StatusNotFound, "NoSuchWarehouseException", "No such warehouse")
		return
	}
	overrides := maps.Clone(s.Config)
	if overrides == nil {
		overrides = map[string]string{}
	}
	if s.Prefix != "" {
		overrides["prefix"] = s.Prefix
	}
	answer := map[string]any{"defaults": map[string]string{}, "overrides": overrides}
	if s.Endpoints != nil {
		answer["endpoints"] = s.Endpoints
	}
	writeJSON(w, answer)
}

func (s *Server) giveTable(w http.ResponseWriter, r *http.Request, rest string) {
	if s.Prefix != "" {
		var ok bool
		if rest, ok = strings.CutPrefix(rest, s.Prefix+"/"); !ok {
			Refuse(w, http.StatusNotFound, "NotFoundException", "No such prefix")
			return
		}
	}
	rest, ok := strings.CutPrefix(rest, "namespaces/")
	namespace, table, isTable := strings.Cut(rest, "/tables/")
	if !ok || !isTable || r.Method != http.MethodGet || strings.Contains(namespace+table, "/") {
		Refuse(w, http.StatusBadRequest, "BadRequestException", "No route")
		return
	}
	key, err := url.PathUnescape(namespace + Separator + table)
	s.mu.Lock()
	answer, known := s.tables[key]
	hasNamespace := false
	for k := range s.tables {
		at, _ := url.PathUnescape(namespace)
		hasNamespace = hasNamespace || strings.HasPrefix(k, at+Separator)
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		Refuse(w, http.StatusBadRequest, "BadRequestException", err.Error())
	case !hasNamespace:
		Refuse(w, http.StatusNotFound, "NoSuchNamespaceException", "Namespace does not exist")
	case !known:
		Refuse(w, http.StatusNotFound, "NoSuchTableException", "Table does not exist")
	default:
		writeJSON(w, answer)
	}
}

// Refuse answers by an error.
func Refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	writeJSON(w, map[string]any{"error": map[string]any{"message": message, "type": kind, "code": status}})
}

func writeJSON(w http.ResponseWriter, v any) {
	_ = json.NewEncoder(w).Encode(v) // a client that is gone reads no answer
}
