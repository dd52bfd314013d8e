// Package costs measures the figures of docs/costs.md and docs/launch.md. Its one table has a row for each figure. `make costs` writes the
// figures into the documents, and the tests compare the allocations in the documents with those of today.
package costs
