package fakecloud

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxTokenTTL is the longest life of a token, in seconds.
const maxTokenTTL = 21600

// ec2Metadata is EC2's IMDSv2; version 1, without a token, is refused.
func (c *Cloud) ec2Metadata(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/latest/api/token" {
		c.ec2Token(w, r)
		return
	}
	if !c.validToken(r.Header.Get("X-aws-ec2-metadata-token")) {
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
		return
	}
	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	i := c.current()
	switch {
	case path == "user-data":
		if len(i.UserData) == 0 {
			http.NotFound(w, r)
			return
		}
		// The service has an ETag, and answers 304 to a client that has the content already.
		w.Header().Set("ETag", fmt.Sprintf("\"%x\"", crc32.ChecksumIEEE(i.UserData)))
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(i.UserData))
	case path == "dynamic/instance-identity", path == "dynamic/instance-identity/":
		_, _ = io.WriteString(w, "document")
	case i.Role != "" && strings.TrimSuffix(path, "/") == "meta-data/iam/security-credentials":
		_, _ = io.WriteString(w, i.Role)
	case i.Role != "" && path == "meta-data/iam/security-credentials/"+i.Role:
		writeJSON(w, c.roleCredentials(i))
	case path == "dynamic/instance-identity/document":
		writeJSON(w, map[string]any{
			"accountId": Account, "architecture": "x86_64", "availabilityZone": i.Region + "a", "instanceId": i.ID,
			"instanceType": i.Type, "privateIp": i.Address, "region": i.Region, "version": "2017-09-30",
		})
	default:
		text, found := i.ec2Value(path)
		if !found {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, text)
	}
}

// ec2Token returns a token with the requested life.
func (c *Cloud) ec2Token(w http.ResponseWriter, r *http.Request) {
	ttl, err := strconv.Atoi(r.Header.Get("X-aws-ec2-metadata-token-ttl-seconds"))
	switch {
	case r.Method != http.MethodPut:
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
		return
	case err != nil || ttl < 1 || ttl > maxTokenTTL || r.Header.Get("X-Forwarded-For") != "":
		http.Error(w, "Bad Request", http.StatusBadRequest)
		return
	}
	token := rand.Text()
	c.mu.Lock()
	c.tokens[token] = time.Now().Add(time.Duration(ttl) * time.Second)
	c.mu.Unlock()
	w.Header().Set("X-aws-ec2-metadata-token-ttl-seconds", strconv.Itoa(ttl))
	_, _ = io.WriteString(w, token)
}

func (c *Cloud) validToken(token string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Before(c.tokens[token])
}

// ec2Value returns the value, or the list of names, at a path of the metadata tree.
func (i Instance) ec2Value(path string) (string, bool) {
	values := i.ec2Tree()
	if value, ok := values[strings.TrimSuffix(path, "/")]; ok {
		return value, true
	}
	prefix := strings.TrimSuffix(path, "/") + "/"
	names := map[string]bool{}
	for key := range values {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			name, _, below := strings.Cut(rest, "/")
			if below {
				name += "/"
			}
			names[name] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), "\n"), len(names) > 0
}

// privateDNSName is the instance's name in its network, from its address.
func (i Instance) privateDNSName() string {
	return "ip-" + strings.ReplaceAll(i.Address, ".", "-") + "." + i.Region + ".compute.internal"
}

// ec2Tree is the metadata tree, by path.
func (i Instance) ec2Tree() map[string]string {
	zone, name := i.Region+"a", i.privateDNSName()
	subnet := ""
	if prefix, err := netip.ParsePrefix(fmt.Sprintf("%s/%d", i.Address, i.Prefix)); err == nil {
		subnet = prefix.Masked().String()
	}
	tree := map[string]string{
		"ami-id": "ami-0123456789abcdef0", "instance-id": i.ID, "instance-type": i.Type, "mac": i.MAC,
		"hostname": name, "local-hostname": name, "local-ipv4": i.Address, "reservation-id": "r-0123456789abcdef0",
		"placement/availability-zone": zone, "placement/region": i.Region, "services/domain": "amazonaws.com",
		"services/partition": "aws", "instance-life-cycle": "on-demand", "security-groups": "e2e",
	}
	base := "network/interfaces/macs/" + i.MAC + "/"
	for key, value := range map[string]string{
		"device-number": "0", "mac": i.MAC, "local-ipv4s": i.Address, "local-hostname": name, "interface-id": "eni-0123456789abcdef0",
		"subnet-id": "subnet-0123456789abcdef0", "subnet-ipv4-cidr-block": subnet, "vpc-id": "vpc-0123456789abcdef0",
		"vpc-ipv4-cidr-block": subnet, "vpc-ipv4-cidr-blocks": subnet, "owner-id": Account,
	} {
		tree[base+key] = value
	}
	all := make(map[string]string, len(tree))
	for key, value := range tree {
		all["meta-data/"+key] = value
	}
	return all
}
