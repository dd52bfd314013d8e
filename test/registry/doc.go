// Package registry brings files from the registry of the distribution project, with its authentication by tokens, as a node
// brings them from a registry of Azure's. It is a module of its own, so that nothing else depends on that registry.
package registry
