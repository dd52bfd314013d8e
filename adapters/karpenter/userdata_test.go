package karpenter_test

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-dev/slipway/adapters/karpenter"
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

// encoded is a contract in base64: a JSON object, in lines.
var encoded = regexp.MustCompile(`(?m)^eyJ[A-Za-z0-9+/=\n]+$`)

// userDataOf is the contract in the user data of a machine.
func userDataOf(t testing.TB, l karpenter.Launch) string {
	t.Helper()
	outer, err := base64.StdEncoding.DecodeString(l.UserData.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	contract, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(string(encoded.Find(outer)), "\n", ""))
	if err != nil || len(contract) == 0 {
		t.Fatalf("no contract in the user data: %v", err)
	}
	return string(contract)
}
