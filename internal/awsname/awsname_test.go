package awsname_test

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/awsname"
)

// The hosts are those of the AWS SDKs (endpoint rules of STS). The API server's authenticator accepts a token for no other host.
func TestSecurityTokenServiceOfEachPartition(t *testing.T) {
	for _, c := range []struct{ region, partition, host, fips string }{
		{"us-east-1", "aws", "sts.us-east-1.amazonaws.com", "sts-fips.us-east-1.amazonaws.com"},
		{"mx-central-1", "aws", "sts.mx-central-1.amazonaws.com", "sts-fips.mx-central-1.amazonaws.com"},
		{"eu-west-1", "aws", "sts.eu-west-1.amazonaws.com", "sts-fips.eu-west-1.amazonaws.com"},
		{"cn-northwest-1", "aws-cn", "sts.cn-northwest-1.amazonaws.com.cn", "sts-fips.cn-northwest-1.amazonaws.com.cn"},
		{"us-gov-west-1", "aws-us-gov", "sts.us-gov-west-1.amazonaws.com", "sts.us-gov-west-1.amazonaws.com"},
		{"us-iso-east-1", "aws-iso", "sts.us-iso-east-1.c2s.ic.gov", "sts-fips.us-iso-east-1.c2s.ic.gov"},
		{"us-isob-east-1", "aws-iso-b", "sts.us-isob-east-1.sc2s.sgov.gov", "sts-fips.us-isob-east-1.sc2s.sgov.gov"},
		{"eu-isoe-west-1", "aws-iso-e", "sts.eu-isoe-west-1.cloud.adc-e.uk", "sts-fips.eu-isoe-west-1.cloud.adc-e.uk"},
		{"us-isof-south-1", "aws-iso-f", "sts.us-isof-south-1.csp.hci.ic.gov", "sts-fips.us-isof-south-1.csp.hci.ic.gov"},
		{"eusc-de-east-1", "aws-eusc", "sts.eusc-de-east-1.amazonaws.eu", "sts-fips.eusc-de-east-1.amazonaws.eu"},
	} {
		partition, host, fips := awsname.PartitionOf(c.region).Name, awsname.STSHost(c.region, false), awsname.STSHost(c.region, true)
		if partition != c.partition || host != c.host || fips != c.fips {
			t.Errorf("%s: %s, %s, %s", c.region, partition, host, fips)
		}
		if !awsname.IsRegion(c.region) {
			t.Errorf("%s is not taken for a region", c.region)
		}
	}
}

func TestNameOfAMachine(t *testing.T) {
	for _, c := range []struct{ hostname, region, want string }{
		{"ip-10-0-0-5.eu-west-1.compute.internal", "eu-west-1", "ip-10-0-0-5.eu-west-1.compute.internal"},
		{"ip-10-0-0-5.ec2.internal", "us-east-1", "ip-10-0-0-5.ec2.internal"},
		{"ip-10-0-0-5.us-east-1.compute.internal", "us-east-1", "ip-10-0-0-5.us-east-1.compute.internal"},
		{"ip-10-0-0-5", "us-east-1", "ip-10-0-0-5.ec2.internal"},
		{"ip-10-0-0-5", "cn-north-1", "ip-10-0-0-5.cn-north-1.compute.internal"},
		{"ip-10-0-0-5.corp.example.com", "eu-west-1", "ip-10-0-0-5.eu-west-1.compute.internal"},
		{"ip-10-0-0-5.ec2.internal.example.com", "us-east-1", "ip-10-0-0-5.ec2.internal"},
		{"i-0123456789abcdef0.eu-west-1.compute.internal", "eu-west-1", "i-0123456789abcdef0.eu-west-1.compute.internal"},
		{"i-0123456789abcdef0", "eu-west-1", "i-0123456789abcdef0.eu-west-1.compute.internal"},
		{"ip-10-0-0-5", "", ""},
		{"", "eu-west-1", ""},
		{"node-7", "eu-west-1", ""},
		{"node-7.eu-west-1.compute.internal", "eu-west-1", ""},
		{"ip-10-0-0", "eu-west-1", ""},
		{"ip-10-0-0-0-5", "eu-west-1", ""},
		{"ip-10-0-0-x", "eu-west-1", ""},
		{"i-xyz", "eu-west-1", ""},
	} {
		if got := awsname.Machine(c.hostname, c.region); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.hostname, c.region, got, c.want)
		}
	}
}
