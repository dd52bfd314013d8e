// Package archive reads the files from the formats in which programs are delivered: a tar, a Debian package, an RPM
// package, each compressed by gzip, zstd or xz, or a single program.
//
// It reads a stream once, and keeps nothing of it: the caller gets one file after another. It never creates a file, a
// directory, a link or a device, so no name in an archive has an effect. It still refuses an archive with a name that
// would lead out of a directory, because no packer creates one. The number of files, the length of their names, their
// total size, and the memory are limited. internal/host unpacks a plan's downloads with it.
//
// It checks the checksums of gzip, zstd and xz, those of tar's headers, those of cpio's content if the format has them
// (070702), and the SHA-256 of an RPM's header and payload. It checks no digest of a single file and no signature:
// internal/fetch checks the digest of the whole download if a plan has one.
package archive
