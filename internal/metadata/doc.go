// Package metadata gets a machine's user data and its description from a cloud's metadata services, and reports the
// provisioning's end to Azure's wire server. It also fetches NoCloud's network seed.
//
// It trusts these services no more than needed: it uses no proxy, follows no redirect, connects only to the services'
// addresses, limits the size and time of answers, and no error holds a byte of one. It does not interpret user data;
// internal/envelope does.
//
// Each request has two forms. Service.Fetch and Service.Tags ask once, for a watcher, which asks again anyway. All
// others retry until there is a final answer, or ctx ends. Every failure is an *Error.
//
// internal/source calls it when a machine is provisioned, the watcher of cmd/slipway-node on a running node.
package metadata
