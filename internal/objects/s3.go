package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"

	"github.com/graphmill/graphmill/internal/vfs"
)

// s3 is a bucket of Amazon S3, of Google Cloud Storage or of another server with the protocol of S3.
type s3 struct {
	bucket string
	core   *minio.Core
	crc    bool   // the server takes CRC-32C of what is sent; otherwise it gets MD5
	run    string // marks the objects that this process makes
}

// runKey is the name, in the metadata of an object, of the mark of the process that made it.
const runKey = "Graphmill-Run"

// partBytes is the size of the parts in which large objects are sent. Objects have at most 10,000 parts.
const partBytes = 16 << 20

// newS3 connects to the server of a bucket: Amazon's, or the one at AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL.
func newS3(bucket string) (*s3, error) {
	endpoint := first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
	lookup := minio.BucketLookupPath // the form that every server knows
	if endpoint == "" {
		endpoint, lookup = "https://s3.amazonaws.com", minio.BucketLookupAuto
	}
	region := first("AWS_REGION", "AWS_DEFAULT_REGION")
	if region == "" {
		region = regionOf(os.Getenv("AWS_CONFIG_FILE"), os.Getenv("AWS_PROFILE"))
	}
	return connect("s3", bucket, endpoint, &minio.Options{Creds: s3Credentials(), Transport: transport(), Region: region, BucketLookup: lookup, MaxRetries: tries, TrailingHeaders: true})
}

// s3Credentials are those that the tools of AWS find: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or the profile
// AWS_PROFILE of the files of AWS, or the role of a container or web identity that its variables name. The address of
// machine roles is asked only with AWS_EC2_METADATA_DISABLED=false, because no user has named that host. Without any, requests are not signed.
func s3Credentials() *credentials.Credentials {
	chain := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if first("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_WEB_IDENTITY_TOKEN_FILE") != "" ||
		strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "false") {
		chain = append(chain, &credentials.IAM{Client: &http.Client{Transport: transport(), Timeout: answerTime}})
	}
	return credentials.NewChainCredentials(chain)
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

// newGoogle connects to Google Cloud Storage, or to the server of GS_ENDPOINT_URL.
func newGoogle(bucket string) (*s3, error) {
	endpoint := first("GS_ENDPOINT_URL")
	if endpoint == "" {
		endpoint = "https://storage.googleapis.com"
	}
	creds, through := googleCredentials(transport())
	return connect("gs", bucket, endpoint, &minio.Options{Creds: creds, Transport: through, Region: "auto", BucketLookup: minio.BucketLookupPath, MaxRetries: tries})
}

// googleCredentials are an HMAC key of GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY, or the token GOOGLE_OAUTH_ACCESS_TOKEN, which
// gcloud auth print-access-token prints. Without either, requests are not signed.
func googleCredentials(t http.RoundTripper) (*credentials.Credentials, http.RoundTripper) {
	if token := os.Getenv("GOOGLE_OAUTH_ACCESS_TOKEN"); token != "" {
		t = &bearer{t, token}
	}
	if id, secret := os.Getenv("GS_ACCESS_KEY_ID"), os.Getenv("GS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
		return credentials.NewStaticV4(id, secret, ""), t
	}
	return credentials.NewStatic("", "", "", credentials.SignatureAnonymous), t
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

func connect(scheme, bucket, endpoint string, o *minio.Options) (*s3, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.User != nil {
		return nil, fmt.Errorf("%s://%s: found an endpoint in the environment that is none, expected https://HOST or http://HOST:PORT", scheme, bucket)
	}
	o.Secure = u.Scheme == "https"
	core, err := minio.NewCore(u.Host, o)
	if err != nil {
		return nil, fmt.Errorf("%s://%s: %w", scheme, bucket, err)
	}
	core.SetAppInfo("graphmill", "1")
	return &s3{bucket: bucket, core: core, crc: o.TrailingHeaders, run: rand.Text()}, nil
}

// errNoBucket is no fs.ErrNotExist: an output in a bucket that is not there cannot be made.
var errNoBucket = fmt.Errorf("%w: found no such bucket, expected one; make it, or correct its name", errAnswer)

// explained turns an error of the server into one that says what to do.
func explained(err error) error {
	var r minio.ErrorResponse
	if !errors.As(err, &r) {
		if e := (*url.Error)(nil); errors.As(err, &e) {
			return e.Err // its text has the address, which callers add
		}
		return err
	}
	switch r.Code {
	case minio.NoSuchKey, "NotFound":
		return fs.ErrNotExist
	case "PreconditionFailed":
		return errChanged
	case "NoSuchBucket":
		return errNoBucket
	case "RequestTimeTooSkewed":
		return fmt.Errorf("%w: the clock of this machine and that of the server differ; set the clock", fs.ErrPermission)
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "InvalidSecurity":
		return fmt.Errorf("%w: the server does not take the credentials (%s); correct those of the environment or of the profile", fs.ErrPermission, r.Code)
	case "AccessDenied", "AllAccessDisabled":
		return fmt.Errorf("%w: the server denies access; give credentials that may do this, as the tools of the service find them", fs.ErrPermission)
	}
	switch {
	case r.StatusCode == http.StatusNotFound && r.Code == "":
		return fs.ErrNotExist
	case r.StatusCode == http.StatusPreconditionFailed:
		return errChanged
	case r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%w: the server denies access (%s); give credentials that may do this", fs.ErrPermission, r.Code)
	case r.StatusCode/100 == 3:
		return fmt.Errorf("%w (%s); set AWS_REGION to the region of the bucket", errRedirect, r.Code)
	case r.StatusCode/100 == 4 && r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusRequestTimeout:
		return fmt.Errorf("%w: the server says %d %s", errAnswer, r.StatusCode, r.Code)
	}
	return fmt.Errorf("the server says %d %s", r.StatusCode, r.Code)
}

func versionOf(o minio.ObjectInfo) version {
	return version{size: o.Size, tag: o.ETag, mod: o.LastModified}
}

// head implements service.
func (s *s3) head(ctx context.Context, key string) (version, error) {
	o, err := s.core.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	if err != nil {
		return version{}, explained(err)
	}
	return versionOf(o), nil
}

// read implements service.
func (s *s3) read(ctx context.Context, key string, v version, off, n int64) (io.ReadCloser, error) {
	var o minio.GetObjectOptions
	err := o.SetRange(off, off+n-1)
	if err == nil && v.tag != "" {
		err = o.SetMatchETag(v.tag)
	}
	if err != nil {
		return nil, err
	}
	r, info, _, err := s.core.GetObject(ctx, s.bucket, key, o)
	if err != nil {
		return nil, explained(err)
	}
	if info.ETag != v.tag {
		return nil, errors.Join(errChanged, r.Close())
	}
	return r, nil
}

// list implements service.
func (s *s3) list(ctx context.Context, prefix string, deep bool, f func(entry) error) error {
	delimiter := "/"
	if deep {
		delimiter = ""
	}
	seen := map[string]bool{}
	for token := ""; ; {
		r, err := s.page(ctx, prefix, token, delimiter)
		if err != nil {
			return err
		}
		for _, p := range r.CommonPrefixes {
			if err := f(entry{key: p.Prefix}); err != nil {
				return err
			}
		}
		for _, o := range r.Contents {
			if err := f(entry{o.Key, versionOf(o)}); err != nil {
				return err
			}
		}
		if !r.IsTruncated || r.NextContinuationToken == "" {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if seen[r.NextContinuationToken] {
			return fmt.Errorf("%w: found a list that goes on at a place where it has been, expected one that ends; report it to the operator of the store, or try another endpoint", errAnswer)
		}
		token = r.NextContinuationToken
		seen[token] = true
	}
}

// page is one request of list. The client library repeats requests that have no answer, but not one whose answer is cut.
func (s *s3) page(ctx context.Context, prefix, token, delimiter string) (minio.ListBucketV2Result, error) {
	for failed := 1; ; failed++ {
		r, err := s.core.ListObjectsV2(s.bucket, prefix, "", token, delimiter, 0)
		var answer minio.ErrorResponse
		switch {
		case err == nil:
			return r, nil
		case ctx.Err() != nil:
			return r, context.Cause(ctx)
		case errors.As(err, &answer) || failed == tries:
			return r, explained(err)
		}
		if err := pause(ctx, failed); err != nil {
			return r, err
		}
	}
}

// write implements service. The server checks the sum of each part.
func (s *s3) write(ctx context.Context, key string, f vfs.File, size int64, only bool) error {
	o := minio.PutObjectOptions{PartSize: partBytes, NumThreads: 4, ContentType: "application/octet-stream", SendContentMd5: !s.crc, DisableContentSha256: true,
		UserMetadata: map[string]string{runKey: s.run}}
	if size > 5000*partBytes {
		o.PartSize = 0 // as large as the number of parts asks for
	}
	if only {
		o.SetMatchETagExcept("*")
	}
	_, err := s.core.Client.PutObject(ctx, s.bucket, key, io.NewSectionReader(f, 0, size), size, o)
	if err = explained(err); !only || !errors.Is(err, errChanged) {
		return err
	}
	// Where an answer is lost, the next try finds the object that the first one has made.
	made, err := s.core.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	switch {
	case err != nil:
		return explained(err)
	case made.UserMetadata[runKey] == s.run && made.Size == size:
		return nil
	}
	return fmt.Errorf("%w: another run made it", fs.ErrExist)
}

// remove implements service.
func (s *s3) remove(ctx context.Context, key string) error {
	err := explained(s.core.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

var _ service = (*s3)(nil)
