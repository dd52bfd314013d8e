package anatomy

import (
	"encoding/json"
	"fmt"
	"strings"
)

// bootID is the boot of [node].
const bootID = "5be1fcf05caf4c5e9e4d70d6a93f7d08"

// kernelStart is the wall-clock time of the kernel's start in [node], in microseconds since 1970.
const kernelStart = 1_764_200_000_000_000

// unit is a unit of [node], with its times in milliseconds.
type unit struct {
	name       string
	start, end int64
	after      string
}

// nodeUnits are the units of a small node.
var nodeUnits = []unit{
	{"-.mount", 2610, 2610, ""},
	{"local-fs.target", 2700, 2700, "-.mount"},
	{"systemd-networkd.service", 3000, 3400, "local-fs.target"},
	{"containerd.service", 2720, 7100, "local-fs.target"},
	{"slipway-provision.service", 2750, 12500, "local-fs.target"},
	{"kubelet.service", 7600, 7650, "containerd.service network-online.target"},
	{"late.service", 7700, 14000, "kubelet.service"},
}

// node is the documents of a boot: systemd's units and as many others, a journal with records in between, cloud-init's log and the
// agent's status.
func node(otherUnits, otherRecords int) []Document {
	return []Document{
		{Name: "systemd/units.json", Data: unitsDocument(otherUnits)},
		{Name: "journal.json", Data: journalDocument(otherRecords)},
		{Name: "slipway/status.json", Data: statusDocument()},
	}
}

func unitsDocument(others int) []byte {
	list := []map[string]any{}
	add := func(u unit) {
		list = append(list, map[string]any{
			"Id": u.name, "After": strings.Fields(u.after), "ActiveState": "active", "Result": "success",
			"InactiveExitTimestampMonotonic": u.start * 1000, "InactiveExitTimestamp": kernelStart + u.start*1000,
			"ActiveEnterTimestampMonotonic": u.end * 1000, "ActiveEnterTimestamp": kernelStart + u.end*1000,
			"ExecMainStartTimestampMonotonic": u.start*1000 + 5,
		})
	}
	for _, u := range nodeUnits {
		add(u)
	}
	for i := range int64(others) {
		add(unit{fmt.Sprintf("other-%d.service", i), 2600 + 10*i, 2605 + 12*i, "local-fs.target system.slice sysinit.target basic.target"})
	}
	data, err := json.Marshal(map[string]any{"bootID": bootID, "hostname": "node-1", "units": list, "manager": map[string]any{
		"FirmwareTimestampMonotonic": 3_000_000, "LoaderTimestampMonotonic": 1_000_000, "KernelTimestamp": kernelStart, "KernelTimestampMonotonic": 0,
		"InitRDTimestampMonotonic": 600_000, "UserspaceTimestampMonotonic": 2_100_000, "UserspaceTimestamp": kernelStart + 2_100_000,
		"GeneratorsStartTimestampMonotonic": 2_200_000, "GeneratorsFinishTimestampMonotonic": 2_400_000,
		"UnitsLoadStartTimestampMonotonic": 2_400_000, "UnitsLoadFinishTimestampMonotonic": 2_600_000, "FinishTimestampMonotonic": 14_100_000,
	}})
	if err != nil {
		panic(err)
	}
	return data
}

// nodeMessages are the messages of a small node that mark events, with their times in milliseconds.
var nodeMessages = []struct {
	at            int64
	program, text string
}{
	{1100, "kernel", "Linux version 6.1.0-56-cloud-amd64"},
	{3900, "systemd-networkd", "eth0: DHCPv4 address 10.0.0.4/24 via 10.0.0.1"},
	{7090, "containerd", `time="2025-11-26T23:33:27.090000Z" level=info msg="containerd successfully booted in 4.2s"`},
	{7900, "kubelet", `I1126 23:33:27.900000     701 server.go:545] "Kubelet version" kubeletVersion="v1.36.3"`},
	{9000, "kubelet", `I1126 23:33:29.000000     701 kubelet_node_status.go:75] "Attempting to register node" node="node-1"`},
	{9100, "kubelet", `I1126 23:33:29.100000     701 kubelet_node_status.go:78] "Successfully registered node" node="node-1"`},
	{11600, "kubelet", `I1126 23:33:31.600000     701 kubelet_node_status.go:431] "Fast updating node status as it just became ready"`},
}

// journalRecord is a record as journalctl -o json prints it, with all fields that a record of a service usually has.
func journalRecord(boot string, monotonic, wall int64, program, text string) string {
	record := map[string]any{
		"__CURSOR":             fmt.Sprintf("s=6c1e6d7d0f0f4b0e8f4c2f7f7a1d2c3e;i=%x;b=%s;m=%x;t=%x;x=9d0c2f7f7a1d2c3e", monotonic, boot, monotonic, wall),
		"__REALTIME_TIMESTAMP": fmt.Sprint(wall), "__MONOTONIC_TIMESTAMP": fmt.Sprint(monotonic), "_BOOT_ID": boot, "PRIORITY": "6",
		"SYSLOG_FACILITY": "3", "SYSLOG_IDENTIFIER": program, "_TRANSPORT": "journal", "_PID": "701", "_UID": "0", "_GID": "0", "_COMM": program,
		"_EXE": "/usr/bin/" + program, "_CMDLINE": "/usr/bin/" + program, "_CAP_EFFECTIVE": "1ffffffffff", "_SELINUX_CONTEXT": "unconfined\n",
		"_SYSTEMD_CGROUP": "/system.slice/" + program + ".service", "_SYSTEMD_UNIT": program + ".service", "_SYSTEMD_SLICE": "system.slice",
		"_SYSTEMD_INVOCATION_ID": "0f0f4b0e8f4c2f7f7a1d2c3e6c1e6d7d", "_MACHINE_ID": "6c1e6d7d0f0f4b0e8f4c2f7f7a1d2c3e", "_HOSTNAME": "node-1", "MESSAGE": text,
	}
	data, err := json.Marshal(record)
	if err != nil {
		panic(err)
	}
	return string(data) + "\n"
}

func journalDocument(others int) []byte {
	var out strings.Builder
	next := 0
	for i := range int64(others + 1) {
		at := 1_000_000 + i*13_000_000/int64(max(others, 1))
		for next < len(nodeMessages) && (nodeMessages[next].at*1000 <= at || i == int64(others)) {
			m := nodeMessages[next]
			out.WriteString(journalRecord(bootID, m.at*1000, kernelStart+m.at*1000, m.program, m.text))
			next++
		}
		out.WriteString(journalRecord(bootID, at, kernelStart+at, "kubelet", `I1126 23:33:27.900000     701 reconciler_common.go:251] "operationExecutor.VerifyControllerAttachedVolume started for volume"`))
	}
	return []byte(out.String())
}

func statusDocument() []byte {
	return []byte(`{"apiVersion":"slipway.dev/v1","kind":"ProvisionStatus","outcome":"success","exitCode":0,"codeName":"success","agentVersion":"1",
"config":{"path":"/dev/sr0","dialect":"aks","kubernetesVersion":"1.36.3"},"startedAt":"2025-11-26T23:33:23.2Z","durationMs":9200,"unchanged":3,
"sources":[{"name":"azure-ovf","found":true,"result":"/dev/sr0","startMs":100,"durationMs":150}],
"steps":[{"name":"find contract","startMs":90,"durationMs":160},{"name":"wait for address","startMs":260,"durationMs":450},{"name":"plan","startMs":710,"durationMs":90},
{"name":"certificate approval","startMs":900,"durationMs":3100},{"name":"Unit:kubelet.service","startMs":4380,"durationMs":90},{"name":"Check:node","startMs":4500,"durationMs":4600}]}`)
}
