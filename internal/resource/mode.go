package resource

import "io/fs"

// ModeOf returns the permission bits of a file's mode as chmod(2) has them, with those for set-user-ID, set-group-ID and sticky, which Go
// does not count among the permission bits.
func ModeOf(mode fs.FileMode) uint32 {
	out := uint32(mode.Perm())
	for _, s := range specialBits {
		if mode&s.flag != 0 {
			out |= s.bit
		}
	}
	return out
}

// FileMode is the reverse of ModeOf, for package os.
func FileMode(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits) & fs.ModePerm
	for _, s := range specialBits {
		if bits&s.bit != 0 {
			mode |= s.flag
		}
	}
	return mode
}

// specialBits are the bits that Go has apart from the permission bits.
var specialBits = []struct {
	flag fs.FileMode
	bit  uint32
}{{fs.ModeSetuid, 0o4000}, {fs.ModeSetgid, 0o2000}, {fs.ModeSticky, 0o1000}}
