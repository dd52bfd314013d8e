package aks

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/internal/akstext"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubelet translates flags, labels and configuration file.
func (t *translation) kubelet() {
	in := deref(t.in.KubeletConfig)
	if len(in.KubeletNodeLabels) > 0 {
		t.out.Kubelet.Labels = maps.Clone(in.KubeletNodeLabels)
	}
	switch in.KubeletDiskType {
	case aksnodeconfig.KubeletDisk_KUBELET_DISK_OS_DISK:
		t.out.Kubelet.DataDisk = "OS"
	case aksnodeconfig.KubeletDisk_KUBELET_DISK_TEMP_DISK:
		t.out.Kubelet.DataDisk = "Temporary"
	}
	t.kubeletConfig()
	t.flags(in.KubeletFlags)
}

const flagsPath = "$.kubelet_config.kubelet_flags"

// flagName normalizes a flag's name: without leading dashes, and with "-" for "_", as the kubelet does.
func flagName(spelled string) string {
	return strings.ReplaceAll(strings.TrimLeft(spelled, "-"), "_", "-")
}

// flags translates the kubelet's flags in the order of their names. Flags with a field in NodeConfig go there, so that they are
// validated and appear once. Of a flag in several spellings the last counts, as in the kubelet's own arguments.
func (t *translation) flags(flags map[string]string) {
	k := &t.out.Kubelet
	names := slices.Sorted(maps.Keys(flags))
	counts := make(map[string]string, len(names)) // the spelling that counts, by the flag's name
	for _, name := range names {
		other, several := counts[flagName(name)]
		if several && flags[other] != flags[name] {
			t.Warn(nodeconfig.Dropped, document.FieldPath(flagsPath, other), "is left out, because the flag has another spelling here, with another value: remove one of them")
		}
		counts[flagName(name)] = name
	}
	var providerBin, providerConfig string
	for _, name := range names {
		value, from := flags[name], entry(flagsPath, name)
		flag := flagName(name)
		if counts[flag] != name {
			continue
		}
		switch flag {
		case "register-with-taints":
			t.taints(value, from)
		case "node-labels":
			t.labels(value, from)
		case "node-ip":
			if value != "" { // otherwise the kubelet determines it, as without the flag
				for part := range strings.SplitSeq(value, ",") {
					k.NodeIPs = append(k.NodeIPs, strings.TrimSpace(part)) // as the kubelet does
				}
				t.moved(at("$.kubelet.nodeIPs"), from)
			}
		case "hostname-override":
			k.NodeName = strings.ToLower(value) // as the kubelet does
			t.moved(at("$.kubelet.nodeName"), from)
		case "image-credential-provider-bin-dir":
			providerBin = value
			t.moved(at("$.kubelet.imageCredentialProvider.binDir"), from)
		case "image-credential-provider-config":
			providerConfig = value
			t.moved(at("$.kubelet.imageCredentialProvider.configFile"), from)
		default:
			t.moved(item("$.kubelet.flags", len(k.Flags)), from)
			k.Flags = append(k.Flags, nodeconfig.Flag{Name: flag, Value: value})
		}
	}
	t.credentialProvider(providerBin, providerConfig)
}

// taints parses the value of --register-with-taints, "KEY[=VALUE]:EFFECT,...".
func (t *translation) taints(value string, from origin) {
	t.moved(at("$.kubelet.taints"), from)
	for part := range strings.SplitSeq(value, ",") {
		if part == "" {
			continue
		}
		pair, effect, _ := strings.Cut(part, ":")
		key, taintValue, _ := strings.Cut(pair, "=")
		t.out.Kubelet.Taints = append(t.out.Kubelet.Taints, nodeconfig.Taint{Key: key, Value: taintValue, Effect: effect})
	}
}

// labels parses the value of --node-labels. The last item for a label counts, as in the kubelet. kubelet_node_labels wins if both
// set a label.
func (t *translation) labels(value string, from origin) {
	if t.out.Kubelet.Labels == nil {
		t.out.Kubelet.Labels = make(map[string]string)
	}
	labels, own := t.out.Kubelet.Labels, deref(t.in.KubeletConfig).KubeletNodeLabels
	items := make(map[string]string) // the source of each label
	for i, part := range strings.Split(value, ",") {
		if part == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value) // as the kubelet does
		origin := document.IndexPath(from.String(), i)
		before, taken := labels[key]
		if _, wins := own[key]; wins {
			if before != value {
				t.Warn(nodeconfig.Dropped, origin, "is left out, because kubelet_node_labels has another value for this label")
			}
			continue
		}
		if taken && before != value {
			t.Warn(nodeconfig.Dropped, items[key], "is left out, because a later item has another value for this label")
		}
		labels[key], items[key] = value, origin
		t.moved(entry("$.kubelet.labels", key), at(origin))
	}
}

const configPath = "$.kubelet_config.kubelet_config_file_config"

// kubeletConfig translates the configuration file. It is data: the message's fields have the kubelet's own names, so setting one in
// the document sets it in the file.
func (t *translation) kubeletConfig() {
	in := deref(t.in.KubeletConfig)
	config := in.KubeletConfigFileConfig
	switch {
	case in.EnableKubeletConfigFile:
		t.out.Kubelet.Config = t.asData(reflect.ValueOf(deref(config)), configPath, "$.kubelet.config")
	case config != nil:
		t.Warn(nodeconfig.NotApplied, configPath, "is not applied, because enable_kubelet_config_file is not true")
	}
}

// asData converts the set fields of a message, which is at a path of the contract, to JSON data with the kubelet's names, which is
// at a path of the NodeConfig.
func (t *translation) asData(message reflect.Value, from, to string) map[string]any {
	data := make(map[string]any)
	for i := range message.NumField() {
		field := message.Field(i)
		if field.IsNil() {
			continue
		}
		own, name := aksnodeconfig.Names(message.Type().Field(i))
		name = akstext.KubeletName(name)
		from, to := entry(from, own), entry(to, name)
		t.moved(to, from)
		data[name] = t.asValue(field, from, to)
	}
	return data
}

// asValue converts the set values of a field to JSON data.
func (t *translation) asValue(v reflect.Value, from, to origin) any {
	switch v.Kind() {
	case reflect.Pointer:
		return t.asValue(v.Elem(), from, to)
	case reflect.Struct:
		return t.asData(v, from.String(), to.String())
	case reflect.Map:
		m := make(map[string]any, v.Len())
		for iter := v.MapRange(); iter.Next(); {
			m[iter.Key().String()] = t.asValue(iter.Value(), from, to)
		}
		return m
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = t.asValue(v.Index(i), from, to)
		}
		return list
	case reflect.Int32:
		return v.Int()
	}
	return v.Interface()
}
