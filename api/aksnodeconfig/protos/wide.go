package protos

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// wide are the 32-bit fields whose JSON may have a 64-bit number: the kernel accepts it, and AKS's own defaults are that large
// (Linux: Documentation/admin-guide/sysctl/fs.rst, file-max). A program that makes a contract from protobuf's types cannot send
// such a number, and one that writes JSON can.
var wide = []protoreflect.FullName{"aksnodeconfig.v1.SysctlConfig.fs_file_max"}

// Wide reports whether the JSON of a 32-bit field may have a 64-bit number.
func Wide(field protoreflect.FieldDescriptor) bool { return slices.Contains(wide, field.FullName()) }
