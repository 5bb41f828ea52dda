package objects

import (
	"cmp"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// origin says which of several places gave the credentials. Its text never has a secret.
type origin struct {
	name  atomic.Pointer[string]
	place string // that an endpoint is from; empty: the environment
}

const unsigned = "no credentials, so that requests are not signed"

func (o *origin) String() string {
	if name := o.name.Load(); name != nil {
		return *name
	}
	return unsigned
}

func (o *origin) set(name string) { o.name.Store(&name) }

// source is a provider of credentials that tells an origin where it finds some.
type source struct {
	credentials.Provider
	name string
	told *origin
}

// RetrieveWithCredContext implements credentials.Provider.
func (p *source) RetrieveWithCredContext(c *credentials.CredContext) (credentials.Value, error) {
	v, err := p.Provider.RetrieveWithCredContext(c)
	if v.AccessKeyID != "" {
		p.told.set(p.name)
	}
	return v, err
}

// s3Credentials are those that the tools of AWS find: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or the profile
// AWS_PROFILE of the files of AWS, or the role of a container or web identity that its variables name. The address of
// machine roles is asked only with AWS_EC2_METADATA_DISABLED=false, because no user has named that host. Without any, requests are not signed.
func s3Credentials() (*credentials.Credentials, *origin) {
	told := &origin{}
	chain := []credentials.Provider{
		&source{&credentials.EnvAWS{}, "the credentials of the environment (AWS_ACCESS_KEY_ID)", told},
		&source{&credentials.FileAWSCredentials{}, "the credentials of the profile " + cmp.Or(os.Getenv("AWS_PROFILE"), "default"), told},
	}
	role := ""
	switch {
	case first("AWS_WEB_IDENTITY_TOKEN_FILE") != "":
		role = "the role of the web identity (AWS_WEB_IDENTITY_TOKEN_FILE)"
	case first("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI") != "":
		role = "the role of the container"
	case strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "false"):
		role = "the role of the machine"
	}
	if role != "" {
		chain = append(chain, &source{&credentials.IAM{Client: &http.Client{Transport: transport(), Timeout: answerTime}}, role, told})
	}
	return credentials.NewChainCredentials(chain), told
}

// regionOf is the region of a profile in the configuration file of the tools of AWS; "" if it is not known.
func regionOf(file, profile string) string {
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		file = filepath.Join(home, ".aws", "config")
	}
	config, err := ini.Load(file)
	if err != nil {
		return "" // the credentials, which are read from the same files, say what is wrong
	}
	section := "default"
	if profile != "" && profile != section {
		section = "profile " + profile
	}
	return config.Section(section).Key("region").String()
}

// googleCredentials are an HMAC key of GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY, or the token GOOGLE_OAUTH_ACCESS_TOKEN, which
// gcloud auth print-access-token prints. Without either, requests are not signed.
func googleCredentials(t http.RoundTripper) (*credentials.Credentials, http.RoundTripper, *origin) {
	told := &origin{}
	if token := os.Getenv("GOOGLE_OAUTH_ACCESS_TOKEN"); token != "" {
		t = &bearer{t, token}
		told.set("the token of the environment (GOOGLE_OAUTH_ACCESS_TOKEN)")
	}
	if id, secret := os.Getenv("GS_ACCESS_KEY_ID"), os.Getenv("GS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
		told.set("the key of the environment (GS_ACCESS_KEY_ID)")
		return credentials.NewStaticV4(id, secret, ""), t, told
	}
	return credentials.NewStatic("", "", "", credentials.SignatureAnonymous), t, told
}

// bearer adds a token to requests.
type bearer struct {
	http.RoundTripper
	token string
}

// RoundTrip implements http.RoundTripper.
func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Authorization") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.RoundTripper.RoundTrip(r)
}

// first is the first of the variables that is set.
func first(names ...string) string {
	for _, name := range names {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

// Credentials says with which credentials requests to the bucket of a path are signed, without a secret; "" for a web server, which gets none. It may ask the
// host of a role for them.
func (f *FS) Credentials(name string) (bucket, text string, err error) {
	a, err := parse(name)
	if err != nil {
		return "", "", err
	}
	bucket = address{scheme: a.scheme, bucket: a.bucket}.String()
	s, err := f.connect(a)
	if err != nil {
		return bucket, "", err
	}
	b, ok := s.(*s3)
	if !ok {
		return bucket, "", nil
	}
	if _, err := b.creds.GetWithContext(b.core.CredContext()); err != nil {
		return bucket, "", failed("find credentials for", a, err)
	}
	return bucket, b.told.String(), nil
}
