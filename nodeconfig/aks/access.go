package aks

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// access translates the users who may log in, and the CAs that the machine trusts.
func (t *translation) access() {
	a := &t.out.Access
	a.AdminUser = t.in.LinuxAdminUsername
	a.SSH.Enabled = t.in.EnableSsh
	if off := t.in.DisablePubkeyAuth; off != nil {
		a.SSH.PublicKeyAuthentication = new(!*off)
	}
	a.MessageOfTheDay = t.messageOfTheDay()
	t.realm()
	t.out.Trust.Certificates = t.in.CustomCaCerts
}

// messageOfTheDay is the greeting, which is base64 in the contract.
func (t *translation) messageOfTheDay() string {
	const path = "$.message_of_the_day"
	text, err := base64.StdEncoding.DecodeString(t.in.MessageOfTheDay)
	if err != nil {
		t.Warn(nodeconfig.Invalid, path, "is not base64; left out")
		return ""
	}
	control := func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\r\n\t", r) }
	if !utf8.Valid(text) || strings.ContainsFunc(string(text), control) {
		t.Warn(nodeconfig.Invalid, path, "is the base64 of what is no plain text; left out")
		return ""
	}
	return string(text)
}

// realm translates the directory that the machine joins for its search domain.
func (t *translation) realm() {
	in := deref(t.in.CustomSearchDomainConfig)
	if in.DomainName == "" || in.RealmUser == "" || in.RealmPassword == "" {
		t.without(t.in.CustomSearchDomainConfig, "$.custom_search_domain_config", nil, "domain_name, realm_user and realm_password count together only")
		return
	}
	domain := strings.ToLower(in.DomainName) // domain names ignore case, and a DNS name here has small letters
	t.out.Access.Realm = &nodeconfig.Realm{Domain: domain, User: in.RealmUser, Password: nodeconfig.NewSecret(in.RealmPassword)}
	t.out.Network.SearchDomains = []string{domain}
	t.moved(item("$.network.searchDomains", 0), at("$.custom_search_domain_config.domain_name"))
}
