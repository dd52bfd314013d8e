package capacity

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:generate go run ./gen

// interfaces is the table of EC2's instance types: how many network interfaces each can have, and how many IPv4 addresses each
// interface can have (Amazon VPC CNI v1.23.2, vpc_ip_resource_limit.go). A line has the families with the same sizes, and their
// sizes.
//
//go:embed interfaces.txt
var interfaces string

// sizesOf are the sizes of each family in the table. The text of the table is parsed once.
var sizesOf = sync.OnceValue(func() map[string]string {
	families := make(map[string]string)
	for line := range strings.Lines(interfaces) {
		names, sizes, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		for name := range strings.SplitSeq(strings.Trim(names, ","), ",") {
			families[name] = sizes
		}
	}
	return families
})

// UnknownTypeError is the error of an instance type that is not in the table.
type UnknownTypeError struct{ InstanceType string }

// Error names the type.
func (e *UnknownTypeError) Error() string {
	return fmt.Sprintf("the instance type %q is not known; give the number of pods, or its network interfaces and the addresses of each", e.InstanceType)
}

// Interfaces returns how many network interfaces an EC2 instance type has on its default network card, and how many IPv4 addresses
// each of them has. The error is an [*UnknownTypeError].
func Interfaces(instanceType string) (interfacesPerType, addressesPerInterface int, err error) {
	family, size, _ := strings.Cut(instanceType, ".")
	sizes := sizesOf()[family]
	for sizes != "" {
		var entry string
		entry, sizes, _ = strings.Cut(sizes, ",")
		pair, is := strings.CutPrefix(entry, size+"=")
		if !is {
			continue
		}
		first, second, _ := strings.Cut(pair, "x")
		interfacesPerType, err = strconv.Atoi(first)
		if err == nil {
			addressesPerInterface, err = strconv.Atoi(second)
		}
		if err == nil {
			return interfacesPerType, addressesPerInterface, nil
		}
	}
	return 0, 0, &UnknownTypeError{instanceType}
}
