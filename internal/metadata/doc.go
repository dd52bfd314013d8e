// Package metadata asks a cloud's metadata services for a machine's user data and for what the cloud says of
// the machine, and tells Azure's wire server how provisioning ended. It also fetches NoCloud's network seed.
//
// Whoever answers at these addresses is not believed more than needed: no proxy is asked, no redirect is
// followed, connections go to the services' own addresses only, answers have limits of size and time, and no
// error holds a byte of one. What is in the user data is not looked at; that is internal/envelope's.
//
// There are two forms of each question. Service.Fetch and Service.Tags ask once, and are for a watcher, which comes
// back anyway. All others are patient: they ask until there is an answer that will not change, or ctx ends. Every
// end that is no success is an *Error.
//
// internal/source calls it when a machine is provisioned, the watcher of cmd/slipway-node on a running node.
package metadata
