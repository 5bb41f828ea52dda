// Package limits runs every command with 64 open files and with the file mode mask 027: each must do its work or say that the limit of open
// files is too low, and give no right to others that the mask takes away.
package limits
