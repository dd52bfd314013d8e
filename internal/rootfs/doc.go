// Package rootfs reads and writes the files below a directory as a machine with that root directory would. Everything
// that Slipway reads and writes on a node goes through a [Tree]: staged beside its name, renamed into place, made
// durable one directory at a time; locked, watched, followed, listened on.
//
// The package refuses to leave its tree through symbolic links, to write through a symbolic link, to replace a
// directory or a device by a file, and to read anything but a regular file, so it waits for no pipe and disturbs no
// device. Every change passes internal/failpoint. The package does not know the purpose of a file. internal/host builds
// the machine on a tree; internal/probe checks files in it.
package rootfs
