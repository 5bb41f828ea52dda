// Package demands imports small files that ask for much: memory, files, or trust. Each must be refused with one line that names the file, with
// status 1, little memory, and no output.
package demands
