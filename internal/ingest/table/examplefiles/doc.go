// Package examplefiles reads tables of TFRecord files.
//
// OpenTFRecord reads tf.train.Examples, one row per Example. A column is a feature of the row: an int64_list for
// integers and bools, a float_list for floats, a bytes_list for strings. Its values are flat and row-major. The
// lengths of variable dimension i of the shape, counted from 1, are in the feature NAME.d<i>, as in the Example of a
// graph with one item. They may be omitted in a row without values, and where they follow from the number of values:
// if there is one variable dimension, and all dimensions before it are 1.
package examplefiles
