// Package views makes tables of other tables: one after the other (Concat), side by side (InStep), with several columns as one
// (Stack), and with other values in some columns (FromOne, Reversed, Coded). A view reads nothing itself: the values, the order of the rows
// and errors name places in its tables.
package views
