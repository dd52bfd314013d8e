// Package fetch downloads one file from a server: from a URL, or as a blob of an OCI registry. It speaks plain HTTP,
// and uses no registry or cloud library.
//
// It trusts no server. A file counts only if its digest is right, if one is known: the request's, or the one in the
// registry's manifest. Answers have size limits, and every wait has a time limit. A body has a limit only for the time
// without progress: the caller limits the total time by its context. A redirect may lead from https to https only, and
// no credential goes to a host that it is not for. An error quotes nothing that could be a secret.
//
// An incomplete file stays as it is, and if a digest is known, the next call continues it. The package neither names,
// unpacks nor syncs files: the caller makes a file visible after the download. internal/host does that for a plan's
// Download resources.
package fetch
