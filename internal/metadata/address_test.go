package metadata

import "testing"

func TestReach(t *testing.T) {
	for _, c := range []struct {
		address               string
		azure, ec2, wire, any bool
	}{
		{"169.254.169.254:80", true, true, false, true},
		{"[fe80::1]:80", true, true, false, true},
		{"[fd00:ec2::254]:80", false, true, false, true},
		{"[fd00:ec2::253]:80", false, false, false, true},
		{"168.63.129.16:80", false, false, true, true},
		{"168.63.129.17:80", false, false, false, true},
		{"10.0.0.1:80", false, false, false, true},
		{"127.0.0.1:80", false, false, false, true},
		{"[::ffff:10.0.0.1]:80", false, false, false, true},
		{"nothing", false, false, false, false},
	} {
		for name, r := range map[string]struct {
			reach
			want bool
		}{
			"azure": {clouds["azure"].reach, c.azure}, "ec2": {clouds["ec2"].reach, c.ec2},
			"wire server": {onlyWireServer, c.wire}, "seed": {anywhere, c.any},
		} {
			if err := r.control("tcp", c.address, nil); (err == nil) != r.want {
				t.Errorf("%s: %s: %v", name, c.address, err)
			}
		}
	}
}
