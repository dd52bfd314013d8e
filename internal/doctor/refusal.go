package doctor

import (
	"slices"
	"strconv"
	"strings"
)

// refusals are the texts with which a kubelet ends because of what it was given, the most precise first (k8s.io/kubernetes
// cmd/kubelet/app/server.go and pkg/kubelet/apis/config/validation; github.com/spf13/pflag; k8s.io/component-base/featuregate).
var refusals = []struct{ marker, cause, what string }{
	{"unknown flag: ", "refused", "a flag that it does not know"},
	{"unknown shorthand flag: ", "refused", "a flag that it does not know"},
	{"flag needs an argument: ", "refused", "a flag without a value"},
	{"invalid argument ", "refused", "a flag with a value that it refuses"},
	{"unrecognized feature gate: ", "refused", "a feature gate that it does not know"},
	{"cannot set feature gate ", "refused", "a feature gate that cannot be changed"},
	{"invalid configuration: ", "refused", "a setting that it refuses"},
	{"failed to validate kubelet configuration", "refused", "a setting that it refuses"},
	{"strict decoding error: ", "refused", "a setting that it does not know"},
	{"running with swap on is not supported", "refused", "swap, which it refuses (failSwapOn)"},
	{"misconfiguration: kubelet cgroup driver", "refused", "a cgroup driver that is not the runtime's"},
	{"invalid kernel flag: ", "refused", "a kernel parameter that it refuses (protectKernelDefaults)"},
	{"kubelet is configured to not run on a host using cgroup v1", "refused", "control groups of version 1, which it refuses (failCgroupV1)"},
	{"failed to load kubelet config file", "file", "a configuration that it cannot read"},
	{"failed to load Kubelet config file", "file", "a configuration that it cannot read"},
	{"failed to read kubelet config file", "file", "a configuration that it cannot read"},
	{"unable to load bootstrap kubeconfig", "file", "a kubeconfig that it cannot read"},
	{"unable to load client CA file", "file", "a CA that it cannot read"},
	{"failed to construct kubelet dependencies", "file", "a file that it cannot read"},
}

// refused is what a kubelet has refused.
type refused struct{ cause, what, text string }

// refusal finds in a kubelet's lines what it has refused: in the newest line that has such a text.
func refusal(lines []string) (refused, bool) {
	for _, line := range slices.Backward(lines) {
		text := errorText(line)
		for _, r := range refusals {
			if at := strings.Index(text, r.marker); at >= 0 {
				// The text before "invalid configuration" repeats it.
				shown := text
				if r.cause == "refused" {
					shown = text[at:]
				}
				return refused{r.cause, r.what, strings.TrimSpace(shown)}, true
			}
		}
	}
	return refused{}, false
}

// errorText is the error of a line of a Kubernetes program's log: the value of err= of a structured line
// (k8s.io/klog, "E1128 12:00:00.000000 1 run.go:72] \"command failed\" err=\"...\""), or the line without its head.
func errorText(line string) string {
	const field = "err="
	if i := strings.LastIndex(line, " "+field); i >= 0 {
		value := line[i+1+len(field):]
		if quoted, err := strconv.QuotedPrefix(value); err == nil {
			if text, err := strconv.Unquote(quoted); err == nil {
				return text
			}
		}
		return strings.Trim(value, `"`) // it was cut
	}
	if isKlog(line) {
		if _, text, found := strings.Cut(line, "] "); found {
			return text
		}
	}
	return line
}

// isError reports whether a line reports an error: by its head, or by the words of programs without one.
func isError(line string) bool {
	return isKlog(line) && (line[0] == 'E' || line[0] == 'F') || strings.HasPrefix(line, "Error: ") || strings.HasPrefix(line, "panic: ")
}

// isKlog reports whether a line has the head of klog: a letter, and month and day.
func isKlog(line string) bool {
	if len(line) < 6 || !strings.ContainsRune("IWEF", rune(line[0])) || line[5] != ' ' {
		return false
	}
	_, err := strconv.ParseUint(line[1:5], 10, 16)
	return err == nil
}
