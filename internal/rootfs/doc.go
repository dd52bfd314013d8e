// Package rootfs is the files below a directory, read as the machine would read them whose root the directory is. All
// that Slipway reads and writes on a node goes through a [Tree]: staged beside its name, renamed into place, made durable
// a directory at a time; locked, watched, followed, listened on.
//
// The package refuses to leave its tree through symbolic links, to write through a symbolic link, to put a file in place
// of a directory or a device, and to read what is not a regular file, so it waits for no pipe and disturbs no device.
// Every change passes internal/failpoint. It does not know what a file is for. internal/host puts the machine around a
// tree, internal/probe looks for what must be there.
package rootfs
