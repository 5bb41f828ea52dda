// Package textfiles reads tables of text: CSV and its kin, JSON lines, adjacency lists, triples, METIS and streams. Blocks of
// records are read and parsed by several workers at once, from plain files and from compressed ones (.gz, .zst).
//
// # CSV
//
// OpenCSV reads .csv, .tsv and .txt files, plain or compressed (.gz, .zst), in UTF-8, with or without a byte order
// mark; other bytes in the first MiB, or in a chunk of which texts are read, are an error. Quoting follows RFC 4180: a field may be enclosed in double quotes, inside which a quote is written twice,
// and delimiters and line ends stand for themselves. A quote inside an unquoted field is an error. Lines end in LF, which may
// follow CRs; the last line needs no end. Another CR in an unquoted field is an error, and so is a file whose lines end in CR alone. Empty lines are skipped. A record has at most 16 MiB.
//
// The delimiter is a tab for .tsv. For the other extensions the first line decides: the delimiter is the first of
// ',', tab, ';' and '|' that it contains outside quotes. The fields of a .txt file are separated by runs of spaces
// and tabs if its first line contains none of these, or if its tabs and spaces separate numbers only. Lines of a .txt
// file that start with '#' or '%' are comments if they come before the first other line; after it they are data.
//
// A line "sep=;" before all others says the delimiter. Lines that start with '#' before the first other line are comments in the
// other files too, up to one that has as many cells as the first line without '#'.
//
// Columns without a name in the header are no fields. If the lines have one cell more than the header, a column without a name is
// at their end, if all of those cells in the head of the file are empty, or else at their start, if those cells differ.
//
// Unless the caller names the columns, the first line is a header. A header with a cell that is a number is refused,
// since headers rarely contain numbers and data mostly do.
//
// Spaces around numbers, around ids without quotes and around names of columns without quotes are ignored; in other strings they
// count.
//
// A cell holds the values of a vector separated by spaces, commas or ';', without brackets or in brackets: "1 2 3",
// "[1, 2, 3]". Strings are separated by ';' if there is one, and otherwise by spaces; in brackets they are separated
// by commas and may be in quotes. A shape of several dimensions can have nested brackets, "[[1 2] [3 4]]", and must
// have them if only they determine the rows: "[[1 2] [] [3]]" of shape [-1, -1]. An empty cell of a shape with a
// variable dimension has no values.
//
// # JSON lines
//
// OpenJSONLines reads one object per line, plain or compressed. The columns are the keys of the objects in the first MiB. A
// number or a string is read like a cell of CSV, true and false are 1 and 0, and an array is a vector, of nested arrays if
// the shape has several dimensions. Null and a missing key are empty cells. NaN, Infinity and -Infinity are numbers, as
// Python writes them. A key twice in an object, a string that is not UTF-8, and a new key after the first MiB are errors.
package textfiles
