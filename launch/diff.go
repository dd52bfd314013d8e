package launch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/node"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Drift is what a difference between a node and what is wanted takes.
type Drift string

// The classes, the least first.
const (
	// Ignore takes nothing: it changes no node.
	Ignore Drift = "ignore"
	// Refresh takes nothing of a node that runs: the next launch has it.
	Refresh Drift = "refresh"
	// InPlace takes a change of the running node: the agent's apply, or a call of the cloud.
	InPlace Drift = "in place"
	// Replace takes another machine.
	Replace Drift = "replace"
)

var classes = []Drift{Ignore, Refresh, InPlace, Replace}

// takes is the place of a class: a greater one takes more.
func (d Drift) takes() int { return slices.Index(classes, d) }

// driftRow is what a difference in a field, and below it, takes.
type driftRow struct {
	path   string
	class  Drift
	reason string
}

// drifts are the rows; the longest path that has a field within counts.
var drifts = []driftRow{
	{"$.node", InPlace, "the agent applies a changed contract"},
	{"$.node.metadata", Ignore, "it names the document, and changes no node"},
	{"$.node.join", Refresh, "a node that has joined has a certificate of its own"},
	{"$.node.cluster.kubernetesVersion", Replace, "the kubelet of a version is in the image"},
	{"$.node.kubelet.labels", Refresh, "a kubelet sets its labels when it registers; the autoscaler syncs those of a running node"},
	{"$.node.kubelet.taints", Refresh, "a kubelet sets its taints when it registers; the autoscaler syncs those of a running node"},
	{"$.node.kubelet.dataDisk", Replace, "the kubelet's data is not moved"},
	{"$.node.runtime.containerd.dataDir", Replace, "the runtime's data is not moved"},
	{"$.node.network.plugin", Replace, "pods keep the network that they were started with"},
	{"$.node.system.localStorage", Replace, "the disks are arranged once"},
	{"$.node.system.gpu", Replace, "the driver is installed once"},
	{"$.node.cloud.instanceType", Replace, "a machine keeps its size"},
	{"$.node.components.layout", Replace, "a node keeps its layout"},
	{"$.machine", Replace, "a machine is made with it"},
	{"$.machine.type", Ignore, "it is what is known of the instance type; the type itself is compared by its name"},
	{"$.machine.type.name", Replace, "a machine keeps its size"},
	{"$.machine.memoryOverhead", Ignore, "it is what a scheduler is told, and changes no node"},
	{"$.machine.capacity", Ignore, "it is what a scheduler is told, and changes no node"},
	{"$.machine.allocatable", Ignore, "it is what a scheduler is told; what the kubelet keeps back is compared"},
	{"$.machine.gpuDriver", Ignore, "the driver that is installed for it is compared"},
	{"$.machine.streaming", Ignore, "the runtime's own setting is compared"},
	{"$.machine.maxPods", Ignore, "the kubelet's own number, and the addresses, follow from it and are compared"},
	{"$.machine.image.wanted", Ignore, "the family that was chosen for it is compared"},
	{"$.machine.network.clusterID", Ignore, "the names that have it are compared"},
	{"$.machine.network.dns", Ignore, "what the kubelet is told of it is compared"},
	{"$.machine.adminUser", Refresh, "who may log in is set when a machine is made"},
	{"$.machine.sshPublicKey", Refresh, "who may log in is set when a machine is made"},
	{"$.machine.userData", Replace, "a machine runs it when it boots for the first time"},
	{"$.machine.identities", InPlace, "the cloud changes them on a machine that runs"},
	{"$.machine.tags", InPlace, "the cloud changes them on a machine that runs"},
}

func driftOf(path string) driftRow {
	var row driftRow
	for _, d := range drifts {
		if document.Within(path, d.path) && len(d.path) > len(row.path) {
			row = d
		}
	}
	return row
}

// RecordKind is the kind of a [Record]; its apiVersion is the native contract's.
const RecordKind = "LaunchTemplate"

// Record is a template as it is kept and compared. It holds nothing that is secret.
type Record struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Key is [Template.Key].
	Key string `json:"key"`
	// Values are all values, by their paths.
	Values map[string]string `json:"values"`
	// ExtensionCommand is [Template.ExtensionCommand]; empty for a machine that has none. It is not compared: it is the image's.
	ExtensionCommand string `json:"extensionCommand,omitempty"`
	// Annotations are [Template.Annotations]. They are not compared.
	Annotations []string `json:"annotations,omitempty"`
	// Contract is the node's contract with the word "secret" for each of its secrets, without a token, and with digests for what its files,
	// units and commands hold: what a change takes on the node follows from it. It is empty where that is not to be known.
	Contract json.RawMessage `json:"contract,omitempty"`
}

// Record is the template's.
func (t *Template) Record() *Record {
	return &Record{
		APIVersion: nodeconfig.APIVersion, Kind: RecordKind, Key: t.Key(), Values: values(&t.Document),
		ExtensionCommand: t.ExtensionCommand(), Annotations: t.Annotations(), Contract: forPlan(node.WithoutSecrets(&t.Document.Node, "secret")),
	}
}

// ErrUnknown is wrapped by the error of a record that cannot be compared. Such a node is not to be replaced for it.
var ErrUnknown = errors.New("it is not known how the node was made")

// ParseRecord reads a record in JSON. The error wraps [ErrUnknown].
func ParseRecord(data []byte) (*Record, error) {
	var r Record
	switch err := json.Unmarshal(data, &r); {
	case err != nil:
		return nil, fmt.Errorf("%w: the record is not one: %w", ErrUnknown, err)
	case r.APIVersion != nodeconfig.APIVersion || r.Kind != RecordKind:
		return nil, fmt.Errorf("%w: the record is not a %s of %s", ErrUnknown, RecordKind, nodeconfig.APIVersion)
	case !strings.HasPrefix(r.Key, keyVersion):
		return nil, fmt.Errorf("%w: the record was made by a version that names nodes in another way", ErrUnknown)
	case len(r.Values) == 0:
		return nil, fmt.Errorf("%w: the record has no values", ErrUnknown)
	}
	for path := range r.Values {
		if driftOf(path).class == "" {
			return nil, fmt.Errorf("%w: the record has values that no node has", ErrUnknown)
		}
	}
	return &r, nil
}

// Change is one difference.
type Change struct {
	Path string `json:"path"`
	// Old and New are the values for people, empty for none.
	Old    string `json:"old"`
	New    string `json:"new"`
	Class  Drift  `json:"class"`
	Reason string `json:"reason"`
}

// Diff lists how a running node differs from the wanted one, those that take most first. What is ignored is in it, too. A
// record holds no secret; [Compare] sees those that differ. [CompareRecords] also says what a change takes on the node.
func Diff(running, wanted *Record) []Change { return differences(running.Values, wanted.Values) }

// secretChanged stands for the values of a secret that changed. Neither is shown.
const secretChanged = "changed"

// differences are those of two sets of values, by their paths.
func differences(running, wanted map[string]string) []Change {
	paths := make([]string, 0, len(wanted))
	for path, value := range wanted {
		if old, had := running[path]; !had || old != value { // an empty label is one that there is
			paths = append(paths, path)
		}
	}
	for path := range running {
		if _, still := wanted[path]; !still {
			paths = append(paths, path)
		}
	}
	var changes []Change
	for _, path := range paths {
		d := driftOf(path)
		old, value := running[path], wanted[path]
		if old == nodeconfig.Redacted || value == nodeconfig.Redacted {
			value, old = secretChanged, ""
		}
		changes = append(changes, Change{path, old, value, d.class, d.reason})
	}
	sortChanges(changes)
	return changes
}

// sortChanges puts those that take most first.
func sortChanges(changes []Change) {
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(b.Class.takes()-a.Class.takes(), strings.Compare(a.Path, b.Path))
	})
}

// Greatest is the class of several changes together; Ignore for none.
func Greatest(changes []Change) Drift {
	greatest := 0
	for _, c := range changes {
		greatest = max(greatest, c.Class.takes())
	}
	return classes[greatest]
}
