package node

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// digestVersion is the meaning of NodeDigest. It changes when what is left out does, or when a default that a contract
// may not name does; then every node differs.
const digestVersion = "v1"

// NodeDigest names what a node is like by its config, "v1-" and a SHA-256 in hexadecimal: two configs with one digest
// make nodes that differ in their credentials at most. A program keeps it with a node, and later knows whether the node
// is still what is wanted.
//
// Left out are the config's metadata, the credentials that the node joins with, and everything that is secret: a token
// that is rotated replaces no node, and a digest that everybody may read says nothing of a password. What is secret as
// a whole, such as runtime.containerd.config, is seen by [Diff] alone. nodeconfig.Digest names the config with all of
// that.
func NodeDigest(c *nodeconfig.NodeConfig) string {
	copied := WithoutSecrets(c, "")
	copied.Metadata = nodeconfig.Metadata{}
	copied.Join.ClientCertificate = nil
	sum := sha256.Sum256(nodeconfig.Encode(copied))
	return digestVersion + "-" + hex.EncodeToString(sum[:])
}

// WithoutSecrets is a copy of a config with another text for everything that is secret in it, the same for all; an empty text
// leaves it out. A program can keep the copy, show it, plan it, and compare it with another one.
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

// replaceSecrets puts another one in the place of every secret in a value that can be set, and in the maps and lists in it.
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
