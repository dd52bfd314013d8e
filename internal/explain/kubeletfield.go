package explain

import (
	_ "embed" // the texts
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/kubeletapi"
)

// kubeletFields has a line for each field of the kubelet's configuration: its struct and name, the default of the newest supported
// kubelet, and what the field is (Kubernetes: staging/src/k8s.io/kubelet/config/v1beta1, pkg/kubelet/apis/config/v1beta1/defaults.go).
//
//go:embed kubeletfields.txt
var kubeletFields string

// kubeletField is a field of the kubelet's configuration. byDefault is empty if the kubelet has no default for it.
type kubeletField struct{ byDefault, text string }

// kubeletTexts are the fields by struct and name.
var kubeletTexts = sync.OnceValue(func() map[string]kubeletField {
	all := make(map[string]kubeletField)
	for line := range strings.Lines(kubeletFields) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), "|")
		byDefault, text, _ := strings.Cut(rest, "|")
		all[name] = kubeletField{byDefault, text}
	}
	return all
})

// ofKubelet describes a setting of the kubelet: what it is, the kubelet's default, and the fields inside.
func (x *Explanation) ofKubelet(names []string) {
	field, inside := kubeletapi.PlaceOf(names)
	if known, ok := kubeletTexts()[field]; ok {
		x.Description, x.KubeletDefault = known.text, known.byDefault
	}
	if inside == "" {
		return
	}
	for _, name := range kubeletapi.FieldsOf(inside) {
		x.Fields = append(x.Fields, Listed{name, kubeletTexts()[inside+" "+name].text})
	}
}
