package capacity

import "strconv"

// Node is what a node can hold.
type Node struct {
	// MaxPods is how many pods it can run.
	MaxPods int `json:"maxPods"`
	// KubeReserved is kept back for the system: "cpu", "memory", "ephemeral-storage", as a kubelet reads them (kubeReserved).
	KubeReserved map[string]string `json:"kubeReserved"`
	// EvictionHard are the thresholds below which pods are evicted, by signal (evictionHard).
	EvictionHard map[string]string `json:"evictionHard"`
	// Derivation is how each number came to be, in the order of the numbers above.
	Derivation []Step `json:"derivation"`
}

// Step is how one number came to be.
type Step struct {
	// Name is what the number is for: "maxPods", "kubeReserved.cpu", "evictionHard.memory.available".
	Name string `json:"name"`
	// Value is the number, as a kubelet reads it.
	Value string `json:"value"`
	// How is the calculation, with its numbers.
	How string `json:"how"`
	// Source is where the rule was read.
	Source string `json:"source"`
}

// The names of the numbers: fields of the kubelet's configuration, with resources and signals as a kubelet has them.
const (
	kubeReserved     = "kubeReserved."
	evictionHard     = "evictionHard."
	maxPods          = "maxPods"
	cpu              = kubeReserved + "cpu"
	memory           = kubeReserved + "memory"
	ephemeralStorage = kubeReserved + "ephemeral-storage"
	memoryAvailable  = evictionHard + "memory.available"
	nodefsAvailable  = evictionHard + "nodefs.available"
	nodefsInodesFree = evictionHard + "nodefs.inodesFree"
)

// mostSteps is how many numbers a node has: a scheduler computes many nodes.
const mostSteps = 7

func newNode() *Node {
	return &Node{KubeReserved: make(map[string]string), EvictionHard: make(map[string]string), Derivation: make([]Step, 0, mostSteps)}
}

// pods sets the number of pods.
func (n *Node) pods(count int, how, source string) {
	n.MaxPods = count
	n.Derivation = append(n.Derivation, Step{maxPods, strconv.Itoa(count), how, source})
}

func (n *Node) reserve(name, value, how, source string) {
	n.KubeReserved[name[len(kubeReserved):]] = value
	n.Derivation = append(n.Derivation, Step{name, value, how, source})
}

func (n *Node) evict(name, value, how, source string) {
	n.EvictionHard[name[len(evictionHard):]] = value
	n.Derivation = append(n.Derivation, Step{name, value, how, source})
}

// band is a part of a machine, of which a share is kept back.
type band struct {
	// width is how large the part is; 0 for all that is left.
	width int64
	// share is in hundredths of a percent, and percent is the same as text.
	share   int64
	percent string
}

// reserved adds up the shares of an amount, and says how. Each is rounded down by itself, or else the sum.
func reserved(amount int64, bands []band, unit string, each bool) (total int64, how string) {
	const whole = 10000
	text := make([]byte, 0, 96)
	for i, b := range bands {
		part := amount
		if b.width > 0 {
			part = min(amount, b.width)
		}
		if part <= 0 {
			break
		}
		kept := part * b.share
		if each {
			kept -= kept % whole
		}
		total += kept
		if i > 0 {
			text = append(text, " + "...)
		}
		text = append(append(text, b.percent...), " % of "...)
		text = append(strconv.AppendInt(text, part, 10), unit...)
		amount -= part
	}
	return total / whole, string(text)
}

// podMemory says how memory is kept back: so much for each pod, and so much beside that, in MiB.
func podMemory(each, pods, base int) string {
	return strconv.Itoa(each) + " Mi × " + strconv.Itoa(pods) + " pods + " + strconv.Itoa(base) + " Mi"
}
