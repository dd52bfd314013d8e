package protos

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// wide are the fields of 32 bits whose JSON may hold 64: the kernel takes them, and AKS's own defaults are that large
// (Linux: Documentation/admin-guide/sysctl/fs.rst, file-max). A program that makes a contract from protobuf's types cannot
// send such a number, and one that writes JSON can.
var wide = []protoreflect.FullName{"aksnodeconfig.v1.SysctlConfig.fs_file_max"}

// Wide reports whether the JSON of a field of 32 bits may hold a number of 64.
func Wide(field protoreflect.FieldDescriptor) bool { return slices.Contains(wide, field.FullName()) }
