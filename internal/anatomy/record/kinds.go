package record

import (
	"path"
	"slices"
	"strings"
)

// Kind is a kind of document.
type Kind struct {
	Name string
	// Paths are patterns of path.Match for the last elements of a document's name.
	Paths []string
	// Content reports whether a document without a matching name is one of this kind. It may be nil.
	Content func(head []byte) bool
	// Says describes what the document says about a boot.
	Says  string
	parse func(s *sink, data []byte)
}

// Kinds has a row for each kind of document. If several rows match, the first counts.
var Kinds = []Kind{
	{"units", []string{"systemd/units.json", "systemd.json", "units.json"}, isUnits, "systemd's stages; start, end and order of each unit", parseUnits},
	{"systemctl", []string{"systemctl-show.txt", "systemd.show"}, isShow, "the same, as systemctl show prints it", parseShow},
	{"journal", []string{"journal.json", "journal/*.json"}, isJournal, "messages on both clocks, of each boot", parseJournal},
	{"journal-export", []string{"journal.export", "journal/*.export"}, isExport, "the same, in the journal's export format", parseExport},
	{"cloud-init", []string{"cloud-init.log", "cloud-init.log.1"}, nil, "cloud-init's stages and modules; files that it wrote, scripts that it ran", parseCloudInit},
	{"cloud-init-output", []string{"cloud-init-output.log"}, nil, "scripts that ran in cloud-init's stages", parseCloudInitOutput},
	{"cloud-init-status", []string{"cloud-init/status.json", "cloud/data/status.json"}, nil, "start and end of cloud-init's stages", parseCloudInitStatus},
	{"guest-agent", []string{"waagent.log"}, nil, "Azure's guest agent: its start, extensions, their operations", parseGuestAgent},
	{"custom-script", []string{"custom-script/handler.log"}, nil, "the custom script extension: version, operation, sequence", parseHandler},
	{"custom-script-output", []string{"download/*/stdout", "download/*/stderr", "cluster-provision.log", "cluster-provision-cse-output.log"}, nil, "the extension's output, with the trace of its shell", parseOutput},
	{"azure-event", []string{"Microsoft.Azure.Extensions.CustomScript/events/*.json", "azure/events/*.json"}, nil, "start and end of each step of AKS's scripts", parseAzureEvent},
	{"provision", []string{"azure/aks/provision.json", "provision.json"}, nil, "the result of a provisioning of AKS, with seven times", parseProvision},
	{"slipway", []string{"slipway/status.json", "status.json"}, isStatus, "Slipway's sources and steps", parseStatus},
	{"kernel", []string{"dmesg", "dmesg.txt", "dmesg.log", "kern.log"}, nil, "the kernel's messages", parseKernel},
	{"syslog", []string{"syslog", "syslog.1", "messages", "syslog.log"}, nil, "messages with the machine's clock", parseSyslog},
	{"listing", []string{"files.json"}, isListing, "files on the machine, with their times", parseListing},
	{"resource", []string{"resource.json", "vm.json", "vmss.json"}, isResource, "a virtual machine or scale set: image, custom data, extensions", parseResource},
	{clusterKind, []string{"node.json", "nodes.json", "events.json", "csr.json", "cluster.json"}, isCluster, "the cluster's view: Node, events, certificate requests", parseCluster},
}

// clusterKind is the kind of the cluster's view.
const clusterKind = "cluster"

// order is the kind's row.
func (k *Kind) order() int {
	return slices.IndexFunc(Kinds, func(other Kind) bool { return other.Name == k.Name })
}

// kindOf returns the kind of a document, or nil.
func kindOf(d Document) *Kind {
	for i := range Kinds {
		for _, pattern := range Kinds[i].Paths {
			if matches(pattern, d.Name) {
				return &Kinds[i]
			}
		}
	}
	head := d.Data[:min(len(d.Data), 4096)]
	for i := range Kinds {
		if Kinds[i].Content != nil && Kinds[i].Content(head) {
			return &Kinds[i]
		}
	}
	return nil
}

// matches reports whether the last elements of a name match a pattern.
func matches(pattern, name string) bool {
	n := strings.Count(pattern, "/") + 1
	elements := strings.Split(name, "/")
	if len(elements) < n {
		return false
	}
	ok, err := path.Match(pattern, strings.Join(elements[len(elements)-n:], "/"))
	return err == nil && ok
}

// SavedName is the name under which a bundle has a node's set of documents, or a timeline. Package anatomy reads both.
const SavedName = "timeline.json"

// Wanted reports whether a file with this name may have records, so that a caller reads no other file of a directory.
func Wanted(name string) bool {
	if matches(SavedName, name) {
		return true
	}
	for i := range Kinds {
		for _, pattern := range Kinds[i].Paths {
			if matches(pattern, name) {
				return true
			}
		}
	}
	return false
}
