// Package vfs is the file system that every stage reads and writes through.
//
// FS and File are what the product needs of one, so that a test can make any
// call fail: OS is the real one, Fault counts calls and fails the one it is told
// to. Errors name the path and the call; they are the standard library's
// *fs.PathError where it made them.
//
// Outputs are written beside and renamed: WriteFile for one file, package store
// for folders.
package vfs
