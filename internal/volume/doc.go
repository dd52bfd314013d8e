// Package volume reads files from the small read-only disks by which clouds and hypervisors pass settings to a machine:
// Azure's provisioning disk, a cloud-init seed, an OpenStack config drive. It reads them without mounting them: no
// kernel module, no mount point, no waiting for udev.
//
// It supports UDF 1.02 to 2.01, ISO 9660 with Rock Ridge or Joliet or neither, and FAT12, FAT16 and FAT32 with long
// names; each on the whole disk or on one of the four partitions of a master boot record.
//
//   - A disk that is both UDF and ISO 9660 (a bridge) is read as both: UDF first, then ISO 9660 for files that
//     UDF does not have or that are damaged there.
//   - Of ISO 9660's names it uses the richest existing kind: Rock Ridge, else Joliet, else plain.
//
// The package works on an [io.ReaderAt] and does no other I/O. It does not trust a disk's content: every length is
// checked against the disk and a limit before anything is read or allocated, every loop over disk data has a limit, and
// there is no recursion, except once for a partition.
//
// It refuses to write, to list directories, to follow symbolic links, and to guess: UDF with virtual, sparable or
// metadata partitions, interleaved ISO 9660 files, extended partitions and GUID partition tables are not read.
// internal/source, which calls it, chooses the disk and interprets the files.
package volume
