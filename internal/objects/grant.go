package objects

import (
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Grant is access to some objects that another service gives, as a catalog of tables does, in place of the credentials of the
// environment.
type Grant struct {
	// From names the service for errors: "the catalog".
	From string
	// Endpoint is the address of the server, https://HOST or http://HOST:PORT; "": the one of the environment.
	Endpoint string
	// Region is the region of the bucket; "": the one of the environment.
	Region string
	// HostStyle has the name of a bucket stand in the host of a request, and PathStyle in its path. Without both, it stands in the path where there is an
	// Endpoint.
	HostStyle, PathStyle bool
	// Keys returns the keys to sign requests with now. It is called for each request, by several goroutines.
	Keys func() (Keys, error)
}

// Keys sign requests. The zero value signs none.
type Keys struct {
	// ID, Secret and Session are keys of S3.
	ID, Secret, Session string
	// Token is a bearer token of Google Cloud Storage.
	Token string
}

// Granted returns the file system of the same scheme that reads with a grant. It shares the cache of f.
func (f *FS) Granted(g Grant) *FS {
	p := newFS(f.scheme, f.o)
	p.cache, p.grant, p.whole = f.cache, &g, f
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parts = append(f.parts, p)
	return p
}

// connect is newS3 and newGoogle with the grant.
func (g *Grant) connect(scheme, bucket string) (service, error) {
	told := &origin{place: "of " + g.From}
	told.set("the credentials of " + g.From)
	o := &minio.Options{Creds: credentials.New(&grantedKeys{g}), Transport: transport(), Region: g.Region, BucketLookup: minio.BucketLookupPath, MaxRetries: tries, TrailingHeaders: scheme == "s3"}
	endpoint := g.Endpoint
	if scheme == "gs" {
		if endpoint == "" {
			endpoint = googleEndpoint()
		}
		o.Region = "auto"
		o.Creds = credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
		o.Transport = &grantedToken{o.Transport, g}
		return connect(scheme, bucket, endpoint, told, o)
	}
	if endpoint == "" {
		endpoint, o.BucketLookup = s3Endpoint()
	}
	if g.PathStyle {
		o.BucketLookup = minio.BucketLookupPath
	} else if g.HostStyle {
		o.BucketLookup = minio.BucketLookupDNS
	}
	if o.Region == "" {
		o.Region = s3Region()
	}
	return connect(scheme, bucket, endpoint, told, o)
}

// grantedKeys asks for the keys at each request, because they expire.
type grantedKeys struct{ g *Grant }

// Retrieve implements credentials.Provider.
func (p *grantedKeys) Retrieve() (credentials.Value, error) {
	k, err := p.g.Keys()
	v := credentials.Value{AccessKeyID: k.ID, SecretAccessKey: k.Secret, SessionToken: k.Session, SignerType: credentials.SignatureV4, Expiration: time.Time{}}
	if k.ID == "" {
		v.SignerType = credentials.SignatureAnonymous
	}
	return v, err
}

// RetrieveWithCredContext implements credentials.Provider.
func (p *grantedKeys) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	return p.Retrieve()
}

// IsExpired implements credentials.Provider.
func (p *grantedKeys) IsExpired() bool { return true }

// grantedToken adds the token of a grant to requests.
type grantedToken struct {
	http.RoundTripper
	g *Grant
}

// RoundTrip implements http.RoundTripper.
func (t *grantedToken) RoundTrip(r *http.Request) (*http.Response, error) {
	k, err := t.g.Keys()
	if err != nil {
		return nil, err
	}
	if k.Token != "" {
		return (&bearer{t.RoundTripper, k.Token}).RoundTrip(r)
	}
	return t.RoundTripper.RoundTrip(r)
}
