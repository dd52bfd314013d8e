package volume

import (
	"errors"
	"fmt"
	"io/fs"
)

var (
	// ErrUnknown is the error of a disk that has none of the known file systems.
	ErrUnknown = errors.New("unknown file system")
	// ErrCorrupt is the error of a disk whose file system contradicts itself, points outside the disk, or uses an
	// unsupported feature. It is wrapped with the structure and its location.
	ErrCorrupt = errors.New("file system is damaged or not supported")
	// ErrTooLarge is the error of a file that is larger than the caller's limit, and of a directory with so many
	// entries that not all were read.
	ErrTooLarge = errors.New("too large")
)

// corrupt wraps ErrCorrupt. Its text has numbers only, nothing of a disk's files or names.
func corrupt(format string, arguments ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, arguments...))
}

var (
	// errNoEntry and errEndsEarly are the ends of a directory: without the name, and in the middle of an entry. For a
	// directory that was cut they have no meaning.
	errNoEntry   = fmt.Errorf("%w: its directory has no such entry", fs.ErrNotExist)
	errEndsEarly = corrupt("a directory ends within an entry")

	errDirectoryTooLarge = fmt.Errorf("%w: a directory has more than %d entries or %d KiB",
		ErrTooLarge, maxEntries, maxDirectory>>10)
	errTooManyReads   = corrupt("more than %d reads are needed", maxReads)
	errTooManyExtents = corrupt("a file is in more than %d pieces", maxExtents)
)
