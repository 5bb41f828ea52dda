// Package supply says what the programs of the product are made of: the modules that are linked into each, their licences, a bill of
// materials, and a database of known vulnerabilities. Its tests check that docs/third-party.md lists them, that two builds in two folders have the same bytes, and that the search
// for known vulnerabilities finds one that is there.
package supply
