// Package data has the commands of graphmill that make, write and describe graphs: import, export, generate, chunk, info,
// verify and report.
package data
