// Package widening makes numbers of the columns of a store that hold them as codes: the pieces of features (features.Piece). Loaders and
// outputs of all formats use it, so that a feature has the same numbers in all of them.
//
// Features lists the columns of a type with its features in place of their pieces, and a Column writes some rows at a time: a table of all
// numbers is what the store avoids. A Part is one piece, or a column that stands beside others as it is.
package widening
