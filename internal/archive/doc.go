// Package archive reads the files out of what programs come in: a tar, a Debian package, an RPM package, each compressed by gzip,
// zstd or xz, or a single program.
//
// It reads a stream, once, and keeps nothing of it: whoever calls it gets one file after the other. It never makes a file, a
// directory, a link or a device, so no name in an archive leads anywhere. An archive with a name that would lead out of a
// directory is refused as a whole all the same, because no packer makes one. How many files there are, how long their names, how
// large they are together, and how much memory is used, is bounded. internal/host unpacks a plan's downloads with it.
//
// It checks the checksums of gzip, zstd and xz, those of tar's headers, those of cpio's content where the format has them (070702), and
// the SHA-256 of an RPM's header and payload. It checks no digest of a single file and no signature: internal/fetch checks the digest
// of the whole download where a plan has one.
package archive
