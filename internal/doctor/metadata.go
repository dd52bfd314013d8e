package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/internal/poll"
)

// cloudPatience is how long a cloud's server on the machine's host may take.
const cloudPatience = 2 * time.Second

// metadataChecks are those of a cloud's own servers.
var metadataChecks = []Check{{
	Name: "metadata", Asks: "Does the cloud's metadata service answer?", Needs: []string{"route"}, Live: true, Deadline: cloudPatience + time.Second,
	Causes: []Cause{
		{"silent", "the service does not answer", "check that no firewall rule, route or proxy of this machine catches 169.254.169.254 (`ip route get 169.254.169.254`, `iptables -S OUTPUT`)"},
		{"hop-limit", "the service accepts the connection, and the answer to the request for a token does not arrive", "set the instance's HttpPutResponseHopLimit to 2, if this runs behind a bridge or in a container, and look for firewall rules that drop the answer"},
		{"denied", "the service denies access", "EC2: enable the service (HttpEndpoint) of the instance; on others look for a program that answers in its place"},
		{"failing", "the service answers with an error", "repeat after some minutes; if it stays, deallocate the machine, so that it moves to another host, or ask the cloud's support"},
		{"other-answer", "another program answers in its place", "look for a proxy or a firewall rule that redirects 169.254.169.254 (`iptables -t nat -S`)"},
	},
	Look: lookMetadata,
}, {
	Name: "wire-server", Asks: "Does Azure's wire server answer?", Needs: []string{"route"}, Live: true, Deadline: cloudPatience + time.Second,
	Causes: []Cause{
		{"silent", "the server does not answer", "let TCP port 80 and 32526 of 168.63.129.16 through the machine's firewall (`iptables -S OUTPUT`) and the network security group: without it Azure considers the provisioning failed"},
		{"denied", "the server denies access", "look for a program or rule that answers in the place of 168.63.129.16"},
		{"failing", "the server answers with an error", "repeat after some minutes; if it stays, redeploy the machine to another host"},
		{"other-answer", "another program answers in its place", "look for a proxy or a firewall rule that redirects 168.63.129.16 (`iptables -t nat -S`)"},
	},
	Look: lookWireServer,
}}

func lookMetadata(ctx context.Context, p *Patient) *Finding {
	cloud := p.Machine.Platform()
	if !slices.Contains(metadata.Clouds(), cloud) {
		return fine("this machine is in no cloud whose metadata service is known")
	}
	ctx, cancel := context.WithTimeout(ctx, p.Patience(cloudPatience))
	defer cancel()
	err := again(ctx, p, func() error {
		_, err := p.Machine.AskMetadata(ctx, cloud)
		return err
	})
	return judgeCloud("the metadata service", cloud, err)
}

func lookWireServer(ctx context.Context, p *Patient) *Finding {
	if p.Machine.Platform() != facts.Azure {
		return fine("this machine is not in Azure")
	}
	ctx, cancel := context.WithTimeout(ctx, p.Patience(cloudPatience))
	defer cancel()
	err := again(ctx, p, func() error {
		_, err := p.Machine.AskWireServer(ctx)
		return err
	})
	return judgeCloud("the wire server", facts.Azure, err)
}

// again asks a second time after an answer that a service gives when it is updated or has too many requests.
func again(ctx context.Context, p *Patient, ask func() error) error {
	err := ask()
	var failure *metadata.Error
	if errors.As(err, &failure) && slices.Contains([]metadata.Kind{metadata.Status, metadata.NotFound, metadata.Truncated}, failure.Kind) &&
		poll.Sleep(ctx, p.Patience(cloudPatience/4)) {
		return ask()
	}
	return err
}

// cloudCauses are the causes for the kinds of failures.
var cloudCauses = map[metadata.Kind]string{
	metadata.Unreachable: "silent", metadata.Timeout: "silent", metadata.Denied: "denied", metadata.Status: "failing", metadata.NotFound: "failing",
	metadata.Redirect: "other-answer", metadata.WrongType: "other-answer", metadata.TooLarge: "other-answer", metadata.Truncated: "failing",
}

// judgeCloud judges the answer of a cloud's server.
func judgeCloud(what, cloud string, err error) *Finding {
	var failure *metadata.Error
	switch {
	case err == nil:
		return fine("%s answers", what)
	case !errors.As(err, &failure):
		return unknown("%s was not asked: %s", what, err)
	}
	cause := cloudCauses[failure.Kind]
	if cloud == facts.EC2 && failure.Kind == metadata.Timeout && failure.Connected {
		cause = "hop-limit"
	}
	return wrong(cause, "%s does not answer as it should: %s: %s", what, failure.URL, failure.Last).with(failure.URL, fmt.Sprintf("%s (%s)", failure.Last, failure.Took.Round(time.Millisecond)))
}
