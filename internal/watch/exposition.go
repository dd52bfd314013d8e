package watch

import (
	"bytes"
	"strconv"
	"strings"
)

// The types of metrics.
const (
	gauge   = "gauge"
	counter = "counter"
)

// family is a metric, with all its values.
type family struct {
	name, kind, help string
	samples          []sample
}

// sample is one value of a metric, with the label's value if the metric has a label.
type sample struct {
	label, of string
	value     float64
}

// Escapes in Prometheus's text format, version 0.0.4 (Prometheus: "Exposition formats").
var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// expose writes metrics in that format. A metric without values is left out.
func expose(families []family) []byte {
	var b bytes.Buffer
	for _, f := range families {
		if len(f.samples) == 0 {
			continue
		}
		b.WriteString("# HELP " + f.name + " " + helpEscapes.Replace(f.help) + "\n")
		b.WriteString("# TYPE " + f.name + " " + f.kind + "\n")
		for _, s := range f.samples {
			b.WriteString(f.name)
			if s.label != "" {
				// The format is UTF-8, and a reader refuses all of it for one byte that is not.
				b.WriteString("{" + s.label + `="` + labelEscapes.Replace(strings.ToValidUTF8(s.of, "\uFFFD")) + `"}`)
			}
			b.WriteString(" " + strconv.FormatFloat(s.value, 'g', -1, 64) + "\n")
		}
	}
	return b.Bytes()
}
