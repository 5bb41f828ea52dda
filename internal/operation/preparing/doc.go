// Package preparing makes the features of a store: model input, fitted on the rows that a plan names, or with the state of another store.
package preparing
