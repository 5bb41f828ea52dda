// Package describing says what a store, a collection or a pack layout holds.
package describing
