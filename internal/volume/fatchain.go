package volume

import "encoding/binary"

// open follows the chain of clusters of a file of size bytes, or of a directory, which has no size of its own.
func (f *fat) open(s *session, directory bool, first uint32, size int64) (file, error) {
	s.extents = s.extents[:0]
	if !directory {
		if err := s.fits(size); err != nil || size == 0 {
			return file{}, err // an empty file has no cluster
		}
	}
	opened := file{directory: directory, size: size}
	most := (size + f.cluster - 1) / f.cluster
	if directory {
		// One cluster more than is looked at shows that there is more.
		most = maxDirectory/f.cluster + 1
	}
	cluster := first
	for clusters := int64(0); ; clusters++ {
		switch {
		case clusters == most && directory:
			opened.extents = s.extents
			return opened, nil
		case clusters == most:
			// A chain that runs in a circle ends here too, because it has no end of its own.
			return file{}, corrupt("fat: the chain of a file of %d bytes has more than %d clusters", size, most)
		case cluster < firstCluster || cluster > f.last:
			return file{}, corrupt("fat: a chain leads to cluster %d of %d", cluster, f.last)
		}
		e := extent{at: f.data + int64(cluster-firstCluster)*f.cluster, size: f.cluster}
		if err := s.addExtent(e); err != nil {
			return file{}, err
		}
		if directory {
			opened.size += f.cluster
		}
		next, end, err := f.next(s, cluster)
		switch {
		case err != nil:
			return file{}, err
		case end:
			opened.extents = s.extents
			return opened, nil
		}
		cluster = next
	}
}

// next is the entry of the table for a cluster (the specification, "FAT Data Structure"): the next one, or the
// end. One that is free or bad leads nowhere, and out of the range of clusters.
func (f *fat) next(s *session, cluster uint32) (next uint32, end bool, err error) {
	n := int64(cluster)
	at, size := n*int64(f.width)/8, (f.width+7)/8
	if at > f.tableSize-int64(size) {
		return 0, false, corrupt("fat: the table has no entry for cluster %d", cluster)
	}
	b, err := s.view(f.table+at, size)
	if err != nil {
		return 0, false, err
	}
	switch {
	case f.width == 32:
		next = binary.LittleEndian.Uint32(b) & 0x0FFFFFFF
		return next, next >= 0x0FFFFFF8, nil
	case f.width == 16:
		next = uint32(binary.LittleEndian.Uint16(b))
		return next, next >= 0xFFF8, nil
	}
	// Of the three bytes that hold two entries, one has its bits in the lower part and one in the upper.
	next = uint32(binary.LittleEndian.Uint16(b)) >> (4 * (cluster & 1)) & 0xFFF
	return next, next >= 0xFF8, nil
}
