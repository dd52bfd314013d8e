package metadata

import (
	"net/http"

	"github.com/slipway-dev/slipway/internal/facts"
)

const (
	ec2IPv6URL   = "http://[fd00:ec2::254]"
	ec2TokenPath = "/latest/api/token"
	ec2Token     = "X-aws-ec2-metadata-token"
)

// EC2: User Guide, "Use instance metadata": 404 if there is no user data, 403 if the service is turned off, 503 for a
// retry.
var _ = register(facts.EC2, cloud{
	addresses: []string{overIPv4, ec2IPv6URL},
	reach:     onLinkOrEC2,
	token:     ec2Token,
	policy:    policy{again: []int{http.StatusRequestTimeout, http.StatusTooManyRequests}},
	userData:  document{"/latest/user-data", MaxUserData, []string{htmlType, jsonType}},
	instance:  document{"/latest/dynamic/instance-identity/document", maxInstance, []string{htmlType}},
	describe:  describeEC2,
	lifecycle: document{"/latest/meta-data/instance-life-cycle", maxHostname, []string{htmlType, jsonType}},
	hostname:  document{"/latest/meta-data/local-hostname", maxHostname, []string{htmlType, jsonType}},
	role:      document{"/latest/meta-data/iam/security-credentials/", maxHostname, []string{htmlType, jsonType}},
})
