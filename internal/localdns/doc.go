// Package localdns supervises the node's DNS cache, CoreDNS: it finds the machine's DNS servers, creates the interface
// on which the cache listens, starts the cache, waits until it is ready, and only then switches the machine's resolver
// to it. It then checks the cache from time to time, makes it use other DNS servers when the network changes them, and
// updates the file with answers for names that must resolve although DNS is down.
//
// The resolver never uses a missing cache: it is switched back before the cache is stopped, and at once when the cache
// ends, hangs or never becomes ready. [Supervisor.Stop] does the same for a supervisor that was killed; it may be
// called at any time, and more than once.
//
// The planner decides the cache's settings; this package changes only the addresses of the DNS servers in them. It
// touches the machine only through [Machine]. "slipway-node local-dns" calls it.
package localdns
