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

// reportsArgs are the required values of the machine's last report to its cloud.
type reportsArgs struct {
	// State is the health in the report to Azure's wire server: "Ready" or "NotReady".
	State string `yaml:"state"`
	// Description is a part of the cause in that report.
	Description string `yaml:"description"`
}

// reports checks the machine's report to its cloud about the end of its provisioning.
func (r *caseRun) reports(ctx context.Context, want reportsArgs) error {
	return r.eventually(ctx, func() error {
		reports := r.Lab.Cloud.Health()
		if len(reports) == 0 {
			return fmt.Errorf("the cloud has received no report, want %q", want.State)
		}
		last := reports[len(reports)-1]
		if last.State != want.State || !strings.Contains(last.Description, want.Description) {
			return fmt.Errorf("the last report that the cloud has received is %q, %q: want %q, %q", last.State, last.Description, want.State, want.Description)
		}
		return nil
	})
}
