// Package iceberg reads the metadata of tables of Apache Iceberg, by its specification, in the versions 1 to 3:
package iceberg
