package containerdapi

import "slices"

// needed are plug-ins without which the CRI plug-ins do not start, or containerd has no socket. Its default snapshotter is not among them,
// because a configuration may name another one. The rows are measured: each release was started with each of its plug-ins disabled
// (test/crosscheck). If since or until is empty, no older or newer release differs that has the plug-in.
var needed = []struct{ name, since, until string }{
	{"io.containerd.content.v1.content", "", ""},
	{"io.containerd.differ.v1.walking", "", ""},
	{"io.containerd.event.v1.exchange", "", ""},
	{"io.containerd.gc.v1.scheduler", "", ""},
	{"io.containerd.image-verifier.v1.bindir", "2.1", "2.2"},
	{"io.containerd.lease.v1.manager", "", ""},
	{"io.containerd.metadata.v1.bolt", "", ""},
	{"io.containerd.mount-manager.v1.bolt", "", ""},
	{"io.containerd.podsandbox.controller.v1.podsandbox", "", ""},
	{"io.containerd.runtime.v1.linux", "", ""},
	{"io.containerd.runtime.v2.shim", "", ""},
	{"io.containerd.runtime.v2.task", "", ""},
	{"io.containerd.sandbox.controller.v1.local", "", ""},
	{"io.containerd.sandbox.controller.v1.shim", "", ""},
	{"io.containerd.sandbox.store.v1.local", "", ""},
	{serverGRPC, "", ""},
	{"io.containerd.service.v1.containers-service", "", ""},
	{"io.containerd.service.v1.content-service", "", ""},
	{"io.containerd.service.v1.diff-service", "", ""},
	{"io.containerd.service.v1.images-service", "", ""},
	{"io.containerd.service.v1.namespaces-service", "", ""},
	{"io.containerd.service.v1.snapshots-service", "", ""},
	{"io.containerd.service.v1.tasks-service", "", ""},
	{"io.containerd.shim.v1.manager", "", ""},
	{"io.containerd.transfer.v1.local", "2.1", ""},
}

// Needs reports whether each of the releases that has a plug-in needs it for the CRI plug-in.
func (r Releases) Needs(name string) bool {
	for _, row := range needed {
		if row.name == name && r.HasPlugin(name) {
			return (row.since == "" || r.AtLeast(row.since)) && (row.until == "" || r.last <= slices.Index(known().minors, row.until))
		}
	}
	return false
}
