package vfs

// NamedTemp is Temp: every temporary file has a name here.
var NamedTemp = osFS{}.Temp
