package nodeconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// freeData are the fields whose values pass through as data, and the paths in such data that may contain a credential. [Default]
// and [FromTree] make a [Secret] of every single value below such a path. This is the only list: the code that marshals, shows,
// refuses and plans a config uses it, and so do the tests.
var freeData = []struct {
	path string
	// places are paths below it, with [*] for every item of a list.
	places []string
	get    func(*NodeConfig) map[string]any
	// set replaces the data, and changes no value that another config may share.
	set func(*NodeConfig, map[string]any)
}{
	{
		path: "$.kubelet.config",
		// Kubernetes: KubeletConfiguration v1beta1. The URL may hold a password, or a signature that stands for one.
		places: []string{".staticPodURL", ".staticPodURLHeader"},
		get:    func(c *NodeConfig) map[string]any { return c.Kubelet.Config },
		set:    func(c *NodeConfig, data map[string]any) { c.Kubelet.Config = data },
	}, {
		path:   "$.kubelet.imageCredentialProvider.config",
		places: []string{".providers[*].args", ".providers[*].env"}, // Kubernetes: CredentialProviderConfig v1
		get: func(c *NodeConfig) map[string]any {
			if c.Kubelet.ImageCredentialProvider == nil {
				return nil
			}
			return c.Kubelet.ImageCredentialProvider.Config
		},
		set: func(c *NodeConfig, data map[string]any) {
			provider := *c.Kubelet.ImageCredentialProvider
			provider.Config = data
			c.Kubelet.ImageCredentialProvider = &provider
		},
	}, {
		path:   "$.runtime.containerd.baseRuntimeSpec",
		places: []string{".process.args", ".process.env"}, // OCI runtime specification: config.md, "process"
		get:    func(c *NodeConfig) map[string]any { return c.Runtime.Containerd.BaseRuntimeSpec },
		set:    func(c *NodeConfig, data map[string]any) { c.Runtime.Containerd.BaseRuntimeSpec = data },
	},
}

// secretFlags are the kubelet's flags whose values may be credentials: the URL for static pods, and the headers of its requests
// (Kubernetes: kubelet, --manifest-url and --manifest-url-header).
var secretFlags = []string{"manifest-url", "manifest-url-header"}

// SecretPlaces returns the paths in a config's free data at which a credential may be, with [*] for every item of a list. Each
// value at or below them is a [Secret].
func SecretPlaces() []string {
	var all []string
	for _, free := range freeData {
		for _, place := range free.places {
			all = append(all, free.path+place)
		}
	}
	return all
}

// SecretFlags returns the names of the kubelet's flags whose values may be credentials.
func SecretFlags() []string { return slices.Clone(secretFlags) }

// IsSecretFlag reports whether the value of a kubelet's flag may be a credential, in any spelling of the flag's name: with or
// without leading dashes, and with underscores instead of dashes.
func IsSecretFlag(name string) bool {
	return slices.Contains(secretFlags, strings.ReplaceAll(strings.TrimLeft(name, "-"), "_", "-"))
}

// IsSecret reports whether the flag's value may be a credential. Such a value is neither shown nor marshalled.
func (f Flag) IsSecret() bool { return IsSecretFlag(f.Name) && f.Value != "" }

// plainFlag is a Flag without its methods.
type plainFlag Flag

// Format writes the flag. It omits a value that may be a credential.
func (f Flag) Format(s fmt.State, verb rune) {
	if f.IsSecret() {
		f.Value = Redacted
	}
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), plainFlag(f))
}

// MarshalJSON refuses a value that may be a credential, as [Secret.MarshalText] does.
func (f Flag) MarshalJSON() ([]byte, error) {
	if f.IsSecret() {
		return nil, errMarshalled
	}
	return json.Marshal(plainFlag(f))
}

// MarshalYAML refuses a value that may be a credential, as [Secret.MarshalText] does.
func (f Flag) MarshalYAML() (any, error) {
	if f.IsSecret() {
		return nil, errMarshalled
	}
	return plainFlag(f), nil
}

// The types that contain free data, without their methods. A program may have made such a value in Go, so that [Default] has not
// sealed it yet. Therefore it is sealed whenever it is shown or marshalled, alone or as a part of a config.
type (
	plainKubelet    Kubelet
	plainProvider   ImageCredentialProvider
	plainContainerd Containerd
)

func (k Kubelet) plain() plainKubelet {
	c := NodeConfig{Kubelet: k}
	seal(&c)
	return plainKubelet(c.Kubelet)
}

func (p ImageCredentialProvider) plain() plainProvider {
	c := NodeConfig{Kubelet: Kubelet{ImageCredentialProvider: &p}}
	seal(&c)
	return plainProvider(*c.Kubelet.ImageCredentialProvider)
}

func (r Containerd) plain() plainContainerd {
	c := NodeConfig{Runtime: Runtime{Containerd: r}}
	seal(&c)
	return plainContainerd(c.Runtime.Containerd)
}

// Format writes the settings without values that may be credentials.
func (k Kubelet) Format(s fmt.State, verb rune) {
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), k.plain())
}

// Format writes the settings without values that may be credentials.
func (p ImageCredentialProvider) Format(s fmt.State, verb rune) {
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), p.plain())
}

// Format writes the settings without values that may be credentials.
func (r Containerd) Format(s fmt.State, verb rune) {
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), r.plain())
}

// MarshalJSON refuses settings with a value that may be a credential, as [Secret.MarshalText] does.
func (k Kubelet) MarshalJSON() ([]byte, error) { return json.Marshal(k.plain()) }

// MarshalJSON refuses settings with a value that may be a credential, as [Secret.MarshalText] does.
func (p ImageCredentialProvider) MarshalJSON() ([]byte, error) { return json.Marshal(p.plain()) }

// MarshalJSON refuses settings with a value that may be a credential, as [Secret.MarshalText] does.
func (r Containerd) MarshalJSON() ([]byte, error) { return json.Marshal(r.plain()) }

// MarshalYAML refuses settings with a value that may be a credential, as [Secret.MarshalText] does.
func (k Kubelet) MarshalYAML() (any, error) { return k.plain(), nil }

// MarshalYAML refuses settings with a value that may be a credential, as [Secret.MarshalText] does.
func (p ImageCredentialProvider) MarshalYAML() (any, error) { return p.plain(), nil }

// MarshalYAML refuses settings with a value that may be a credential, as [Secret.MarshalText] does.
func (r Containerd) MarshalYAML() (any, error) { return r.plain(), nil }

// seal makes a Secret of every value in free data that may be a credential. It does not change the data itself, because other
// configs may share it.
func seal(c *NodeConfig) {
	for _, free := range freeData {
		data := free.get(c)
		if data == nil {
			continue
		}
		for _, place := range free.places {
			if isSealed(data, place) {
				continue
			}
			data = sealAt(data, place).(map[string]any)
			free.set(c, data)
		}
	}
}

// sealAt returns a copy of data with every value at or below a path as a secret.
func sealAt(data any, place string) any {
	if place == "" {
		return sealed(data)
	}
	if rest, ok := strings.CutPrefix(place, "[*]"); ok {
		if items, ok := data.([]any); ok {
			items = slices.Clone(items)
			for i := range items {
				items[i] = sealAt(items[i], rest)
			}
			return items
		}
		return data
	}
	name, rest := cutStep(place)
	if fields, ok := data.(map[string]any); ok && fields[name] != nil {
		fields = maps.Clone(fields)
		fields[name] = sealAt(fields[name], rest)
		return fields
	}
	return data
}

// isSealed reports whether all values at or below a path are secrets, so that nothing has to be copied. A value of a type that a
// document cannot have is sealed in any case.
func isSealed(data any, place string) bool {
	switch rest, items := strings.CutPrefix(place, "[*]"); {
	case data == nil:
		return true
	case items:
		list, ok := data.([]any)
		return !ok || !slices.ContainsFunc(list, func(item any) bool { return !isSealed(item, rest) })
	case place != "":
		name, rest := cutStep(place)
		fields, ok := data.(map[string]any)
		return !ok || isSealed(fields[name], rest)
	}
	switch v := data.(type) {
	case Secret:
		return true
	case []any:
		return isSealed(v, "[*]")
	case map[string]any:
		for name := range v {
			if !isSealed(v[name], "") {
				return false
			}
		}
		return true
	}
	return false
}

// cutStep cuts the first name off a path.
func cutStep(place string) (name, rest string) {
	place = place[1:]
	if end := strings.IndexAny(place, ".["); end >= 0 {
		return place[:end], place[end:]
	}
	return place, ""
}

// sealed returns data with all its single values as secrets. A number becomes exactly its text.
func sealed(data any) any {
	if _, already := data.(Secret); already || data == nil {
		return data
	}
	switch v := reflect.ValueOf(data); v.Kind() {
	case reflect.Map:
		out := make(map[string]any, v.Len())
		for iter := v.MapRange(); iter.Next(); {
			out[iter.Key().String()] = sealed(iter.Value().Interface())
		}
		return out
	case reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = sealed(v.Index(i).Interface())
		}
		return out
	}
	return NewSecret(fmt.Sprint(data))
}

// Revealed returns free data with its secrets as plain strings, and reports whether it has any. The result is as secret as they
// are.
func Revealed(data map[string]any) (plain map[string]any, secret bool) {
	if data == nil {
		return nil, false
	}
	return reveal(data, &secret).(map[string]any), secret
}

func reveal(data any, found *bool) any {
	switch v := data.(type) {
	case Secret:
		*found = *found || !v.IsZero()
		return v.Reveal()
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			out[name] = reveal(v[name], found)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = reveal(v[i], found)
		}
		return out
	}
	return data
}

// IsSecretPlace reports whether a path is one of [SecretPlaces], or below one.
func IsSecretPlace(path string) bool {
	for _, place := range SecretPlaces() {
		if matches(path, place) {
			return true
		}
	}
	return false
}

// matches reports whether a path is at or below a place.
func matches(path, place string) bool {
	for {
		before, rest, indexed := strings.Cut(place, "[*]")
		if !indexed {
			return document.Within(path, place)
		}
		indexes, ok := strings.CutPrefix(path, before+"[")
		_, after, closed := strings.Cut(indexes, "]")
		if !ok || !closed {
			return false
		}
		path, place = after, rest
	}
}
