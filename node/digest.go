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
	copied := nodeconfig.Merge(c)
	copied.Metadata = nodeconfig.Metadata{}
	copied.Join.ClientCertificate = nil
	for i := range copied.Kubelet.Flags {
		if flag := &copied.Kubelet.Flags[i]; flag.IsSecret() {
			flag.Value = ""
		}
	}
	withoutSecrets(reflect.ValueOf(copied).Elem())
	sum := sha256.Sum256(nodeconfig.Encode(copied))
	return digestVersion + "-" + hex.EncodeToString(sum[:])
}

var secret = reflect.TypeFor[nodeconfig.Secret]()

// withoutSecrets takes every secret out of a value that can be set, and out of the maps and lists in it.
func withoutSecrets(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			withoutSecrets(v.Elem())
		}
	case reflect.Struct:
		if v.Type() == secret {
			v.SetZero()
			return
		}
		for i := range v.NumField() {
			withoutSecrets(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			withoutSecrets(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			item := reflect.New(v.Type().Elem()).Elem()
			item.Set(v.MapIndex(key))
			withoutSecrets(item)
			v.SetMapIndex(key, item)
		}
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		item := reflect.New(v.Elem().Type()).Elem()
		item.Set(v.Elem())
		withoutSecrets(item)
		v.Set(item)
	}
}
