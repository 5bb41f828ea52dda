// Package amending adds, replaces and drops columns of a store, without writing its other files again.
package amending
