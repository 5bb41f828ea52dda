package catalog

import (
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Is says whether a path names a table of a catalog, or a file of such a table.
func Is(path string) bool { return strings.HasPrefix(vfs.Scheme(path), schemePrefix) }

// schemePrefix begins the schemes of catalogs. Their protocol follows, https or http.
const schemePrefix = "iceberg+"

// form is the form of an address, for errors.
const form = "iceberg+https://HOST/PATH#NAMESPACE.TABLE, with ?warehouse=NAME before the # if the catalog has several"

// address is a path in a catalog.
type address struct {
	endpoint  string // http or https, the host and the path, without a slash at its end
	warehouse string // "": none
	namespace []string
	table     string
	rest      string // the path below the table; "": the table itself
	folder    string // the path of the table
}

// parseAddress reads a path. Package filepath makes iceberg+https:/host of iceberg+https://host, which means the same.
func parseAddress(name string) (address, error) {
	var a address
	scheme, text, ok := strings.Cut(filepath.ToSlash(name), ":/")
	protocol := strings.TrimPrefix(scheme, schemePrefix)
	at, table, hasTable := strings.Cut(strings.TrimLeft(text, "/"), "#")
	table, a.rest, _ = strings.Cut(table, "/")
	if plain, ref, err := lake.CutRef(table); err != nil {
		return a, err
	} else if ref != (lake.Ref{}) { // the table is the same at each version
		table = plain
	}
	at, query, hasQuery := strings.Cut(at, "?")
	at = strings.TrimRight(at, "/")
	host, below, _ := strings.Cut(at, "/")
	if strings.Contains(host, "@") { // before any error that has the address
		return a, lake.Badf("found an address of a catalog with credentials, expected its plain host; give them in the environment, as PYICEBERG_CATALOG__NAME__CREDENTIAL")
	}
	plain := scheme + "://" + at // without the query, which can have a secret
	if !ok || !hasTable || table == "" || !Is(name) {
		return a, lake.Badf("%s: found an address of a catalog without a table, expected %s; name the table after a #", plain, form)
	}
	if _, after, ok := strings.Cut(table, "@"); ok {
		return a, lake.Badf("%s: found @%s after the table, expected @version=N, @time=T or @ref=NAME, one of them; correct it, or write an @ within a name as %%40", plain, after)
	}
	u, err := url.Parse(protocol + "://" + at)
	if err != nil || host == "" || u.Host == "" || u.Opaque != "" {
		return a, lake.Badf("%s: found what is no address of a catalog, expected %s; correct the address", plain, form)
	}
	if slices.Contains(strings.Split(below, "/"), "..") || slices.Contains(strings.Split(below, "/"), ".") {
		return a, lake.Badf("%s: found a path with dots, expected the path of the catalog; correct the address", plain)
	}
	a.endpoint = normalEndpoint(u)
	if hasQuery {
		values, err := url.ParseQuery(query)
		if err != nil || len(values) != 1 || len(values["warehouse"]) != 1 || values.Get("warehouse") == "" {
			return a, lake.Badf("%s: found other parameters than a warehouse, expected %s; give credentials in the environment", plain, form)
		}
		a.warehouse = values.Get("warehouse")
	}
	names := strings.Split(table, ".")
	for i, n := range names {
		if names[i], err = url.PathUnescape(n); err != nil || names[i] == "" {
			return a, lake.Badf("%s: found the table %q, expected NAMESPACE.TABLE; correct the name, and escape other characters by %%, such as a dot in a name by %%2E", name, table)
		}
	}
	if len(names) < 2 {
		return a, lake.Badf("%s: found the table %q without a namespace, expected NAMESPACE.TABLE; name the namespace before it", name, table)
	}
	a.namespace, a.table = names[:len(names)-1], names[len(names)-1]
	a.folder = scheme + ":/" + at
	if hasQuery {
		a.folder += "?" + query
	}
	a.folder = filepath.Clean(a.folder + "#" + table)
	a.rest = strings.TrimPrefix(path.Clean("/"+a.rest), "/")
	return a, nil
}

// TableName is the name of the table of a path without its namespace; empty: the path is none of a table.
func TableName(path string) string {
	a, err := parseAddress(path)
	if err != nil {
		return ""
	}
	return a.table
}

// normalEndpoint is the address of a catalog in the form in which two of one catalog are equal.
func normalEndpoint(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && !(u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80") {
		host += ":" + port
	}
	return u.Scheme + "://" + host + strings.TrimRight(path.Clean("/"+u.EscapedPath()), "/")
}

// name is the name of the table for people.
func (a *address) name() string { return strings.Join(a.namespace, ".") + "." + a.table }
