package volume

import "encoding/binary"

// open follows the chain of clusters of a file of size bytes, or of a directory, which has no recorded size.
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
		// One cluster more than the limit shows that there is more.
		most = maxDirectory/f.cluster + 1
	}
	cluster := first
	for clusters := int64(0); ; clusters++ {
		switch {
		case clusters == most && directory:
			opened.extents = s.extents
			return opened, nil
		case clusters == most:
			// A circular chain also ends here, because it has no end.
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

// next returns the table's entry for a cluster (the specification, "FAT Data Structure"): the next cluster, or the end.
// A free or bad entry is outside the range of clusters.
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
	// Two entries share three bytes: one has its lower bits there, the other its upper bits.
	next = uint32(binary.LittleEndian.Uint16(b)) >> (4 * (cluster & 1)) & 0xFFF
	return next, next >= 0xFF8, nil
}
