package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// askedArgs are requests that the lab's registries and its proxy must have got since the machine was made: parts of requests, each
// with its answer.
type askedArgs struct {
	Mirror   []string `yaml:"mirror"`
	Registry []string `yaml:"registry"`
	Proxy    []string `yaml:"proxy"`
	Isolated []string `yaml:"isolated"`
	ECR      []string `yaml:"ecr"`
	ECRAPI   []string `yaml:"ecrAPI"`
}

// asked checks the requests to the registries and the proxy.
func (r *caseRun) asked(_ context.Context, want askedArgs) error {
	return want.compare(r.Lab.Registries.Requests.All())
}

func (want *askedArgs) compare(have []lab.Request) error {
	var wrong []string
	for _, service := range []struct {
		name string
		want []string
	}{{"mirror", want.Mirror}, {"registry", want.Registry}, {"proxy", want.Proxy}, {"isolated", want.Isolated}, {"ecr", want.ECR}, {"ecr-api", want.ECRAPI}} {
		for _, part := range service.want {
			if !slices.ContainsFunc(have, func(q lab.Request) bool { return q.Service == service.name && strings.Contains(q.Line, part) }) {
				wrong = append(wrong, fmt.Sprintf("the %s was not asked %q", service.name, part))
			}
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s; the requests are %q", strings.Join(wrong, "; "), have)
	}
	return nil
}
