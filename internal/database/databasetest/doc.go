// Package databasetest starts servers of databases for tests.
package databasetest
