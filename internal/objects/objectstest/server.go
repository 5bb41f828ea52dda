// Package objectstest is a server of objects for tests: enough of the protocol of S3 for package objects, in memory, with faults.
package objectstest

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the tags of S3
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Server holds the objects of buckets. Its fields are set before the first request.
type Server struct {
	*httptest.Server
	// Fault, if not nil, sees each request first. It may answer it, and then returns true.
	Fault func(w http.ResponseWriter, r *http.Request) bool
	// Cut, if not nil, returns after how many bytes of an answer to a GET the connection is cut; 0 is never.
	Cut func(r *http.Request) int
	// Careless servers know the conditions of requests only as far as many do: that an object is not there, of one that is sent in one part.
	Careless bool
	// NoCopies has the server refuse to copy objects, and Deaf has it take the request of a copy for one that sends an empty object.
	NoCopies, Deaf bool
	// Lose, if not nil, says of a request that made an object whether its answer is lost.
	Lose func(r *http.Request) bool
	// Key, if not empty, is the id of the only key whose requests are allowed, and Session what they need beside it.
	Key, Session string

	mu       sync.Mutex
	objects  map[string]object // by BUCKET/KEY
	uploads  map[string]map[int][]byte
	names    map[string]string // of uploads
	buckets  map[string]bool
	requests int
	copied   int
}

type object struct {
	data []byte
	tag  string
	mod  time.Time
	run  string // its metadata
}

// New starts a server with empty buckets, and sets the variables that lead to it. It ends with the test.
func New(tb testing.TB, buckets ...string) *Server {
	s := &Server{objects: map[string]object{}, uploads: map[string]map[int][]byte{}, names: map[string]string{}, buckets: map[string]bool{}}
	for _, b := range buckets {
		s.buckets[b] = true
	}
	s.Server = httptest.NewServer(s)
	tb.Cleanup(s.Close)
	if t, ok := tb.(interface{ Setenv(key, value string) }); ok {
		for name, value := range map[string]string{"AWS_ENDPOINT_URL": s.URL, "AWS_ENDPOINT_URL_S3": "", "AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "secret-word", "AWS_REGION": "us-east-1",
			"GS_ENDPOINT_URL": s.URL, "GS_ACCESS_KEY_ID": "GOOGTEST", "GS_SECRET_ACCESS_KEY": "secret-word"} {
			t.Setenv(name, value)
		}
	}
	return s
}

// Put makes an object. name is BUCKET/KEY.
func (s *Server) Put(name string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[name] = object{data, fmt.Sprintf("%x", md5.Sum(data)), time.Now().UTC().Truncate(time.Second), ""} //nolint:gosec // see above
}

// PutFolder makes an object of each file of a folder. Their names begin with to, BUCKET/KEY of the folder.
func (s *Server) PutFolder(tb testing.TB, dir, to string) {
	tb.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := vfs.ReadFile(vfs.OS, path, 1<<30)
		s.Put(to+filepath.ToSlash(strings.TrimPrefix(path, dir)), b)
		return err
	}); err != nil {
		tb.Fatal(err)
	}
}

const runHeader = "X-Amz-Meta-Graphmill-Run"

func (s *Server) put(name string, data []byte, run string) {
	s.Put(name, data)
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[name]
	o.run = run
	s.objects[name] = o
}

// Get is the bytes of an object.
func (s *Server) Get(name string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[name]
	return o.data, ok
}

// Delete removes an object.
func (s *Server) Delete(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, name)
}

// Names is the names of all objects, in order.
func (s *Server) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := []string{}
	for name := range s.objects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Requests is the number of requests so far.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Refuse answers as S3 does when it refuses a request.
func Refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>refused</Message></Error>", code)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	s.mu.Unlock()
	if s.Fault != nil && s.Fault(w, r) {
		return
	}
	if s.Key != "" && (!strings.Contains(r.Header.Get("Authorization"), "Credential="+s.Key+"/") || r.Header.Get("X-Amz-Security-Token") != s.Session) {
		Refuse(w, http.StatusForbidden, "AccessDenied")
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	bucket, key, _ := strings.Cut(name, "/")
	query := r.URL.Query()
	switch {
	case !s.buckets[bucket]:
		Refuse(w, http.StatusNotFound, "NoSuchBucket")
	case r.Method == http.MethodGet && key == "" && query.Has("uploads"):
		s.listUploads(w, bucket, query.Get("prefix"))
	case r.Method == http.MethodGet && key == "":
		s.list(w, bucket, query.Get("prefix"), query.Get("delimiter"), query.Get("continuation-token"))
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		s.read(w, r, name)
	case r.Method == http.MethodPut:
		s.write(w, r, name, query.Get("uploadId"), query.Get("partNumber"))
	case r.Method == http.MethodPost:
		s.multipart(w, r, name, query.Get("uploadId"))
	case r.Method == http.MethodDelete && query.Has("uploadId"):
		s.mu.Lock()
		delete(s.uploads, query.Get("uploadId"))
		s.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodDelete:
		s.mu.Lock()
		delete(s.objects, name)
		s.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}
}

func (s *Server) read(w http.ResponseWriter, r *http.Request, name string) {
	s.mu.Lock()
	o, ok := s.objects[name]
	s.mu.Unlock()
	if !ok {
		Refuse(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	w.Header().Set("Etag", `"`+o.tag+`"`)
	w.Header().Set(runHeader, o.run)
	if s.Cut != nil && r.Method == http.MethodGet {
		if n := s.Cut(r); n > 0 {
			w = &cut{w, n}
		}
	}
	http.ServeContent(w, r, name, o.mod, bytes.NewReader(o.data))
}

// cut ends a connection after some bytes.
type cut struct {
	http.ResponseWriter
	left int
}

func (c *cut) Write(b []byte) (int, error) {
	if c.left -= len(b); c.left < 0 {
		_, _ = c.ResponseWriter.Write(b[:len(b)+c.left])
		if f, ok := c.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
	return c.ResponseWriter.Write(b)
}

func (s *Server) list(w http.ResponseWriter, bucket, prefix, delimiter, token string) {
	type content struct {
		Key, ETag    string
		Size         int
		LastModified time.Time
	}
	type common struct{ Prefix string }
	type result struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string
		Contents              []content
		CommonPrefixes        []common
	}
	const page = 7 // so that tests see several pages
	var out result
	last := ""
	for _, name := range s.Names() {
		key, ok := strings.CutPrefix(name, bucket+"/")
		if !ok || !strings.HasPrefix(key, prefix) || token != "" && key <= token {
			continue
		}
		if delimiter != "" {
			if at := strings.Index(key[len(prefix):], delimiter); at >= 0 {
				folder := key[:len(prefix)+at+1]
				if strings.HasPrefix(token, folder) || folder == last {
					continue
				}
				key = folder
			}
		}
		if len(out.Contents)+len(out.CommonPrefixes) == page {
			out.IsTruncated = true
			break
		}
		last, out.NextContinuationToken = key, key
		if strings.HasSuffix(key, "/") && delimiter != "" {
			out.CommonPrefixes = append(out.CommonPrefixes, common{key})
			continue
		}
		s.mu.Lock()
		o := s.objects[name]
		s.mu.Unlock()
		out.Contents = append(out.Contents, content{key, `"` + o.tag + `"`, len(o.data), o.mod})
	}
	if !out.IsTruncated {
		out.NextContinuationToken = ""
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(out)
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, name, upload, part string) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		Refuse(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		data = chunks(data)
	}
	if upload != "" {
		n, _ := strconv.Atoi(part)
		s.mu.Lock()
		parts := s.uploads[upload]
		if parts != nil {
			parts[n] = data
		}
		s.mu.Unlock()
		if parts == nil {
			Refuse(w, http.StatusNotFound, "NoSuchUpload")
			return
		}
		w.Header().Set("Etag", fmt.Sprintf(`"%x"`, md5.Sum(data))) //nolint:gosec // see above
		return
	}
	if !s.meets(r, name) {
		Refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	if from := r.Header.Get("X-Amz-Copy-Source"); from != "" && !s.Deaf && !s.copies(w, r, from, &data) {
		return
	}
	s.put(name, data, r.Header.Get(runHeader))
	if s.Lose != nil && s.Lose(r) {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Etag", `"`+s.objects[name].tag+`"`)
	if r.Header.Get("X-Amz-Copy-Source") != "" {
		fmt.Fprintf(w, "<CopyObjectResult><ETag>%s</ETag></CopyObjectResult>", s.objects[name].tag)
	}
}

// copies sets data to the object that a request copies. Where it cannot, it answers the request.
func (s *Server) copies(w http.ResponseWriter, r *http.Request, from string, data *[]byte) bool {
	from, err := url.PathUnescape(strings.TrimPrefix(from, "/"))
	s.mu.Lock()
	o, ok := s.objects[from]
	s.copied++
	s.mu.Unlock()
	switch tag := strings.Trim(r.Header.Get("X-Amz-Copy-Source-If-Match"), `"`); {
	case s.NoCopies:
		Refuse(w, http.StatusNotImplemented, "NotImplemented")
	case err != nil || !ok:
		Refuse(w, http.StatusNotFound, "NoSuchKey")
	case tag != "" && tag != o.tag:
		Refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
	default:
		*data = o.data
		return true
	}
	return false
}

// Copied is the number of requests for copies.
func (s *Server) Copied() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copied
}

// meets says whether an object is in the state that a request asks for.
func (s *Server) meets(r *http.Request, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, there := s.objects[name]
	want := strings.Trim(r.Header.Get("If-Match"), `"`)
	return !(there && r.Header.Get("If-None-Match") == "*") && (want == "" || s.Careless || there && o.tag == want)
}

func (s *Server) listUploads(w http.ResponseWriter, bucket, prefix string) {
	var out struct {
		XMLName xml.Name `xml:"ListMultipartUploadsResult"`
		Upload  []struct {
			Key      string
			UploadID string `xml:"UploadId"`
		}
	}
	for _, id := range s.Uploads() {
		s.mu.Lock()
		key, ok := strings.CutPrefix(s.names[id], bucket+"/"+prefix)
		s.mu.Unlock()
		if ok {
			out.Upload = append(out.Upload, struct {
				Key      string
				UploadID string `xml:"UploadId"`
			}{prefix + key, id})
		}
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(out)
}

// Uploads is the uploads in parts that have not ended, in order.
func (s *Server) Uploads() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.uploads))
}

// chunks is the data of a body with a signature per chunk.
func chunks(body []byte) (data []byte) {
	for {
		line, rest, ok := bytes.Cut(body, []byte("\r\n"))
		size, _, _ := strings.Cut(string(line), ";")
		n, err := strconv.ParseInt(size, 16, 64)
		if !ok || err != nil || n == 0 || int64(len(rest)) < n+2 {
			return data
		}
		data, body = append(data, rest[:n]...), rest[n+2:]
	}
}

func (s *Server) multipart(w http.ResponseWriter, r *http.Request, name, upload string) {
	w.Header().Set("Content-Type", "application/xml")
	if upload == "" {
		s.mu.Lock()
		id := strconv.Itoa(len(s.uploads)+1) + "-" + strconv.Itoa(s.requests)
		s.uploads[id], s.names[id] = map[int][]byte{}, name
		s.mu.Unlock()
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
		return
	}
	if _, there := s.Get(name); there && r.Header.Get("If-None-Match") == "*" && !s.Careless {
		Refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	s.mu.Lock()
	if s.uploads[upload] == nil {
		s.mu.Unlock()
		Refuse(w, http.StatusNotFound, "NoSuchUpload")
		return
	}
	var data []byte
	for n := 1; s.uploads[upload][n] != nil; n++ {
		data = append(data, s.uploads[upload][n]...)
	}
	delete(s.uploads, upload)
	s.mu.Unlock()
	s.Put(name, data)
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(w, `<CompleteMultipartUploadResult><Bucket>b</Bucket><Key>k</Key><ETag>"%s"</ETag></CompleteMultipartUploadResult>`, s.objects[name].tag)
}
