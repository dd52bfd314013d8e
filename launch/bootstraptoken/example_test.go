package bootstraptoken_test

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/launch/bootstraptoken"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// store is a cluster's tokens in memory. A program keeps them as Kubernetes' secrets.
type store struct{ all []bootstraptoken.Token }

func (s *store) List(context.Context) ([]bootstraptoken.Token, error) { return s.all, nil }

func (s *store) Create(_ context.Context, wanted bootstraptoken.Token) (bootstraptoken.Token, error) {
	wanted.Value = nodeconfig.NewSecret("abcdef.0123456789abcdef") // a program takes a random value
	s.all = append(s.all, wanted)
	return wanted, nil
}

func (s *store) Delete(context.Context, string) error { return nil }

// Two launches of one pool share a token that lasts long enough for both.
func ExampleKeeper() {
	cluster := new(store)
	keeper := bootstraptoken.Keeper{Store: cluster}
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC) // the API server's time
	for _, claim := range []string{"general-x7k2p", "general-m4q9d"} {
		token, err := keeper.Grant(context.Background(), keeper.Policy.Key("general", claim), now)
		if err != nil {
			fmt.Println(err) // no machine is started
			return
		}
		fmt.Println(token.ID(), token.Expires.Format(time.TimeOnly), len(cluster.all))
	}
	// Output:
	// abcdef 13:00:00 1
	// abcdef 13:00:00 1
}
