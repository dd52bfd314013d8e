package volume

// The limits of the work for a disk. A disk of settings has a dozen small files; these limits allow a hundred times as
// much.
const (
	// maxReads limits the reads of one call, of any size.
	maxReads = 4096
	// maxDirectory limits how much of a directory is read, in bytes.
	maxDirectory = 128 << 10
	// usualDirectory is sufficient for nearly all: the root directory of FAT12 and FAT16 has space for 512 entries.
	usualDirectory = 16 << 10
	// maxEntries limits how many entries of a directory are read.
	maxEntries = 1024
	// maxComponents limits the components of a path.
	maxComponents = 16
	// maxExtents limits the pieces of a file.
	maxExtents = 1024
	// maxContinuations limits how often a continuation is followed: the continuation areas of one Rock Ridge record,
	// the allocation extents of one UDF file.
	maxContinuations = 16
	// maxDescriptors limits a volume descriptor set or sequence, in descriptors.
	maxDescriptors = 64
	// maxPartitions limits the partitions of a UDF volume; programs write at most two.
	maxPartitions = 4
	// maxName is the memory for one name in UTF-8: a long name of FAT has 260 units of 3 bytes each.
	maxName = 1024
)
