// Package vfs is the file system that every stage reads and writes through.
//
// FS and File are the calls that the product needs, so that a test can make any call fail. OS is the real file system.
// Fault counts calls and fails a chosen one. Volatile forgets what was not synced. Unsynced does not wait for the disk.
// Errors name the path and the call. They are the *fs.PathError of the standard library where it makes them.
//
// Outputs are written next to their name and then renamed: by WriteWhole and WriteFile for one file, by package store for folders. In an object store they are
// sent when they are whole (Sender).
package vfs
