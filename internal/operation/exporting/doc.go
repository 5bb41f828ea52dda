// Package exporting writes stores and collections in the formats of other programs.
package exporting
