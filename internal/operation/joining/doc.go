// Package joining makes one file of each array of a store that lies in shards.
package joining
