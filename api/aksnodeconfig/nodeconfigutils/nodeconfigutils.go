// Package nodeconfigutils makes an AKS node's custom data and command from AKS's own Go types. It has the name and the functions of
// AKS's package for that, aks-node-controller/pkg/nodeconfigutils, so that a program which uses that one only changes its imports.
//
// The output is for the same images: the node's contract has the same path and starts in the same way, whether the image has
// Slipway's agent or AKS's. Unlike AKS's package, this one gives the same bytes for the same configuration, writes the contract so
// that only root can read it, refuses what Azure would refuse, and refuses a configuration that makes no node, with all of its
// problems.
//
// It does no I/O. Provisioners of AKS nodes call it. The agent does not, and links no protobuf. A program that needs its own parts
// beside the contract, or another cloud's limits, uses package userdata.
package nodeconfigutils

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"

	aksnodeconfigv1 "github.com/slipway-dev/slipway/api/aksnodeconfig/v1"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/userdata"
)

// CSE is the command of the custom script extension. It waits until the node is provisioned, prints the result and has its exit
// code.
const CSE = "/opt/azure/containers/aks-node-controller provision-wait"

// CustomData returns the custom data of a virtual machine whose image has cloud-init, in base64 as Azure's API takes it.
// The error is an [*InvalidError] or a [*userdata.TooLargeError].
func CustomData(cfg *aksnodeconfigv1.Configuration) (string, error) {
	c, err := contract(cfg)
	if err != nil {
		return "", err
	}
	return userdata.CustomData(c)
}

// CustomDataFlatcar returns an Ignition config in base64, for Flatcar and other images without cloud-init. The error is
// an [*InvalidError] or a [*userdata.TooLargeError].
func CustomDataFlatcar(cfg *aksnodeconfigv1.Configuration) (string, error) {
	c, err := contract(cfg)
	if err != nil {
		return "", err
	}
	return userdata.IgnitionCustomData(c)
}

// Validate returns an [*InvalidError] if no node can be made of the configuration, and nil otherwise.
func Validate(cfg *aksnodeconfigv1.Configuration) error {
	_, err := contract(cfg)
	return err
}

// MarshalConfigurationV1 returns the configuration as a document, in JSON with the names of the .proto files. The same
// configuration gives the same bytes. They contain the node's secrets.
func MarshalConfigurationV1(cfg *aksnodeconfigv1.Configuration) ([]byte, error) {
	text, err := marshal(cfg)
	if err != nil {
		return nil, err
	}
	read := compile.Read([]compile.Document{{Data: text}}, dialect.AKS)
	if !read.Readable() {
		return nil, &InvalidError{read.Fatal()}
	}
	return read.Canonical(), nil
}

// UnmarshalConfigurationV1 parses a document. It ignores unknown fields. It stops at the first invalid value, as AKS's package
// does; Read of package node reports all problems of a document.
func UnmarshalConfigurationV1(data []byte) (*aksnodeconfigv1.Configuration, error) {
	cfg := new(aksnodeconfigv1.Configuration)
	err := protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, cfg)
	return cfg, err
}

// InvalidError lists all problems because of which no node can be made of a configuration.
type InvalidError struct {
	// Problems have the paths of the configuration's document.
	Problems []nodeconfig.Problem
}

// Error lists the problems. It repeats no value of the configuration.
func (e *InvalidError) Error() string {
	var lines []string
	for _, p := range e.Problems {
		lines = append(lines, p.Path+": "+p.Reason)
	}
	return "no node can be made of this configuration: " + strings.Join(lines, "; ")
}

// contract returns the machine's contract.
func contract(cfg *aksnodeconfigv1.Configuration) (userdata.Contract, error) {
	text, err := marshal(cfg)
	if err != nil {
		return userdata.Contract{}, err
	}
	read := compile.Read([]compile.Document{{Data: text}}, dialect.AKS)
	_, problems := read.Plan(facts.Facts{}) // the machine is still unknown
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		for i := range fatal { // the caller has no text with lines
			fatal[i].Line, fatal[i].Column = 0, 0
		}
		return userdata.Contract{}, &InvalidError{fatal}
	}
	return userdata.Contract{Document: read.Canonical(), Path: userdata.AKSPath, Features: read.Config.Components.Features}, nil
}

// errNoConfiguration is the error for nil.
var errNoConfiguration = errors.New("there is no configuration")

func marshal(cfg *aksnodeconfigv1.Configuration) ([]byte, error) {
	if cfg == nil {
		return nil, errNoConfiguration
	}
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(cfg)
	if err != nil {
		// Its only cause is a string that is not UTF-8; the error itself would repeat it.
		return nil, fmt.Errorf("the configuration has a text that is not UTF-8")
	}
	return text, nil
}
