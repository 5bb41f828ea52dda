// Package option has the options of the operations of package graphmill, as plain data: a struct per operation, and groups of fields that
// several operations share. The zero value of each field is its default, unless the field says that it is required. Choices are typed
// strings, whose empty value is the default.
//
// The operations check options, and name their fields in backquotes where they refuse a value; such an error is ErrUsage.
package option
