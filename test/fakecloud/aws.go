package fakecloud

import (
	"crypto/rand"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Account is the AWS account of the fake.
const Account = "111122223333"

// keyLife is how long the credentials of an instance's role are valid.
const keyLife = 6 * time.Hour

// roleCredentials are new credentials of the instance's role, as its metadata service returns them (EC2 User Guide, "Retrieve
// security credentials from instance metadata").
func (c *Cloud) roleCredentials(i Instance) map[string]any {
	now := time.Now()
	id := "ASIA" + rand.Text()[:16]
	k := key{secret: rand.Text() + rand.Text(), token: rand.Text(), role: i.Role, session: i.ID, expires: now.Add(keyLife)}
	c.mu.Lock()
	c.keys[id] = k
	c.mu.Unlock()
	return map[string]any{
		"Code": "Success", "Type": "AWS-HMAC", "LastUpdated": now.UTC().Format(time.RFC3339), "Expiration": k.expires.UTC().Format(time.RFC3339),
		"AccessKeyId": id, "SecretAccessKey": k.secret, "Token": k.token,
	}
}

// STS answers as AWS's Security Token Service does to a request for the identity behind a signed request (AWS STS API Reference,
// GetCallerIdentity). It checks the signature itself.
func (c *Cloud) STS() http.Handler {
	return c.service("sts", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const id = "01234567-89ab-cdef-0123-456789abcdef"
		k, err := c.signer(r, inURL(r), "sts", "sts")
		switch {
		case r.Method != http.MethodGet || r.URL.Path != "/" || r.URL.Query().Get("Action") != "GetCallerIdentity":
			stsError(w, http.StatusBadRequest, "InvalidAction", "only GetCallerIdentity is known", id)
		case err != nil:
			code, text, _ := strings.Cut(err.Error(), ": ")
			stsError(w, http.StatusForbidden, code, text, id)
		default:
			writeJSON(w, map[string]any{"GetCallerIdentityResponse": map[string]any{
				"GetCallerIdentityResult": map[string]any{
					"Account": Account, "UserId": "AROA0123456789ABCDEFG:" + k.session,
					"Arn": "arn:aws:sts::" + Account + ":assumed-role/" + k.role + "/" + k.session,
				},
				"ResponseMetadata": map[string]any{"RequestId": id},
			}})
		}
	}))
}

func stsError(w http.ResponseWriter, status int, code, text, id string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"Error": map[string]any{"Code": code, "Message": text, "Type": "Sender"}, "RequestId": id})
}

// EC2 answers DescribeInstances with the only instance (Amazon EC2 API Reference). It accepts every caller.
func (c *Cloud) EC2() http.Handler {
	type instance struct {
		ID   string `xml:"instanceId"`
		Name string `xml:"privateDnsName"`
	}
	type response struct {
		XMLName   xml.Name   `xml:"http://ec2.amazonaws.com/doc/2016-11-15/ DescribeInstancesResponse"`
		Instances []instance `xml:"reservationSet>item>instancesSet>item"`
	}
	return c.service("ec2-api", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if action := r.FormValue("Action"); action != "DescribeInstances" {
			http.Error(w, fmt.Sprintf("<Response><Errors><Error><Code>InvalidAction</Code><Message>%q</Message></Error></Errors></Response>", action), http.StatusBadRequest)
			return
		}
		var answer response
		if i := c.current(); r.FormValue("InstanceId.1") == i.ID {
			answer.Instances = append(answer.Instances, instance{i.ID, i.privateDNSName()})
		}
		w.Header().Set("Content-Type", "text/xml")
		_ = xml.NewEncoder(w).Encode(answer)
	}))
}
