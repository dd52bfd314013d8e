package karpenter_test

import (
	"encoding/base64"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/internal/envelope"
	"github.com/slipway-dev/slipway/userdata"
)

// must is a quantity.
func must(t testing.TB, text string) *resource.Quantity {
	t.Helper()
	q, err := resource.ParseQuantity(text)
	if err != nil {
		t.Fatal(err)
	}
	return &q
}

// userDataOf is the contract in the user data of a machine, as the agent finds it.
func userDataOf(t testing.TB, l karpenter.Launch) string {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(l.UserData.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	contract, err := envelope.Open(data, []string{userdata.NativePath})
	if err != nil {
		t.Fatalf("no contract in the user data: %v", err)
	}
	return string(contract.Data)
}
