// Package bench measures what a contract costs: to decode, to plan, to render, and to find that a node
// is right already. Run it with `make bench`.
package bench
