// Package catalog is a file system over the tables of catalogs with the REST protocol of Apache Iceberg:
//
//	iceberg+https://HOST/PATH#NAMESPACE.TABLE
//	iceberg+https://HOST/PATH?warehouse=WAREHOUSE#NAMESPACE.TABLE
//
// HOST/PATH is the address that the catalog has in other programs, without /v1. The names after # are divided by dots; other bytes of a
// name, such as a dot in it, are escaped by %. What follows the first slash after # is a path in the folder of the table:
//
//	metadata/NAME.metadata.json   the metadata that the catalog returns now, the only file that a list of metadata has
//	s3:/BUCKET/KEY                an object that the catalog gives credentials for, wherever it lies
//	outside:/s3:/BUCKET/KEY       any object, read with the credentials of the environment if the catalog gives none
//	...                           a file below the location of the table
//
// So package iceberg reads such a table as it reads a folder. Each list of metadata asks the catalog again; the files of one answer
// are read by the names that it has.
//
// # Credentials
//
// Those of a catalog are in the environment, under the names that PyIceberg has for them (environment.go): a catalog gets those beside its own
// address, and no other gets them. Those that the catalog returns for a table are used for the objects of that table only, and are asked
// for again before they expire. No error, path or file has a secret.
//
// # Requests
//
// They go to the host of the address, and to the address for tokens that the environment names. A redirect to another host is an error.
// An answer has a bound, and requests have time limits. What may pass is asked again a few times.
package catalog
