package volume

// What a disk can have the package do. A disk of settings has a dozen small files; these leave room for
// a hundred times as much.
const (
	// maxReads bounds the reads of one call, of whatever size.
	maxReads = 4096
	// maxDirectory bounds, in bytes, how much of a directory is looked at.
	maxDirectory = 128 << 10
	// usualDirectory is enough for nearly all: the root directory of FAT12 and FAT16 has room for 512 entries.
	usualDirectory = 16 << 10
	// maxEntries bounds how many entries of a directory are looked at.
	maxEntries = 1024
	// maxComponents bounds the components of a path.
	maxComponents = 16
	// maxExtents bounds the pieces that a file is in.
	maxExtents = 1024
	// maxContinuations bounds how often a structure that says "continued there" is followed: the
	// continuation areas of one Rock Ridge record, the allocation extents of one UDF file.
	maxContinuations = 16
	// maxDescriptors bounds a volume descriptor set or sequence, in descriptors.
	maxDescriptors = 64
	// maxPartitions bounds the partitions of an UDF volume; more than two are never written.
	maxPartitions = 4
	// maxName is the room for one name in UTF-8: a long name of FAT has 260 units of 3 bytes each.
	maxName = 1024
)
