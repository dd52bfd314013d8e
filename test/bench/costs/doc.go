// Package costs measures the figures in docs/costs.md and docs/launch.md. Its only table has a row for each figure. `make costs`
// writes the figures into the documents, and the tests compare the allocations in the documents with today's.
package costs
