// Package volume reads files from the small read-only disks by which clouds and hypervisors hand
// settings to a machine: Azure's provisioning disk, a cloud-init seed, an OpenStack config drive. It
// reads them where they are, without mounting them: no kernel module, no mount point, no waiting for
// udev.
//
// Known are UDF 1.02 to 2.01, ISO 9660 with Rock Ridge or Joliet or neither, and FAT12, FAT16 and FAT32
// with long names; each on the whole disk or on one of the four partitions of a master boot record.
//
//   - A disk that is both UDF and ISO 9660 (a bridge) is read as both: UDF first, then ISO 9660 for what
//     UDF does not have or cannot give.
//   - Of ISO 9660's names the richest kind is taken that there is: Rock Ridge, else Joliet, else plain.
//
// The package works on an [io.ReaderAt] and does no other I/O. What is on a disk is not trusted: every
// length is checked against the disk and a limit before anything is read or allocated, every loop over
// what the disk says has a bound, and nothing recurses, but for a partition, once.
//
// It refuses to write, to list directories, to follow symbolic links, and to guess: UDF with virtual,
// sparable or metadata partitions, interleaved ISO 9660 files, extended partitions and GUID partition
// tables are not read. Which disk is opened, and what its files mean, is for internal/source, which
// calls it.
package volume
