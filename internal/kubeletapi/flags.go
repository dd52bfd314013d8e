package kubeletapi

import (
	"encoding/csv"
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/quantity"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// LeftOut reports whether a kubelet of a minor version does not have a flag that other versions have. The flag is then left out,
// and the node works without it.
func LeftOut(minor int, name string) bool {
	t := known()
	p := t.find(t.flags, "", flagName(name), "flag", minor)
	return p.kind == "" && p.elsewhere
}

// FieldOf returns the field of the configuration that a flag sets in a kubelet of a minor version, with dots between names. It
// returns "" for a flag without a field.
func FieldOf(minor int, name string) string {
	t := known()
	return t.find(t.flags, "", flagName(name), "flag", minor).field
}

// flagName returns a flag's name as the kubelet normalizes it (component-base cli/flag, WordSepNormalizeFunc).
func flagName(name string) string { return strings.ReplaceAll(name, "_", "-") }

// flag checks a flag by itself, and keeps its value for the rules of its field.
func (c *checker) flag(j *judge, f Flag) {
	name := flagName(f.Name)
	p := c.find(c.flags, "", name, "flag", c.minor)
	switch {
	case p.kind == "" && p.elsewhere:
		c.Report(false, nodeconfig.Dropped, f.At, "--"+name+" is left out: "+p.why)
		return
	case p.kind == "":
		fatal, reason := c.minor <= c.newest, "--"+name+": "+p.why
		if fatal {
			reason += "; this node's kubelet would not start"
		}
		c.unknownName(fatal, f.At, reason, c.flags, "", name, p)
		return
	case name == "feature-gates":
		c.gateFlag(j, f)
		return
	}
	if f.Value == "" && (p.kind == "ip" || p.kind == "memory" || p.kind == "vmodule") {
		return // pkg/util/flag, IPVar and ReservedMemoryVar; vmoduleOf: as if the flag were absent
	}
	field := p.field
	if field == "" {
		field = "--" + name
	}
	before := j.over[field].v
	if p.kind == "vmodule" {
		before = j.get(field).v // the file's, too
	}
	v, ok := flagValue(p.kind, f.Value, before)
	if !ok {
		c.Report(true, nodeconfig.WrongType, f.At, "--"+name+": want "+inWords(p.kind)+"; the kubelet would not start")
		return
	}
	if j.over == nil {
		j.over = make(map[string]value)
	}
	j.over[field] = value{v: v, at: f.At, flag: name}
}

// gateFlag checks the gates in a flag: "A=true,B=false".
func (c *checker) gateFlag(j *judge, f Flag) {
	for pair := range strings.SplitSeq(f.Value, ",") {
		if pair == "" {
			continue
		}
		name, state, _ := strings.Cut(pair, "=")
		on, err := strconv.ParseBool(strings.TrimSpace(state))
		if err != nil {
			c.Report(true, nodeconfig.Invalid, f.At, "--feature-gates: must be names and values, such as A=true,B=false; the kubelet would not start")
			return
		}
		name = strings.TrimSpace(name)
		c.gate(f.At, name)
		j.gates.set(name, gate{on: on, at: f.At, flag: true})
	}
}

// flagValue applies a flag's text to the value that earlier flags have set for the field, or to nil.
func flagValue(kind, text string, before any) (_ any, ok bool) {
	switch kind {
	case "b":
		on, err := strconv.ParseBool(text)
		return on, err == nil
	case "q":
		_, ok := quantity.Parse(text)
		return text, ok
	case "i", "l":
		n, err := strconv.ParseInt(text, 0, map[string]int{"i": 32, "l": 64}[kind])
		return json.Number(strconv.FormatInt(n, 10)), err == nil
	case "n":
		_, err := strconv.ParseUint(text, 10, 31)
		return json.Number(text), err == nil
	case "u":
		n, err := strconv.ParseUint(text, 0, 32)
		return json.Number(strconv.FormatUint(n, 10)), err == nil
	case "f", "d":
		return text, parses(kind, text)
	case "ip":
		return text, text == "" || isIP(text)
	case "[]":
		list, _ := before.([]any)
		if text == "" {
			return list, true
		}
		words, err := csv.NewReader(strings.NewReader(text)).Read()
		for _, word := range words {
			list = append(list, word)
		}
		return list, err == nil
	case "vmodule":
		return vmoduleOf(text, before)
	case "taints":
		return taintsOf(text)
	case "memory":
		return reservedMemoryOf(text, before)
	}
	if separator, isMap := strings.CutPrefix(kind, "{}"); isMap {
		return pairsOf(text, separator, before)
	}
	return text, true
}

// pairsOf parses names and values. A separator of "1" means that the flag has one pair, with "=" between.
func pairsOf(text, separator string, before any) (map[string]any, bool) {
	pairs, _ := before.(map[string]any)
	if pairs == nil {
		pairs = make(map[string]any)
	}
	isOne := separator == "1"
	all := []string{text}
	if isOne {
		separator = "="
	} else {
		all = strings.Split(text, ",")
	}
	for _, pair := range all {
		name, of, ok := strings.Cut(pair, separator)
		switch {
		case !ok && (isOne || pair != ""):
			return nil, false
		case ok:
			pairs[strings.TrimSpace(name)] = strings.TrimSpace(of)
		}
	}
	return pairs, true
}

// vmoduleOf converts a flag's verbosities of files to the configuration's form. The kubelet adds them to those before
// (k8s.io/component-base logs/api/v1, vmoduleConfigurationPFlag).
func vmoduleOf(text string, before any) (list []any, ok bool) {
	list, _ = before.([]any)
	list = slices.Clip(list) // the file's stays as it is
	for item := range strings.SplitSeq(text, ",") {
		if item == "" {
			continue
		}
		pattern, verbosity, _ := strings.Cut(item, "=")
		if _, err := strconv.ParseUint(verbosity, 10, 31); err != nil || pattern == "" {
			return nil, false
		}
		list = append(list, map[string]any{"filePattern": pattern, "verbosity": json.Number(verbosity)})
	}
	return list, true
}

// taintsOf converts a flag's taints to the configuration's form (pkg/util/taints, ParseTaints: one with a trailing "-" is accepted
// and left out).
func taintsOf(text string) (list []any, ok bool) {
	type pair struct{ key, effect string }
	seen := make(map[pair]bool)
	for _, taint := range strings.Split(text, ",") {
		if text == "" {
			break
		}
		taint, removes := strings.CutSuffix(taint, "-")
		key, effect, hasEffect := strings.Cut(taint, ":")
		key, of, _ := strings.Cut(key, "=")
		if !hasEffect && strings.Contains(taint, "=") || strings.Contains(of, "=") || !isQualifiedName(key) || of != "" && !isLabelValue(of) ||
			hasEffect && !isTaintEffect(effect) || !removes && (!hasEffect || seen[pair{key, effect}]) {
			return nil, false
		}
		if !removes {
			seen[pair{key, effect}] = true
			list = append(list, map[string]any{"key": key, "value": of, "effect": effect})
		}
	}
	return list, true
}

// reservedMemoryOf converts a flag's memory to the configuration's form (pkg/util/flag, ReservedMemoryVar).
func reservedMemoryOf(text string, before any) (list []any, ok bool) {
	list, _ = before.([]any)
	for _, node := range strings.Split(text, ";") {
		id, limits, ok := strings.Cut(node, ":")
		n, err := strconv.Atoi(id)
		if !ok || err != nil {
			return nil, false
		}
		of := make(map[string]any)
		for _, limit := range strings.Split(limits, ",") {
			name, amount, _ := strings.Cut(limit, "=")
			if _, ok := quantity.Parse(amount); !ok || !isMemory(name) {
				return nil, false
			}
			of[name] = amount
		}
		list = append(list, map[string]any{"numaNode": json.Number(strconv.Itoa(int(int32(n)))), "limits": of})
	}
	return list, true
}

// isIP reports whether a string is an IP address for Kubernetes.
func isIP(text string) bool {
	addr, err := netip.ParseAddr(plainIP(text))
	return err == nil && addr.Zone() == ""
}

// plainIP removes leading zeros in an address's numbers, which Kubernetes accepts (k8s.io/utils/net, ParseIPSloppy).
func plainIP(text string) string {
	if strings.Contains(text, ":") {
		return text
	}
	parts := strings.Split(text, ".")
	for i, part := range parts {
		if len(part) > 1 {
			parts[i] = strings.TrimLeft(part[:len(part)-1], "0") + part[len(part)-1:]
		}
	}
	return strings.Join(parts, ".")
}
