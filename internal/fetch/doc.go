// Package fetch brings one file from a server: from a URL, or as a blob of an OCI registry. It speaks plain HTTP, and has
// no library of a registry's or a cloud's.
//
// Nobody who answers is believed. A file counts when its digest is right, where one is known: the request's own, or the one
// that the registry's manifest has. Answers have limits of size, and every wait has one of time. A body has none in all, only
// for how long nothing comes: how long a file may take is the caller's to say, by its context. A redirect leads from https to
// https only, and no credential goes to a host that it is not for. An error quotes nothing that could be a secret.
//
// A file that was not brought to its end stays as it is, and the next call continues it where a digest is known. The
// package neither names files nor unpacks them, and does not sync them: whoever calls it makes a file visible after it has
// come. internal/host does that for the kind Download of a plan.
package fetch
