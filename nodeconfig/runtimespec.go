package nodeconfig

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

const runtimeSpecPath = "$.runtime.containerd.baseRuntimeSpec"

// maxRuntimeSpec limits its size as JSON, in bytes: containerd copies all of it for each container.
const maxRuntimeSpec = 256 << 10

// runtimeSpecTypes are the types of the OCI runtime specification, versions 1.0 to 1.3. Each line has a type's name, and its fields
// with their types (opencontainers/runtime-spec: specs-go/config.go). containerd decodes its file into them, and starts no pod if a
// value has another type. A field's type is one of these types; or s for a string, b for a boolean, i or u with a number of bits
// for an integer; [] before it means a list, {} a map. Fields with - are for other operating systems.
const runtimeSpecTypes = `spec ociVersion:s process:process root:root hostname:s domainname:s mounts:[]mount hooks:hooks annotations:{}s linux:linux solaris:- windows:- vm:- zos:- freebsd:-
process terminal:b consoleSize:box user:user args:[]s commandLine:- env:[]s cwd:s capabilities:caps rlimits:[]rlimit noNewPrivileges:b apparmorProfile:s oomScoreAdj:i64 scheduler:scheduler selinuxLabel:s ioPriority:iopriority execCPUAffinity:affinity
box height:u64 width:u64
user uid:u32 gid:u32 umask:u32 additionalGids:[]u32 username:-
caps bounding:[]s effective:[]s inheritable:[]s permitted:[]s ambient:[]s
rlimit type:s hard:u64 soft:u64
scheduler policy:s nice:i32 priority:i32 flags:[]s runtime:u64 deadline:u64 period:u64
iopriority class:s priority:i64
affinity initial:s final:s
root path:s readonly:b
mount destination:s type:s source:s options:[]s uidMappings:[]mapping gidMappings:[]mapping
mapping containerID:u32 hostID:u32 size:u32
hooks prestart:[]hook createRuntime:[]hook createContainer:[]hook startContainer:[]hook poststart:[]hook poststop:[]hook
hook path:s args:[]s env:[]s timeout:i64
linux uidMappings:[]mapping gidMappings:[]mapping sysctl:{}s resources:resources cgroupsPath:s namespaces:[]namespace devices:[]device netDevices:{}netdevice seccomp:seccomp rootfsPropagation:s maskedPaths:[]s readonlyPaths:[]s mountLabel:s intelRdt:rdt memoryPolicy:mempolicy personality:personality timeOffsets:{}offset
namespace type:s path:s
device path:s type:s major:i64 minor:i64 fileMode:u32 uid:u32 gid:u32
netdevice name:s
seccomp defaultAction:s defaultErrnoRet:u64 architectures:[]s flags:[]s listenerPath:s listenerMetadata:s syscalls:[]syscall
syscall names:[]s action:s errnoRet:u64 args:[]arg
arg index:u64 value:u64 valueTwo:u64 op:s
rdt closID:s schemata:[]s l3CacheSchema:s memBwSchema:s enableCMT:b enableMBM:b enableMonitoring:b
mempolicy mode:s nodes:s flags:[]s
personality domain:s flags:[]s
offset secs:i64 nanosecs:u32
resources devices:[]rule memory:memory cpu:cpu pids:pids blockIO:blockio hugepageLimits:[]hugepage network:network rdma:{}rdma unified:{}s
rule allow:b type:s major:i64 minor:i64 access:s
memory limit:i64 reservation:i64 swap:i64 kernel:i64 kernelTCP:i64 swappiness:u64 disableOOMKiller:b useHierarchy:b checkBeforeUpdate:b
cpu shares:u64 quota:i64 burst:u64 period:u64 realtimeRuntime:i64 realtimePeriod:u64 cpus:s mems:s idle:i64
pids limit:i64
blockio weight:u16 leafWeight:u16 weightDevice:[]weight throttleReadBpsDevice:[]throttle throttleWriteBpsDevice:[]throttle throttleReadIOPSDevice:[]throttle throttleWriteIOPSDevice:[]throttle
weight major:i64 minor:i64 weight:u16 leafWeight:u16
throttle major:i64 minor:i64 rate:u64
hugepage pageSize:s limit:u64
network classID:u32 priorities:[]interface
interface name:s priority:u32
rdma hcaHandles:u32 hcaObjects:u32`

// specFields returns the fields of a type in the table, with a space before each. It returns "" for an unknown type.
func specFields(of string) string {
	_, rest, _ := strings.Cut("\n"+runtimeSpecTypes, "\n"+of+" ")
	fields, _, _ := strings.Cut(rest, "\n")
	if fields == "" {
		return ""
	}
	return " " + fields
}

// fieldType returns the type of one of these fields. It returns "" for an unknown name.
func fieldType(fields, name string) string {
	if strings.ContainsAny(name, " :") {
		return ""
	}
	_, rest, _ := strings.Cut(fields, " "+name+":")
	of, _, _ := strings.Cut(rest, " ")
	return of
}

// runtimeSpec validates the part that is merged over the containers' default specification. If containerd, or runc, refuses a
// value, no container starts.
func (v *validator) runtimeSpec(spec map[string]any) {
	if spec == nil {
		return
	}
	plain, _ := Revealed(spec)
	data, err := json.Marshal(plain)
	switch {
	case err != nil:
		v.vital(runtimeSpecPath, "cannot be written as JSON")
		return
	case len(data) > maxRuntimeSpec:
		v.vital(runtimeSpecPath, "is larger than 256 KiB; containerd copies it for each container, so use a smaller one")
		return
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	_ = decoder.Decode(&tree) // it has just been encoded
	c := &specCheck{v}
	c.check(runtimeSpecPath, "spec", tree)
	c.rules(tree.(map[string]any))
}

// specCheck compares a specification with the table.
type specCheck struct{ *validator }

func (c *specCheck) check(path, want string, data any) {
	fields := specFields(want)
	switch list, isList := data.([]any); {
	case data == nil && fields == "": // it removes a value of the default
	case strings.HasPrefix(want, "[]"):
		if !isList {
			c.vital(path, "must be a list")
		}
		for i, item := range list {
			if at := document.IndexPath(path, i); item == nil {
				c.vital(at, "is null; leave it out")
			} else {
				c.check(at, want[2:], item)
			}
		}
	case fields != "" || strings.HasPrefix(want, "{}"):
		entries, isMap := data.(map[string]any)
		if !isMap {
			c.vital(path, "must be a map")
		}
		for name, value := range entries {
			at := document.FieldPath(path, name)
			switch of := fieldType(fields, name); {
			case fields == "":
				c.check(at, want[2:], value)
			case of != "":
				c.check(at, of, value)
			default:
				c.vital(at, unknown(name, fields))
			}
		}
	default:
		c.scalar(path, want, data)
	}
}

// unknown returns why a field that is not in the table is refused: most often it is misspelled, and the limit that it should set
// would be missing. containerd accepts a name in any case, so it would not notice the difference that matters to a merge.
func unknown(name, fields string) string {
	for word := range strings.FieldsSeq(fields) {
		if field, _, _ := strings.Cut(word, ":"); strings.EqualFold(name, field) {
			return "is spelled " + field + " in the OCI runtime specification"
		}
	}
	return "is no field of the OCI runtime specification 1.3, and containerd would pass over it; leave it out"
}

func (c *specCheck) scalar(path, want string, data any) {
	var reason string
	switch want[0] {
	case 's':
		_, ok := data.(string)
		reason = unless(ok, "must be a text")
	case 'b':
		_, ok := data.(bool)
		reason = unless(ok, "must be true or false")
	case '-':
		reason = "is for another operating system than Linux; leave it out"
	default:
		reason = unless(isWhole(data, want), "must be a whole number of "+want[1:]+" bits"+unless(want[0] == 'i', ", and not negative"))
	}
	if reason != "" {
		c.vital(path, reason)
	}
}

// isWhole reports whether data is a number in a type's range, written without a point or an exponent.
func isWhole(data any, of string) bool {
	number, ok := data.(json.Number)
	bits, _ := strconv.Atoi(of[1:])
	var err error
	if of[0] == 'u' {
		_, err = strconv.ParseUint(number.String(), 10, bits)
	} else {
		_, err = strconv.ParseInt(number.String(), 10, bits)
	}
	return ok && err == nil
}

// rules validates values of the right types.
func (c *specCheck) rules(spec map[string]any) {
	if version, ok := spec["ociVersion"].(string); ok && !strings.HasPrefix(version, "1.") {
		c.vital(runtimeSpecPath+".ociVersion", "must be a version 1 of the OCI runtime specification, such as 1.1.0")
	}
	process, _ := spec["process"].(map[string]any)
	c.limits(runtimeSpecPath+".process.rlimits", process["rlimits"])
	c.absolute(runtimeSpecPath+".mounts", spec["mounts"], "destination")
	hooks, _ := spec["hooks"].(map[string]any)
	for name := range hooks {
		if fieldType(specFields("hooks"), name) != "" {
			c.absolute(runtimeSpecPath+".hooks."+name, hooks[name], "path")
		}
	}
}

// limits validates resource limits. If the kernel or runc refuses one, no container starts (runc: utils_linux.go,
// createLibContainerRlimit; getrlimit(2)).
func (c *specCheck) limits(path string, data any) {
	seen := make(map[string]bool)
	list, _ := data.([]any)
	for i, item := range list {
		limit, _ := item.(map[string]any)
		if limit == nil {
			continue
		}
		of, isText := limit["type"].(string)
		soft, hard := whole(limit["soft"]), whole(limit["hard"])
		name, named := strings.CutPrefix(of, "RLIMIT_")
		reason := ""
		switch {
		case limit["type"] == nil || limit["soft"] == nil || limit["hard"] == nil:
			reason = "must have type, soft and hard"
		case !isText: // already reported
		case !named || !slices.Contains(limitNames, name):
			reason = "is not a resource limit; use RLIMIT_ and one of " + strings.Join(limitNames, ", ")
		case seen[of]:
			reason = "has the type of an earlier limit"
		case soft > hard:
			reason = "has a soft limit above its hard limit"
		}
		if seen[of] = true; reason != "" {
			c.vital(document.IndexPath(path, i), reason)
		}
	}
}

func whole(data any) uint64 {
	number, _ := data.(json.Number)
	n, _ := strconv.ParseUint(number.String(), 10, 64)
	return n
}

// absolute checks that the paths of a list are absolute (OCI runtime specification: config.md, "mounts" and "hooks").
func (c *specCheck) absolute(path string, data any, field string) {
	list, _ := data.([]any)
	for i, item := range list {
		entry, _ := item.(map[string]any)
		text, isText := entry[field].(string)
		if entry != nil && (isText || entry[field] == nil) && !strings.HasPrefix(text, "/") {
			c.vital(document.IndexPath(path, i)+"."+field, "must be an absolute path")
		}
	}
}
