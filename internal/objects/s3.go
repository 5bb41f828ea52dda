package objects

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/graphmill/graphmill/internal/vfs"
)

// s3 is a bucket of Amazon S3, of Google Cloud Storage or of another server with the protocol of S3.
type s3 struct {
	bucket string
	core   *minio.Core
	creds  *credentials.Credentials
	told   *origin // of creds
	crc    bool    // the server takes CRC-32C of what is sent; otherwise it gets MD5
	run    string  // marks the objects that this process makes
}

// runKey is the name, in the metadata of an object, of the mark of the process that made it.
const runKey = "Graphmill-Run"

// partBytes is the least size of the parts in which large objects are sent.
const partBytes = 16 << 20

// smallTries is the number of tries of small objects, beyond those of the client library, which does not repeat a request whose bytes it cannot read again.
const smallTries = 3

// newS3 connects to the server of a bucket, with the credentials of the environment.
func newS3(bucket string) (*s3, error) {
	endpoint, lookup := s3Endpoint()
	creds, told := s3Credentials()
	return connect("s3", bucket, endpoint, told, &minio.Options{Creds: creds, Transport: transport(), Region: s3Region(), BucketLookup: lookup, MaxRetries: tries, TrailingHeaders: true})
}

// s3Endpoint is Amazon's server, or the one at AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL.
func s3Endpoint() (endpoint string, lookup minio.BucketLookupType) {
	if endpoint := first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"); endpoint != "" {
		return endpoint, minio.BucketLookupPath // the form that every server knows
	}
	return "https://s3.amazonaws.com", minio.BucketLookupAuto
}

// s3Region is the region of the environment or of the profile; "": not known.
func s3Region() string {
	if region := first("AWS_REGION", "AWS_DEFAULT_REGION"); region != "" {
		return region
	}
	return regionOf(os.Getenv("AWS_CONFIG_FILE"), os.Getenv("AWS_PROFILE"))
}

// newGoogle connects to Google Cloud Storage, with the credentials of the environment.
func newGoogle(bucket string) (*s3, error) {
	creds, through, told := googleCredentials(transport())
	return connect("gs", bucket, googleEndpoint(), told, &minio.Options{Creds: creds, Transport: through, Region: "auto", BucketLookup: minio.BucketLookupPath, MaxRetries: tries})
}

// googleEndpoint is Google's server, or the one at GS_ENDPOINT_URL.
func googleEndpoint() string {
	return cmp.Or(first("GS_ENDPOINT_URL"), "https://storage.googleapis.com")
}

func connect(scheme, bucket, endpoint string, told *origin, o *minio.Options) (*s3, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.User != nil {
		return nil, fmt.Errorf("%s://%s: found an endpoint %s that is none, expected https://HOST or http://HOST:PORT; correct it", scheme, bucket, cmp.Or(told.place, "in the environment"))
	}
	o.Secure = u.Scheme == "https"
	core, err := minio.NewCore(u.Host, o)
	if err != nil {
		return nil, fmt.Errorf("%s://%s: %w", scheme, bucket, err)
	}
	core.SetAppInfo("graphmill", "1")
	return &s3{bucket: bucket, core: core, creds: o.Creds, told: told, crc: o.TrailingHeaders, run: rand.Text()}, nil
}

// errNoBucket is no fs.ErrNotExist: an output in a bucket that is not there cannot be made.
var errNoBucket = fmt.Errorf("%w: found no such bucket, expected one; make it, or correct its name", errAnswer)

// explained is explained with the credentials that the server refused.
func (s *s3) explained(err error) error {
	if err = explained(err); errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w; it got %s", err, s.told)
	}
	return err
}

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
		return version{}, s.explained(err)
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
		return nil, s.explained(err)
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
			return r, s.explained(err)
		}
		if err := Pause(ctx, failed); err != nil {
			return r, err
		}
	}
}

// write implements service. The server checks the sum of each part.
func (s *s3) write(ctx context.Context, key string, f vfs.File, size int64, only bool) (err error) {
	o := minio.PutObjectOptions{ContentType: "application/octet-stream", UserMetadata: map[string]string{runKey: s.run}}
	if size > partBytes {
		if only { // some servers look at the condition for small objects alone
			if err := s.absent(ctx, key); err != nil {
				return err
			}
		}
		err = s.writeParts(ctx, key, f, size, o, only)
	} else {
		err = s.writeSmall(ctx, key, f, size, o, only)
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, fs.ErrPermission) || !only && !errors.Is(err, errAnswer) {
		return err
	}
	// Where an answer is lost, the next try finds the object, or the end of the upload, that the first one has made.
	made, unknown := s.core.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	switch {
	case unknown == nil && made.UserMetadata[runKey] == s.run && made.Size == size:
		return nil
	case errors.Is(err, errChanged) && unknown != nil:
		return s.explained(unknown)
	case errors.Is(err, errChanged):
		return fmt.Errorf("%w: another run made it", fs.ErrExist)
	}
	return err
}

// writeSmall makes an object by one request.
func (s *s3) writeSmall(ctx context.Context, key string, f vfs.File, size int64, o minio.PutObjectOptions, only bool) error {
	o.SendContentMd5, o.DisableContentSha256, o.DisableMultipart = !s.crc, true, true
	if only {
		o.SetMatchETagExcept("*")
	}
	for failed := 1; ; failed++ {
		_, err := s.core.Client.PutObject(ctx, s.bucket, key, io.NewSectionReader(f, 0, size), size, o)
		if err = s.explained(err); err == nil || ctx.Err() != nil || errors.Is(err, errChanged) || final(err) || failed == smallTries {
			return because(ctx, err)
		}
		if err := Pause(ctx, failed); err != nil {
			return err
		}
	}
}

// swap implements service.
func (s *s3) swap(ctx context.Context, key string, data []byte, tag string) error {
	o := minio.PutObjectOptions{ContentType: "application/json", SendContentMd5: !s.crc, DisableContentSha256: true, DisableMultipart: true}
	if tag == "" {
		o.SetMatchETagExcept("*")
	} else {
		o.SetMatchETag(tag)
	}
	_, err := s.core.Client.PutObject(ctx, s.bucket, key, bytes.NewReader(data), int64(len(data)), o)
	if err = s.explained(err); errors.Is(err, errChanged) || tag != "" && errors.Is(err, fs.ErrNotExist) {
		return fs.ErrExist
	}
	return err
}

// abandon implements service.
func (s *s3) abandon(ctx context.Context, prefix string) {
	for key, id := "", ""; ; {
		r, err := s.core.ListMultipartUploads(ctx, s.bucket, prefix, key, id, "", 0)
		if err != nil {
			return
		}
		for _, u := range r.Uploads {
			_ = s.core.AbortMultipartUpload(ctx, s.bucket, u.Key, u.UploadID) // it may have ended
		}
		if !r.IsTruncated || r.NextKeyMarker == key && r.NextUploadIDMarker == id {
			return
		}
		key, id = r.NextKeyMarker, r.NextUploadIDMarker
	}
}

// remove implements service.
func (s *s3) remove(ctx context.Context, key string) error {
	err := s.explained(s.core.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

var _ service = (*s3)(nil)
