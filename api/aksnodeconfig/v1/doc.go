// Package aksnodeconfigv1 holds the Go types of the AKS node contract, the protobuf package
// aksnodeconfig.v1: the document an AKS control plane, or a provisioner that acts like one, hands
// to a Linux node.
//
// Message and field names, numbers, types, JSON names and presence are those of AKS and do not
// change: documents written by AKS parse into these types, and documents written from them are
// understood by AKS. The comments, and the division into files, are Slipway's.
//
// The package holds data, no behaviour. It does not validate, apply defaults or read files; where a
// comment names a default, whoever reads the document applies it. Package nodeconfig/aks is that
// reader: it reads a document tolerantly, field by field, and turns it into Slipway's own NodeConfig.
// It reads it into plain structs that are generated from the same .proto files. The types here are for
// programs that produce documents for AKS nodes.
//
// In JSON, readers accept snake_case proto names and lowerCamelCase JSON names alike; AKS writes
// proto names. The encoding of package protojson is deliberately not stable, so its bytes must not
// be hashed.
//
// Secrets are plain strings here. Fields that hold one say so in their comment; what is decoded
// from them must not reach a log.
//
// The proto names are registered globally, as protobuf requires, so a program that imports this
// package cannot import AKS's own generated package as well.
//
// The code is generated from the .proto files beside it. Generation needs nothing but Go.
package aksnodeconfigv1

//go:generate go run ../gen
