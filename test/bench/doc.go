// Package bench measures the cost of a contract: decoding, planning, rendering, and finding out
// that a node needs no change. Run it with `make bench`.
package bench
