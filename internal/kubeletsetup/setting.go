package kubeletsetup

import (
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// Bool is a switch of the kubelet, by its setting or its flag.
func (k *Kubelet) Bool(setting, flag string, otherwise bool) bool {
	if value, set := k.Flag(flag); set {
		return value == "" || strings.EqualFold(value, "true")
	}
	if k.Settings != nil {
		if n := k.Settings.At(setting); n != nil && n.Kind == document.Bool {
			return n.Text == "true"
		}
	}
	return otherwise
}

// Number is a number of the kubelet's settings.
func (k *Kubelet) Number(setting, flag string, otherwise uint16) uint16 {
	text, set := k.Flag(flag)
	if !set && k.Settings != nil {
		if n := k.Settings.At(setting); n != nil && n.Kind == document.Number {
			text = n.Text
		}
	}
	if number, err := strconv.ParseUint(text, 10, 16); err == nil {
		return uint16(number)
	}
	return otherwise
}

// Socket is the path of the runtime's socket. It is empty if the endpoint is not a Unix socket.
func (k *Kubelet) Socket() string {
	path := strings.TrimPrefix(k.Runtime.Value, "unix://")
	if !strings.HasPrefix(path, "/") {
		return ""
	}
	return path
}

// Text is a text of the kubelet, by its flag or its setting.
func (k *Kubelet) Text(setting, flag string) Found {
	found := k.Given(flag)
	if found.Value != "" || k.Settings == nil {
		return found
	}
	if n := k.Settings.At(setting); n != nil && n.Kind == document.String && n.Text != "" {
		return Found{n.Text, k.Config.Value}
	}
	return Found{}
}

// Given is a flag of the kubelet, with its place.
func (k *Kubelet) Given(name string) Found {
	if value, has := k.Flag(name); has {
		return Found{value, k.From + ", --" + name}
	}
	return Found{}
}
