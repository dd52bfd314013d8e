package metadata

import (
	"net/http"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
)

// Azure: https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service, "Errors and debugging":
// 410 for 70 seconds at most, while the service is updated, 429 beyond five requests a second. 404 is
// answered for a moment then too, "Managed identities, Error handling"; a machine without user data is
// answered 200, with nothing.
var _ = register(facts.Azure, cloud{
	addresses: []string{overIPv4},
	reach:     onLink,
	header:    map[string]string{"Metadata": "true"},
	policy:    policy{again: []int{http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests}, settle: 10 * time.Second},
	userData:  document{"/metadata/instance/compute/userData?api-version=2021-01-01&format=text", maxEncoded, []string{htmlType, jsonType}},
	encoded:   true,
	instance:  document{"/metadata/instance?api-version=2021-08-01", maxInstance, []string{htmlType}},
	describe:  describeAzure,

	tags:         document{"/metadata/instance/compute/tagsList?api-version=2021-08-01", maxInstance, []string{htmlType}},
	describeTags: describeAzureTags,
	identities:   true,
})
