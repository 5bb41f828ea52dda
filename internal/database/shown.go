package database

import (
	"net/url"
	"regexp"
	"strings"
)

// hidden stands for an address that is not shown, because it cannot be told what in it is a password.
const hidden = "postgres://..."

// shownKeys are the parameters of an address that others may see, as they say what the address itself says in other addresses.
var shownKeys = []string{"host", "port", "user", "dbname", "database"}

// Shown is the address of a database as others may see it: of PostgreSQL host, port, user and database, and nothing else.
func Shown(address string) string {
	if strings.HasPrefix(address, "sqlite:") || !Is(address) {
		return address
	}
	u, err := url.Parse(address)
	if err != nil || strings.Contains(u.Path+u.RawQuery+u.Fragment, "@") { // a password with a slash ends the host early
		return hidden
	}
	if _, has := u.User.Password(); !has && u.RawQuery == "" && u.Fragment == "" {
		return address
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.User != nil {
		shown.User = url.User(u.User.Username())
	}
	keys := url.Values{}
	for _, k := range shownKeys {
		if u.Query().Has(k) {
			keys.Set(k, u.Query().Get(k))
		}
	}
	shown.RawQuery = keys.Encode()
	return shown.String()
}

var addresses = regexp.MustCompile("(postgres|postgresql):/+[^\\s\"'`]*") // package filepath makes one slash of two

// Redact returns a text with each address of PostgreSQL in it as it may be shown.
func Redact(text string) string {
	return addresses.ReplaceAllStringFunc(text, func(found string) string {
		scheme, rest, _ := strings.Cut(found, ":")
		return Shown(scheme + "://" + strings.TrimLeft(rest, "/"))
	})
}
