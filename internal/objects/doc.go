// Package objects is a file system over objects: files of Amazon S3 and of servers that speak its protocol (s3://BUCKET/KEY),
// of Google Cloud Storage (gs://BUCKET/KEY), and of web servers (https://HOST/PATH, read only).
//
// New returns an implementation of vfs.FS, which vfs.Mount makes a part of vfs.OS. Its rules:
//
//   - A file is read in blocks of 4 MiB by range requests, several at a time, each of the version that Open saw: an object that changes
//     while it is read is an error. A connection that is lost goes on at its byte. Blocks are kept in a cache on the local disk, a file
//     per object that has no name, so that nothing is left when the process ends. The cache has a bound.
//   - A lock is an object beside a folder, which its holder writes anew every few seconds (Lock).
//   - Objects are written whole: by Send, from an unnamed file, or by the staging folder. A path with an element that begins with a dot lies in a local folder, the staging folder, as
//     the names do under which Graphmill writes its outputs. Rename and Exchange from there to another path send the files to the bucket, the
//     manifest last, and remove those that were sent where one fails.
//   - A file of the staging folder can stand for an object of the same bucket (Link). The server copies the object when the file is sent.
//   - A folder is there as long as an object is in it.
//   - Requests go to the host of the address, or to the endpoint that the environment names, and to no other: a redirect is an error.
//
// Credentials are found as the tools of each service find them (see the functions s3Credentials and googleCredentials), and no error
// and no file has them.
package objects
