package capacity

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:generate go run ./gen

// interfaces is the table of EC2's instance types: how many network interfaces each can have, and how many IPv4 addresses each
// interface (Amazon VPC CNI v1.23.2, vpc_ip_resource_limit.go). A line has the families with the same sizes, and their sizes.
//
//go:embed interfaces.txt
var interfaces string

// UnknownTypeError says that the table does not have an instance type.
type UnknownTypeError struct{ InstanceType string }

// Error names the type.
func (e *UnknownTypeError) Error() string {
	return fmt.Sprintf("the instance type %q is not known; give the number of pods, or its network interfaces and the addresses of each", e.InstanceType)
}

// Interfaces returns how many network interfaces an EC2 instance type has on its default network card, and how many IPv4
// addresses each of them. The error is an [*UnknownTypeError].
func Interfaces(instanceType string) (interfacesPerType, addressesPerInterface int, err error) {
	unknown := &UnknownTypeError{instanceType}
	family, size, found := strings.Cut(instanceType, ".")
	if !found || family == "" || size == "" || strings.ContainsAny(instanceType, ",:=\n") {
		return 0, 0, unknown
	}
	_, line, found := strings.Cut(interfaces, ","+family+",")
	if !found {
		return 0, 0, unknown
	}
	line, _, _ = strings.Cut(line, "\n")
	_, sizes, found := strings.Cut(line, ":")
	if !found {
		return 0, 0, unknown
	}
	_, rest, found := strings.Cut(","+sizes, ","+size+"=")
	if !found {
		return 0, 0, unknown
	}
	pair, _, _ := strings.Cut(rest, ",")
	first, second, _ := strings.Cut(pair, "x")
	if interfacesPerType, err = strconv.Atoi(first); err != nil {
		return 0, 0, unknown
	}
	if addressesPerInterface, err = strconv.Atoi(second); err != nil {
		return 0, 0, unknown
	}
	return interfacesPerType, addressesPerInterface, nil
}
