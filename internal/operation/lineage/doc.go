// Package lineage follows the inputs of an output folder to the first tables, and renders reports with links to the reports of their
// inputs.
package lineage
