// Package profile summarises columns: how many values are missing and distinct, where numbers lie, which values are frequent, and how far a column is from the
// same one of another store. All figures are exact, but for distinct texts that do not fit into the memory.
package profile
