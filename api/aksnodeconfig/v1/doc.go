// Package aksnodeconfigv1 has the Go types of the AKS node contract, the protobuf package
// aksnodeconfig.v1: the document that an AKS control plane, or a provisioner that acts like one,
// gives to a Linux node.
//
// Message and field names, numbers, types, JSON names and presence are those of AKS and do not
// change: these types parse AKS's documents, and AKS understands documents that are written from
// them. The comments, and the division into files, are Slipway's.
//
// The package has data and no behaviour. It does not validate, apply defaults or read files. If a
// comment names a default, the reader of the document applies it. Package nodeconfig/aks is that
// reader: it reads a document tolerantly, field by field, and converts it to Slipway's own
// NodeConfig. It reads it into plain structs that are generated from the same .proto files. The
// types here are for programs that produce documents for AKS nodes.
//
// In JSON, readers accept snake_case proto names and lowerCamelCase JSON names alike; AKS writes
// proto names. The encoding of package protojson is deliberately unstable, so do not hash its
// bytes.
//
// Secrets are plain strings here. The comment of a field with a secret says so. Do not log decoded
// values of these fields.
//
// The proto names are registered globally, as protobuf requires, so a program that imports this
// package cannot import AKS's own generated package as well.
//
// The code is generated from the .proto files beside it. Generation needs nothing but Go.
package aksnodeconfigv1

//go:generate go run ../gen
