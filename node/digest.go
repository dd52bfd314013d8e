package node

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// digestVersion is the version of NodeDigest. It changes if the omitted parts change, or the default of a setting that contracts do
// not name; then every node differs.
const digestVersion = "v1"

// NodeDigest identifies a node by its config, as "v1-" and a SHA-256 in hexadecimal: two configs with the same digest make nodes
// that differ at most in their credentials. A program keeps it with a node, and later compares it to find out whether the node is
// still the wanted one.
//
// It omits the config's metadata, the credentials with which the node joins, and all secrets: a rotated token replaces no node, and
// a public digest discloses no password. Only [Diff] notices a change of a value that is entirely secret, such as
// runtime.containerd.config. nodeconfig.Digest includes all of that.
func NodeDigest(c *nodeconfig.NodeConfig) string {
	copied := WithoutSecrets(c, "")
	copied.Metadata = nodeconfig.Metadata{}
	copied.Join.ClientCertificate = nil
	sum := sha256.Sum256(nodeconfig.Encode(copied))
	return digestVersion + "-" + hex.EncodeToString(sum[:])
}

// WithoutSecrets returns a copy of a config with all secrets replaced by the same text; an empty text removes them. A program can
// keep the copy, show it, plan it, and compare it with another one.
func WithoutSecrets(c *nodeconfig.NodeConfig, instead string) *nodeconfig.NodeConfig {
	copied := nodeconfig.Merge(c)
	for i := range copied.Kubelet.Flags {
		if flag := &copied.Kubelet.Flags[i]; flag.IsSecret() {
			flag.Value = instead
		}
	}
	var other nodeconfig.Secret
	if instead != "" {
		other = nodeconfig.NewSecret(instead)
	}
	replaceSecrets(reflect.ValueOf(copied).Elem(), reflect.ValueOf(other))
	return copied
}

var secret = reflect.TypeFor[nodeconfig.Secret]()

// replaceSecrets replaces every secret in a settable value, and in the maps and lists in it.
func replaceSecrets(v, other reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			replaceSecrets(v.Elem(), other)
		}
	case reflect.Struct:
		if v.Type() == secret {
			if !v.IsZero() {
				v.Set(other)
			}
			return
		}
		for i := range v.NumField() {
			replaceSecrets(v.Field(i), other)
		}
	case reflect.Slice:
		for i := range v.Len() {
			replaceSecrets(v.Index(i), other)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			item := reflect.New(v.Type().Elem()).Elem()
			item.Set(v.MapIndex(key))
			replaceSecrets(item, other)
			v.SetMapIndex(key, item)
		}
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		item := reflect.New(v.Elem().Type()).Elem()
		item.Set(v.Elem())
		replaceSecrets(item, other)
		v.Set(item)
	}
}
