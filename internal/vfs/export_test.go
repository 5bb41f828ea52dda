//go:build unix

package vfs

// NamedTemp is Temp of a file system that cannot make a file without a name.
var NamedTemp = namedTemp
