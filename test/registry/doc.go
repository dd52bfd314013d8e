// Package registry downloads files from the registry of the distribution project, with its token authentication, as a node
// downloads them from an Azure registry. It is a separate module, so that nothing else depends on that registry.
package registry
