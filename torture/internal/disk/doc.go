// Package disk mounts a folder a second time, as a FUSE file system whose files can fail. Reads of a failing file are EIO from a byte on, for
// system calls and, since they go through the page cache, under maps too.
//
//	d := disk.Mount(t, "real", "in")
//	d.Fail("rmat.store/graph.json", 4096)
//
// The package runs on Linux. It needs /dev/fuse, and root or fusermount3.
package disk
