// Package scalar reads single values from text and from the bytes of a dtype, and stores them as another dtype. It knows nothing of
// tables.
package scalar
