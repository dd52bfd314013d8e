// Package localdns supervises the node's own DNS cache, CoreDNS: it finds the DNS servers of the machine, makes the
// interface on which the cache listens, starts the cache, waits until it is ready, and only then has the machine's
// resolver ask it. It then asks the cache from time to time how it is, has it ask other DNS servers when the network names
// others, and keeps the file up to date that answers names which must resolve although DNS is down.
//
// The resolver never asks a cache that is not there: it is put back before the cache is stopped, and first of all when the
// cache ends, hangs or never becomes ready. [Supervisor.Stop] does the same for a supervisor that was killed; it may be
// called at any time, and more than once.
//
// What the cache is told is the planner's business; this package refuses to change its settings but for the addresses of
// the DNS servers. It touches the machine only through [Machine]. "slipway-node local-dns" calls it.
package localdns
