// Package surveying makes statistics of TFRecords, and random TFRecords of a schema.
package surveying
