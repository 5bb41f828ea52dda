// Package rdf parses lines of N-Triples and N-Quads.
//
// A line holds a subject (an IRI or a blank node), a predicate (an IRI), an object (an IRI, a blank node or a literal),
// in N-Quads optionally the label of a graph, and a full stop. Empty lines and lines that start with '#' hold nothing.
// IRIs are returned without their angle brackets and with their escapes resolved, blank nodes with their "_:", so that
// no IRI equals a blank node. Of a literal, only that it is one is returned. Triples of RDF-star are refused.
//
// The API may change in any version: see package format.
package rdf
