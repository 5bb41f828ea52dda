package objects

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// address is a path in a bucket.
type address struct {
	scheme string
	bucket string // of a web server: its host
	key    string // without a slash at either end; "" for the bucket itself
}

// parse reads a path such as s3://bucket/key. Package filepath makes s3:/bucket/key of it, which means the same.
func parse(name string) (address, error) {
	scheme, rest, ok := strings.Cut(filepath.ToSlash(name), ":/")
	a := address{scheme: scheme}
	a.bucket, a.key, _ = strings.Cut(strings.Trim(rest, "/"), "/")
	if !ok || a.bucket == "" {
		return a, fmt.Errorf("%s: found an address without a bucket, expected s3://BUCKET/KEY, gs://BUCKET/KEY or https://HOST/PATH", name)
	}
	if strings.ContainsAny(a.bucket, "@?#") || strings.Contains(a.bucket, "..") {
		return a, fmt.Errorf("%s://: found a bucket or host with one of @?# or two dots, expected its plain name; give credentials in the environment", scheme)
	}
	if scheme != "s3" && scheme != "gs" && strings.ContainsAny(a.key, "?#") {
		return a, fmt.Errorf("%s://%s: found ? or # in the path, expected none: the address becomes a part of reports, where a signature must not be; download the file first", scheme, a.bucket)
	}
	if a.key != "" {
		a.key = path.Clean(a.key)
	}
	if a.key == "." {
		a.key = ""
	}
	if a.key == ".." || strings.HasPrefix(a.key, "../") {
		return a, fmt.Errorf("%s: found a path out of the bucket, expected one in it; remove the .. from the path", name)
	}
	return a, nil
}

func (a address) String() string {
	if a.key == "" {
		return a.scheme + "://" + a.bucket
	}
	return a.scheme + "://" + a.bucket + "/" + a.key
}

// staged says whether the path lies in the staging folder.
func (a address) staged() bool {
	return strings.HasPrefix(a.key, ".") || strings.Contains(a.key, "/.")
}

// under is the prefix of the keys of the files of a folder.
func (a address) under() string {
	if a.key == "" {
		return ""
	}
	return a.key + "/"
}
