package source

import (
	"bytes"
	"encoding/binary"
	"maps"
	"path"
	"slices"
	"strings"
)

// sector is the size of a block of ISO 9660.
const sector = 2048

// iso creates a disk with the label and the files, in plain ISO 9660 (ECMA-119): a primary volume descriptor, and the
// directories, one block each.
func iso(label string, files map[string]string) []byte {
	dirs := []string{"."}
	for name := range files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	const firstDir = 18
	at := make(map[string][2]int) // block, length
	for i, dir := range dirs {
		at[dir] = [2]int{firstDir + i, sector}
	}
	next := firstDir + len(dirs)
	image := bytes.NewBuffer(make([]byte, 0, 64*sector))
	var contents bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		at[name] = [2]int{next + contents.Len()/sector, len(files[name])}
		contents.WriteString(files[name])
		contents.Write(make([]byte, (sector-len(files[name])%sector)%sector))
	}
	image.Write(make([]byte, 16*sector))

	primary := make([]byte, sector)
	copy(primary, "\x01CD001\x01")
	copy(primary[40:72], label+strings.Repeat(" ", 32-len(label)))
	both(primary[80:], uint32(next+contents.Len()/sector))
	both16(primary[120:], 1)
	both16(primary[124:], 1)
	both16(primary[128:], sector)
	copy(primary[156:], record("\x00", at["."], true))
	primary[881] = 1
	image.Write(primary)
	end := make([]byte, sector)
	copy(end, "\xffCD001\x01")
	image.Write(end)

	for _, dir := range dirs {
		block := append(record("\x00", at[dir], true), record("\x01", at[path.Dir(dir)], true)...)
		for _, name := range slices.Sorted(maps.Keys(at)) {
			if name == "." || path.Dir(name) != dir {
				continue
			}
			isDir := slices.Contains(dirs, name)
			label := strings.ToUpper(path.Base(name))
			if !isDir {
				label += ";1"
			}
			block = append(block, record(label, at[name], isDir)...)
		}
		image.Write(append(block, make([]byte, sector-len(block))...))
	}
	image.Write(contents.Bytes())
	return image.Bytes()
}

// record is a directory record.
func record(name string, at [2]int, isDir bool) []byte {
	r := make([]byte, (33+len(name)+1)&^1)
	r[0] = byte(len(r))
	both(r[2:], uint32(at[0]))
	both(r[10:], uint32(at[1]))
	if isDir {
		r[25] = 2
	}
	both16(r[28:], 1)
	r[32] = byte(len(name))
	copy(r[33:], name)
	return r
}

// both and both16 write a number in both byte orders.
func both(to []byte, n uint32) {
	binary.LittleEndian.PutUint32(to, n)
	binary.BigEndian.PutUint32(to[4:], n)
}

func both16(to []byte, n uint16) {
	binary.LittleEndian.PutUint16(to, n)
	binary.BigEndian.PutUint16(to[2:], n)
}
