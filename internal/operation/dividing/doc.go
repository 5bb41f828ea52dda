// Package dividing gives each node of a graph a part, and reports how good the division is.
package dividing
