package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/volume"
)

// maxDisks limits the block devices to look at.
const maxDisks = 64

// onDisk reads files of the first matching disk: one with the label, if a label is given, and with the first of the
// files. Missing files are nil.
func (s *Search) onDisk(label string, files ...string) (where string, contents [][]byte, err error) {
	names, err := s.Machine.Disks()
	if err != nil {
		return "", nil, err
	}
	var broken []error
	for _, name := range names[:min(len(names), maxDisks)] {
		contents, err := s.readDisk(name, label, files)
		if err == nil {
			return "/dev/" + name + ":" + files[0], contents, nil
		}
		if !errors.Is(err, ErrNotFound) {
			broken = append(broken, fmt.Errorf("/dev/%s: %w", name, err))
		}
	}
	if broken != nil {
		return "", nil, errors.Join(broken...)
	}
	if label != "" {
		return "", nil, none("no disk is labelled " + label)
	}
	return "", nil, none("no disk has " + files[0])
}

func (s *Search) readDisk(name, label string, files []string) ([][]byte, error) {
	disk, size, err := s.Machine.OpenDisk(name)
	if err != nil {
		return nil, errAbsent // it was removed, or is a drive without a medium
	}
	defer disk.Close()
	v, err := volume.Open(disk, size)
	switch {
	case errors.Is(err, volume.ErrUnknown):
		return nil, errAbsent
	case err != nil:
		return nil, err
	case label != "" && !strings.EqualFold(v.Label(), label):
		return nil, errAbsent
	}
	contents := make([][]byte, len(files))
	for i, file := range files {
		contents[i], err = v.ReadFile(file, maxUserData)
		switch {
		case err == nil:
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: %w", v.Format(), err)
		case i == 0:
			return nil, errAbsent
		}
	}
	return contents, nil
}

// onLabelled reads the contract on a disk with a label. The instance is the machine's description in the disk's
// metadata.
func onLabelled(label, userData, metaData string, instance func(metaData []byte) facts.Instance) func(context.Context, *Search) (Contract, error) {
	return func(_ context.Context, s *Search) (Contract, error) {
		where, contents, err := s.onDisk(label, userData, metaData)
		if err != nil {
			return Contract{}, err
		}
		return open(where, contents[0], instance(contents[1]))
	}
}
