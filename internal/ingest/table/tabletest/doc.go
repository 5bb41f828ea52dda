// Package tabletest shows the rows of tables to tests, and writes the files of small ones.
package tabletest
