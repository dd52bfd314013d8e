package resource

import (
	"fmt"
	"strings"
)

// Title is a resource's name for people, with its value where that is short.
func Title(spec Spec) string {
	if s, ok := spec.(*Sysctl); ok {
		return s.Key + " = " + s.Value
	}
	return spec.Name()
}

// Particulars are a resource's mode, and what there is to say of it beyond its name and its reason.
// Nothing of a secret is in them.
func Particulars(spec Spec) (mode, what string) {
	switch s := spec.(type) {
	case *File:
		return fmt.Sprintf("%04o", s.Mode), ""
	case *Directory:
		return fmt.Sprintf("%04o", s.Mode), ""
	case *Symlink:
		return "", "-> " + s.Target
	case *Sysctl:
		if s.Optional {
			return "", "where the kernel has it"
		}
	case *Command:
		return "", strings.Join(s.Argv, " ")
	case *Check:
		return "", "within " + s.Deadline().String()
	}
	return "", ""
}

// ShortUnits are units by the names that people call them by.
func ShortUnits(units []string) []string {
	var short []string
	for _, u := range units {
		short = append(short, strings.TrimSuffix(u, ".service"))
	}
	return short
}
