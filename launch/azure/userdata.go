package azure

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/envelope"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

const (
	pathUserData = "$.spec.userData"
	// mostUserData is the maximum size of a class's user data: half of Azure's limit, so that there is room for a contract.
	mostUserData = 32 << 10
)

// classUserData has the parts of a class's user data. Karpenter for Azure has no such field; the forms are those of Karpenter for
// AWS (K9).
type classUserData struct {
	// node is the part of a contract in the user data. If nil, the user data has no contract.
	node *nodeconfig.NodeConfig
	// parts are for the machine.
	parts launch.UserParts
}

// documentTypes are the types of a part that is a NodeConfig. A part with another type can be one too, by its content.
var documentTypes = []string{"application/vnd.slipway.nodeconfig+json", "application/vnd.slipway.nodeconfig+yaml"}

// userData reads the class's user data. It returns nil if the class has no user data. No problem repeats its text.
func (c *NodeClass) userData() (*classUserData, []nodeconfig.Problem) {
	text := c.Spec.UserData.Reveal()
	if text == "" {
		return nil, nil
	}
	p, own := &problems{problem.Collector{Document: c.Origin()}}, new(classUserData)
	content := []byte(text)
	switch {
	case len(text) > mostUserData:
		p.wrong(pathUserData, fmt.Sprintf("has %d bytes, want at most %d; large files belong in the node image", len(text), mostUserData))
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		p.wrong(pathUserData, "is not text in UTF-8")
	case envelope.IsMIME(content):
		own.takeApart(p, content)
	case strings.HasPrefix(text, "#!"):
		own.parts = launch.UserParts{{Content: content}}
	case isNodeConfig(content):
		own.add(p, content)
	default:
		p.wrong(pathUserData, "is neither a NodeConfig of "+nodeconfig.APIVersion+", nor a shell script that begins with #!, nor a MIME document of these and what cloud-init takes")
	}
	own.check(p)
	return own, p.List
}

// isNodeConfig reports whether a text is a contract of the native dialect.
func isNodeConfig(content []byte) bool {
	tree, err := document.Parse(content)
	return err == nil && tree.GetText("apiVersion") == nodeconfig.APIVersion && tree.GetText("kind") == nodeconfig.Kind
}

// takeApart reads the parts of a MIME document. If it has several contracts, a later one overrides an earlier one.
func (own *classUserData) takeApart(p *problems, content []byte) {
	parts, err := envelope.TakeApart(content)
	if err != nil {
		p.wrong(pathUserData, "cannot be taken apart: "+err.Error())
		return
	}
	if len(parts) > userdata.MaxParts {
		p.wrong(pathUserData, fmt.Sprintf("has %d parts, want at most %d", len(parts), userdata.MaxParts))
		return
	}
	for _, part := range parts {
		if slices.Contains(documentTypes, part.Type) || isNodeConfig(part.Content) {
			own.add(p, part.Content)
			continue
		}
		given := userdata.Part{Name: part.Name, Type: part.Type, Content: part.Content}
		if !slices.Contains(userdata.PartTypes(), given.Type) {
			given.Type = "" // check detects its type by the content, or refuses it
		}
		own.parts = append(own.parts, given)
	}
}

// add adds a contract.
func (own *classUserData) add(p *problems, content []byte) {
	given := new(nodeconfig.NodeConfig)
	for _, problem := range launch.Read(content, nodeconfig.APIVersion, nodeconfig.Kind, given) {
		p.Report(problem.Fatal, problem.Kind, pathUserData, "at "+problem.Path+": "+problem.Reason)
	}
	given.APIVersion, given.Kind, given.Metadata = "", "", nodeconfig.Metadata{}
	own.node = nodeconfig.Merge(own.node, given)
}

// check reports parts that cloud-init does not accept, and fields that a class may not set.
func (own *classUserData) check(p *problems) {
	if len(own.parts) > 0 {
		_, err := userdata.MIME(userdata.Contract{Document: []byte("{}"), Path: userdata.NativePath, Parts: own.parts})
		if invalid, ok := errors.AsType[*userdata.InvalidError](err); ok {
			for _, wrong := range invalid.Problems {
				p.wrong(pathUserData, wrong.Field+" "+wrong.Reason)
			}
		}
	}
	l := launch.Layer{Source: launch.Class, Document: new(launch.Document)}
	own.overlay(l.Document)
	for _, path := range l.Foreign(fields) {
		p.wrong(pathUserData, "sets $"+strings.TrimPrefix(path, "$.node")+", which is not the class's to set")
	}
}

// overlay puts the class's fields in d over the user data. It ignores the user data's fields of the cluster.
func (own *classUserData) overlay(d *launch.Document) {
	d.Machine.UserData = own.parts
	if own.node == nil {
		return
	}
	given := nodeconfig.Merge(own.node)
	for _, fact := range clusterFacts {
		*fact.of(given) = ""
	}
	d.Node = *nodeconfig.Merge(given, &d.Node)
}

// clusterFacts are the contract's fields about the cluster, each with the known value and its source.
var clusterFacts = []struct {
	path string
	of   func(*nodeconfig.NodeConfig) *string
	fact func(*Input) (value, place string)
}{
	{"$.cluster.name", func(c *nodeconfig.NodeConfig) *string { return &c.Cluster.Name }, func(in *Input) (string, string) {
		return in.Settings.Cluster, "cluster-name in " + in.Settings.Given("cluster-name")
	}},
	{"$.cluster.server", func(c *nodeconfig.NodeConfig) *string { return &c.Cluster.Server }, func(in *Input) (string, string) {
		return server(in.Settings.Endpoint), "cluster-endpoint in " + in.Settings.Given("cluster-endpoint")
	}},
	{"$.cluster.certificateAuthority", func(c *nodeconfig.NodeConfig) *string { return &c.Cluster.CertificateAuthority }, func(in *Input) (string, string) {
		if in.Detected == nil || in.Detected.CertificateAuthority == nil {
			return "", ""
		}
		return in.Detected.CertificateAuthority.Value, in.Detected.CertificateAuthority.origin()
	}},
}

// userData compares the cluster's fields in the class's user data with the known values. A problem repeats neither value.
func (in *Input) userData(p *problems) {
	own, _ := in.Class.userData()
	if own == nil || own.node == nil {
		return
	}
	p.Document = in.Class.Origin()
	for _, row := range clusterFacts {
		given := strings.TrimSpace(*row.of(own.node))
		fact, place := row.fact(in)
		switch {
		case given == "" || given == strings.TrimSpace(fact):
		case fact == "":
			p.wrong(pathUserData, "sets "+row.path+", which is not the class's to set")
		default:
			p.Report(true, nodeconfig.Conflict, pathUserData, "sets "+row.path+" otherwise than "+place+" does; leave it out")
		}
	}
	p.Document = ""
}
