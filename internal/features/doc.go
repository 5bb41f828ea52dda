// Package features makes features, columns of numbers that a model takes, from the columns of a type. A feature is fitted on some rows, the rows of
// the fit, and applied to all. What was fitted is its state, which applies it to other tables, too.
//
// A Spec says what a feature is made of. Fit returns the states of the features of a type, and Apply writes their values.
//
// The law is the executable reference in testdata/reference. What is fitted depends on the values of the rows of the fit alone: not on their order, on
// the number of goroutines, or on the memory. Sums are exact, and quantiles are of all rows.
//
// A missing value is NaN, a time that is missing (graph.NoTime), a category with the code -1, an empty text, or one that a column of bools marks.
// Options.Memory bounds what is sorted and counted: distinct texts that do not fit are an error.
package features
