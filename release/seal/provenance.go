package seal

import (
	"bytes"
	"encoding/json"
	"fmt"

	attestation "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/release/licence"
	"github.com/slipway-dev/slipway/release/product"
)

// Types of in-toto and SLSA (slsa.dev/spec/v1.0/provenance).
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://slsa.dev/provenance/v1"
	buildType     = product.Homepage + "/blob/main/docs/release.md#how-a-release-is-made"
)

// Provenance says from what the files were made, and by whom: an in-toto statement with SLSA's predicate. builder is the URI of who ran the
// build. It has no time and no name of a run, so that another run makes the same statement.
func Provenance(m *release.Manifest, modules []licence.Module, builder string) ([]byte, error) {
	statement := &attestation.Statement{Type: statementType, PredicateType: predicateType}
	for _, f := range m.Files {
		statement.Subject = append(statement.Subject, &attestation.ResourceDescriptor{Name: f.Name, Digest: map[string]string{"sha256": f.SHA256}})
	}
	depends := []any{map[string]any{"uri": "git+" + product.Homepage + "@refs/tags/" + m.Version, "digest": map[string]any{"gitCommit": m.Commit}}}
	for _, module := range modules {
		d := map[string]any{"uri": fmt.Sprintf("pkg:golang/%s@%s", module.Path, module.Version)}
		if module.Sum != "" {
			d["annotations"] = map[string]any{"go.sum": module.Sum}
		}
		depends = append(depends, d)
	}
	predicate, err := structpb.NewStruct(map[string]any{
		"buildDefinition": map[string]any{
			"buildType":            buildType,
			"externalParameters":   map[string]any{"version": m.Version, "source": product.Homepage},
			"internalParameters":   map[string]any{"go": m.GoVersion},
			"resolvedDependencies": depends,
		},
		"runDetails": map[string]any{"builder": map[string]any{"id": builder}},
	})
	if err != nil {
		return nil, err
	}
	statement.Predicate = predicate
	if err := statement.Validate(); err != nil {
		return nil, err
	}
	data, err := protojson.Marshal(statement)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, data, "", "  ") // protojson's own spaces differ from build to build
	b.WriteByte('\n')
	return b.Bytes(), err
}
