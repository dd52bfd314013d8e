package volume

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
)

// match compares a record's name. The directory itself and its parent, whose names are one byte of 0 or 1 (ECMA-119
// §7.6.2), and associated files have no names.
func (i *iso) match(s *session, r record, want string) (match, error) {
	if len(r.name) == 1 && r.name[0] <= 1 || r.flags&isoAssociated != 0 {
		return different, nil
	}
	switch i.names {
	case jolietNames:
		return matchExact(withoutVersion(appendUTF16(s.name[:0], r.name, binary.BigEndian)), want), nil
	case rockRidgeNames:
		a, err := i.attributes(s, r.systemUse, i.skip)
		if err != nil {
			return different, err
		}
		if a.named {
			if how := matchExact(a.name, want); how == different || !a.elsewhere {
				return how, nil
			}
			return different, fmt.Errorf("%w: it is a symbolic link or was moved", fs.ErrNotExist)
		}
	}
	return matchFolding(withoutVersion(r.name), want), nil
}

// withoutVersion removes a file's version, and the dot after a name without an extension (ECMA-119 §7.5.1).
func withoutVersion(name []byte) []byte {
	if n := bytes.LastIndexByte(name, ';'); n > 0 {
		name = name[:n]
	}
	if n := len(name) - 1; n > 0 && name[n] == '.' {
		name = name[:n]
	}
	return name
}

// attributes are a file's attributes in the Rock Ridge extension.
type attributes struct {
	// name is the file's name, if any; it is in the session's memory.
	name  []byte
	named bool
	// elsewhere reports that the record only refers to the file: it is a symbolic link (SL), or replaces a directory
	// that was too deep (CL).
	elsewhere bool
	// posix reports that there are POSIX attributes, which Rock Ridge requires for every file.
	posix bool
	// skip is the root's value for all other records, if sharing is announced (SP).
	skip      int
	announced bool
}

// Flags of an alternate name (Rock Ridge Interchange Protocol 1.12 §4.1.4).
const nameSpecial = 1<<1 | 1<<2 // the directory itself, or its parent

// attributes reads the system use entries of a record, from an offset, and of its continuation areas (System
// Use Sharing Protocol 1.12 §4 and §5, Rock Ridge Interchange Protocol 1.12 §4.1).
func (i *iso) attributes(s *session, area []byte, skip int) (attributes, error) {
	a := attributes{name: s.name[:0]}
	area = area[min(skip, len(area)):]
	for range maxContinuations {
		var continued []byte
		// Fewer than four bytes at the end are padding, and so are zeros.
		for len(area) >= 4 && area[2] != 0 {
			length := int(area[2])
			if length < 4 || length > len(area) {
				return attributes{}, corrupt("iso9660: a system use entry of %d bytes", length)
			}
			entry := area[:length]
			area = area[length:]
			switch string(entry[:2]) {
			case "ST":
				area = nil
			case "CE":
				continued = entry
			default:
				if err := a.add(entry); err != nil {
					return attributes{}, err
				}
			}
		}
		if continued == nil {
			return a, nil
		}
		var err error
		if area, err = i.continuation(s, continued); err != nil {
			return attributes{}, err
		}
	}
	return attributes{}, corrupt("iso9660: more than %d continuation areas", maxContinuations)
}

// add reads one system use entry.
func (a *attributes) add(entry []byte) error {
	switch string(entry[:2]) {
	case "SP":
		if len(entry) < 7 || entry[4] != 0xBE || entry[5] != 0xEF {
			return corrupt("iso9660: a damaged sharing protocol indicator")
		}
		a.announced, a.skip = true, int(entry[6])
	case "PX":
		a.posix = true
	case "SL", "CL":
		a.elsewhere = true
	case "NM":
		if len(entry) < 5 || len(a.name)+len(entry) > maxName {
			return corrupt("iso9660: an alternate name of %d bytes after %d", len(entry), len(a.name))
		}
		if entry[4]&nameSpecial == 0 {
			a.name, a.named = append(a.name, entry[5:]...), true
		}
	}
	return nil
}

// continuation views the area of a CE entry, which lies within one block (System Use Sharing Protocol 1.12 §5.1).
func (i *iso) continuation(s *session, entry []byte) ([]byte, error) {
	if len(entry) < 28 {
		return nil, corrupt("iso9660: a continuation entry of %d bytes", len(entry))
	}
	block := int64(binary.LittleEndian.Uint32(entry[4:]))
	offset := int64(binary.LittleEndian.Uint32(entry[12:]))
	size := int64(binary.LittleEndian.Uint32(entry[20:]))
	if offset > sectorSize || size > sectorSize-offset {
		return nil, corrupt("iso9660: a continuation area of %d bytes at %d of a block", size, offset)
	}
	return s.view(block*i.block+offset, int(size))
}

// detectRockRidge reports whether the root directory's record announces Rock Ridge. If so, Rock Ridge names are
// compared from then on.
func (i *iso) detectRockRidge(s *session) (bool, error) {
	content, err := s.view(i.top.at, int(min(i.top.size, sectorSize)))
	if err != nil {
		return false, err
	}
	r, _, err := isoRecord(content, 0)
	if err != nil || len(r.name) != 1 || r.name[0] != 0 {
		return false, err
	}
	// Data that is not Rock Ridge may be invalid as Rock Ridge.
	if len(r.systemUse) < 7 || string(r.systemUse[:2]) != "SP" {
		return false, nil
	}
	a, err := i.attributes(s, r.systemUse, 0)
	if err != nil {
		return false, err
	}
	if a.announced && a.posix {
		i.names, i.skip = rockRidgeNames, a.skip
	}
	return i.names == rockRidgeNames, nil
}
